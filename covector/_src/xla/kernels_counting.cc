// Kernels for CPUs: how often numbers occur, how many values lie in each bin of a histogram, where
// values belong among others, and where the true elements of an array are.
//
// Lines are as in kernels_order.cc.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels.h"

namespace covector {
namespace {

// Each thread gets so many elements.
constexpr int64_t kGrain = 1 << 15, kSearchGrain = 1 << 12;

// ---------------------------------------------------------------- tables of counts

// Counts the elements of a line into `counts`, a table of `size` numbers: `body(begin, end, table)`
// adds those of a part to a table.  Each part but the first has a table of its own, where that is
// little beside the counting.  False if there is no memory for them.
bool CountInParts(Threads& threads, int parts, int64_t count, int32_t* counts, int64_t size,
                  FunctionRef<int64_t, int64_t, int32_t*> body) {
  if (size * parts > count) parts = 1;
  auto others = Allocate<int32_t>(size * (parts - 1));
  if (!others) return false;
  threads.Split(parts, count, [&](int part, int64_t begin, int64_t end) {
    int32_t* own = part == 0 ? counts : others.get() + size * (part - 1);
    std::fill(own, own + size, 0);
    body(begin, end, own);
  });
  for (int64_t i = 0; i < size * (parts - 1); ++i) counts[i % size] += others[i];
  return true;
}

// ---------------------------------------------------------------- counting

// Adds to `counts` how often each of the numbers from 0 to size - 1 occurs.
template <class T>
void Count(const T* x, int64_t count, int32_t* counts, int64_t size) {
  for (int64_t i = 0; i < count; ++i) {
    // Negative numbers become numbers that are too large.
    const uint64_t number = static_cast<uint64_t>(x[i]);
    if (number < static_cast<uint64_t>(size)) ++counts[number];
  }
}

template <class T>
ffi::Error CountLines(Threads& threads, const T* x, int32_t* out, Lines lines, int64_t size) {
  std::atomic<bool> failed{false};
  ForLines(threads, lines.blocks, lines.length, kGrain, [&](int parts, int64_t line) {
    const T* from = x + line * lines.length;
    const auto count = [&](int64_t begin, int64_t end, int32_t* table) {
      Count(from + begin, end - begin, table, size);
    };
    if (!CountInParts(threads, parts, lines.length, out + line * size, size, count)) failed = true;
  });
  return failed ? OutOfMemory() : ffi::Error::Success();
}

// ---------------------------------------------------------------- histograms

// Bins of about one width, by their edges in rising order.  The last bin has both edges in it.
template <class T>
struct Bins {
  const T* edges;
  int32_t last;
  T low, high, scale;

  Bins(const T* edges, int64_t count)
      : edges(edges),
        last(static_cast<int32_t>(count) - 1),
        low(edges[0]),
        high(edges[count]),
        scale(static_cast<T>(count) / (high - low)) {}

  // The number of the bin by a search.
  int32_t Search(T x) const {
    const auto after = std::upper_bound(edges, edges + last + 1, x) - edges;
    return std::max<int32_t>(0, static_cast<int32_t>(after) - 1);
  }
};

// What is added to the numbers of bins of elements that lie outside of all.
constexpr int32_t kOutside = std::numeric_limits<int32_t>::min();

// Finds the bins of some elements, from a division and put right at the edges.  False if that is
// not enough: of narrow bins, rounded edges may be bins away from where they should be.
template <class T>
COVECTOR_INLINE bool FindBins(Bins<T> bins, const T* x, int count, int32_t* found) {
  const T last = static_cast<T>(bins.last);
  for (int i = 0; i < count; ++i) {
    const T place = (x[i] - bins.low) * bins.scale;
    // NaN becomes 0.
    found[i] = static_cast<int32_t>(place > 0 ? (place < last ? place : last) : 0);
  }
  int32_t wrong = 0;
  for (int i = 0; i < count; ++i) {
    int32_t bin = found[i];
    bin -= (x[i] < bins.edges[bin]) & (bin > 0);
    bin += (x[i] >= bins.edges[bin + 1]) & (bin < bins.last);
    const bool inside = (x[i] >= bins.low) & (x[i] <= bins.high);
    const bool below = (x[i] < bins.edges[bin + 1]) | (bin == bins.last);
    wrong |= inside & !((x[i] >= bins.edges[bin]) & below);
    found[i] = inside ? bin : bin + kOutside;
  }
  return !wrong;
}

// Adds elements to a table of counts.  There are no branches, which could not be foreseen.
template <class T>
COVECTOR_TUNED void AddToBins(const Bins<T>& bins, const T* x, int64_t count, int32_t* counts) {
  constexpr int kBlock = 512;
  int32_t found[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int some = static_cast<int>(std::min<int64_t>(kBlock, count - begin));
    if (!FindBins(bins, x + begin, some, found)) {
      for (int i = 0; i < some; ++i) {
        if (found[i] >= 0) found[i] = bins.Search(x[begin + i]);
      }
    }
    for (int i = 0; i < some; ++i) counts[found[i] & ~kOutside] += found[i] >= 0;
  }
}

template <class T>
ffi::Error HistogramLines(Threads& threads, const T* x, int64_t length, const T* edges,
                          int32_t* out, int64_t lines, int64_t bins) {
  std::atomic<bool> failed{false};
  ForLines(threads, lines, length, kGrain, [&](int parts, int64_t line) {
    const Bins<T> edged(edges + line * (bins + 1), bins);
    const auto count = [&](int64_t begin, int64_t end, int32_t* table) {
      AddToBins(edged, x + line * length + begin, end - begin, table);
    };
    if (!CountInParts(threads, parts, length, out + line * bins, bins, count)) failed = true;
  });
  return failed ? OutOfMemory() : ffi::Error::Success();
}

// ---------------------------------------------------------------- places of values in order

// Whether x comes before y in the order of sorting, in which NaNs are last and equal.
template <bool kOrEqual, class T>
COVECTOR_INLINE bool Precedes(T x, T y) {
  if constexpr (kOrEqual) return (x <= y) | IsNan(y);
  return (x < y) | (!IsNan(x) & IsNan(y));
}

// For each value how many of `size` elements, which are in order, come before it.  Many values take
// the same steps together, as what is halved is a number of elements.
template <bool kOrEqual, class T>
COVECTOR_TUNED void Search(const T* sorted, int64_t size, const T* values, int64_t count,
                           int32_t* out) {
  constexpr int kMany = 32;
  T some[kMany] = {};
  for (int64_t begin = 0; begin < count; begin += kMany) {
    const int many = static_cast<int>(std::min<int64_t>(kMany, count - begin));
    std::copy(values + begin, values + begin + many, some);
    int32_t before[kMany] = {};
    for (int64_t left = size; left > 0;) {
      const auto half = static_cast<int32_t>((left + 1) / 2);
      for (int k = 0; k < kMany; ++k) {
        // Not a choice, since what is chosen cannot be foreseen.
        before[k] += half * Precedes<kOrEqual>(sorted[before[k] + half - 1], some[k]);
      }
      left -= half;
    }
    std::copy(before, before + many, out + begin);
  }
}

// ---------------------------------------------------------------- places of true elements

COVECTOR_TUNED int64_t CountTrue(const uint8_t* x, int64_t count) {
  int64_t total = 0;
  for (int64_t i = 0; i < count;) {
    uint32_t some = 0;
    for (const int64_t end = std::min(count, i + (1 << 16)); i < end; ++i) some += x[i];
    total += some;
  }
  return total;
}

// Writes the places of the true elements from `i` on, as many as there is room for.
template <class Place>
void PlacesOfTrue(const uint8_t* x, int64_t i, Place* out, Place* const end) {
  // Each place is written, but only after that of a true element does one go on.
  while (out < end) {
    *out = static_cast<Place>(i);
    out += x[i++];
  }
}

template <class Place>
void TruePlacesOfLines(Threads& threads, const uint8_t* x, Place* out, Lines lines, int64_t size) {
  const int64_t length = lines.length;
  ForLines(threads, lines.blocks, length, kGrain, [&](int parts, int64_t line) {
    const uint8_t* from = x + line * length;
    Place* to = out + line * size;
    // How many true elements there are before each part, of those that there is room for.
    std::vector<int64_t> before(parts + 1);
    threads.Split(parts, length, [&](int part, int64_t begin, int64_t end) {
      before[part + 1] = CountTrue(from + begin, end - begin);
    });
    for (int part = 0; part < parts; ++part) {
      before[part + 1] = std::min(size, before[part] + before[part + 1]);
    }
    threads.Split(parts, length, [&](int part, int64_t begin, int64_t) {
      PlacesOfTrue(from, begin, to + before[part], to + before[part + 1]);
    });
    std::fill(to + before[parts], to + size, static_cast<Place>(length));
  });
}

// ---------------------------------------------------------------- what XLA calls

ffi::Error Counts(ffi::ThreadPool pool, int64_t length, int64_t size, ffi::AnyBuffer x,
                  ffi::Result<ffi::AnyBuffer> out) {
  Threads threads(pool);
  return WithElement(x.element_type(), [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_integral_v<T>) {
      const Lines lines(x, length, 1);
      return CountLines(threads, Data<T>(x), Data<int32_t>(*out), lines, size);
    }
    return ffi::Error::InvalidArgument("Covector's kernels count integers only");
  });
}

// Of lines of `length` elements, each with its own edges.
ffi::Error Histogram(ffi::ThreadPool pool, int64_t length, int64_t bins, ffi::AnyBuffer x,
                     ffi::AnyBuffer edges, ffi::Result<ffi::AnyBuffer> out) {
  Threads threads(pool);
  return WithElement(x.element_type(), [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_floating_point_v<T>) {
      return HistogramLines(threads, Data<T>(x), length, Data<T>(edges), Data<int32_t>(*out),
                            Lines(x, length, 1).blocks, bins);
    }
    return ffi::Error::InvalidArgument("Covector's kernels make histograms of floats only");
  });
}

// Where values belong among others, before or, with `right`, behind equal ones.
ffi::Error Searchsorted(ffi::ThreadPool pool, bool right, ffi::AnyBuffer sorted,
                        ffi::AnyBuffer values, ffi::Result<ffi::AnyBuffer> out) {
  Threads threads(pool);
  const auto size = static_cast<int64_t>(sorted.element_count());
  const auto count = static_cast<int64_t>(values.element_count());
  return WithElement(values.element_type(), [&](auto element) {
    using T = decltype(element);
    const auto search = right ? Search<true, T> : Search<false, T>;
    const int parts = 4 * threads.Parts(count, kSearchGrain);
    threads.Split(parts, count, [&](int, int64_t begin, int64_t end) {
      search(Data<T>(sorted), size, Data<T>(values) + begin, end - begin,
             Data<int32_t>(*out) + begin);
    });
    return ffi::Error::Success();
  });
}

// The places of the true elements in lines, at most `size` of each; what is missing is `length`.
ffi::Error TruePlaces(ffi::ThreadPool pool, int64_t length, int64_t size, ffi::AnyBuffer x,
                      ffi::Result<ffi::AnyBuffer> out) {
  Threads threads(pool);
  const Lines lines(x, length, 1);
  const auto run = [&](auto* to) {
    TruePlacesOfLines(threads, Data<uint8_t>(x), to, lines, size);
  };
  out->element_type() == ffi::DataType::S64 ? run(Data<int64_t>(*out)) : run(Data<int32_t>(*out));
  return ffi::Error::Success();
}

}  // namespace
}  // namespace covector

using namespace covector;

COVECTOR_KERNEL(covector_count, Counts,
                COVECTOR_INTEGER("length") COVECTOR_INTEGER("size") COVECTOR_ARG COVECTOR_RESULT);
COVECTOR_KERNEL(covector_histogram, Histogram,
                COVECTOR_INTEGER("length") COVECTOR_INTEGER("bins") COVECTOR_ARG COVECTOR_ARG
                    COVECTOR_RESULT);
COVECTOR_KERNEL(covector_searchsorted, Searchsorted,
                COVECTOR_BOOL("right") COVECTOR_ARG COVECTOR_ARG COVECTOR_RESULT);
COVECTOR_KERNEL(covector_true_places, TruePlaces,
                COVECTOR_INTEGER("length") COVECTOR_INTEGER("size") COVECTOR_ARG COVECTOR_RESULT);
