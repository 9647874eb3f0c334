// Kernels for CPUs: sorting, places of extrema, cumulative sums.
//
// All take float32, float64, int32, int64 and uint32.  Arrays lie by rows, but for the dimension
// that an operation works along: "lines" are that dimension's elements for fixed other indices.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels.h"

namespace covector {
namespace {

// ---------------------------------------------------------------- the order of sorting

// Unsigned integers in the order of the elements.
template <class T>
struct KeyOf {
  using Key = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static constexpr Key kSign = Key{1} << (8 * sizeof(T) - 1);
  static constexpr Key kNan = ~Key{0};

  static COVECTOR_INLINE Key Bits(T x) {
    Key bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
  }

  // All NaNs have one key, the greatest, and both zeros have that of 0.  No arithmetic: XLA's
  // threads take denormal numbers for 0.
  static COVECTOR_INLINE Key Encode(T x) {
    const Key bits = Bits(x);
    if constexpr (std::is_floating_point_v<T>) {
      const Key flipped = bits & kSign ? ~bits : bits | kSign;
      return IsNan(x) ? kNan : bits == kSign ? kSign : flipped;
    }
    return std::is_signed_v<T> ? bits ^ kSign : bits;
  }

  static COVECTOR_INLINE T Decode(Key key) {
    Key bits = key;
    if constexpr (std::is_floating_point_v<T>) {
      bits = key & kSign ? key ^ kSign : ~key;
    } else if constexpr (std::is_signed_v<T>) {
      bits = key ^ kSign;
    }
    T x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
};

// What is sorted: keys, alone or each with the place that it comes from.
template <class Key>
struct KeyAlone {
  Key key;
  bool operator<(const KeyAlone& other) const { return key < other.key; }
};

template <class Key>
struct KeyAndPlace {
  Key key;
  uint32_t place;
  bool operator<(const KeyAndPlace& other) const {
    return key != other.key ? key < other.key : place < other.place;
  }
};

// Shorter lines are sorted by comparison.
constexpr int64_t kComparison = 128;
// Longer ones take digits of 11 bits instead of 8: fewer passes, but larger tables of counts.
constexpr int64_t kLongDigits = 4096;
// Where elements of one line are split among threads, each gets so many.
constexpr int64_t kSortGrain = 1 << 15;

// The loops over items are functions of their own, of values: in a lambda, the compiler would read
// what is captured anew after each item that is written.

template <int kBits, class Item>
COVECTOR_INLINE uint32_t Digit(const Item& item, int shift) {
  return static_cast<uint32_t>(item.key >> shift) & ((1 << kBits) - 1);
}

template <int kBits, class Item>
void CountDigits(const Item* items, int64_t count, int shift, uint32_t* counts) {
  for (int64_t i = 0; i < count; ++i) ++counts[Digit<kBits>(items[i], shift)];
}

template <int kBits, class Item>
void Move(const Item* items, int64_t count, int shift, uint32_t* places, Item* to) {
  for (int64_t i = 0; i < count; ++i) to[places[Digit<kBits>(items[i], shift)]++] = items[i];
}

// One pass of a stable sort by digits: moves items in the order of `kBits` bits of their keys from
// `shift` on.  False if all have the same, and nothing was moved.
template <int kBits, class Item>
bool MoveByDigit(Threads& threads, int parts, const Item* from, Item* to, int64_t count, int shift,
                 std::vector<uint32_t>& counts) {
  constexpr int kDigits = 1 << kBits;
  threads.Split(parts, count, [&](int part, int64_t begin, int64_t end) {
    uint32_t* own = counts.data() + part * kDigits;
    std::fill(own, own + kDigits, 0);
    CountDigits<kBits>(from + begin, end - begin, shift, own);
  });
  // Where the items of a digit go that are in a part: behind those of smaller digits, and those of
  // the same digit in the parts before.
  uint32_t before = 0;
  for (int d = 0; d < kDigits; ++d) {
    const uint32_t smaller = before;
    for (int part = 0; part < parts; ++part) {
      before += std::exchange(counts[part * kDigits + d], before);
    }
    if (before - smaller == count) return false;
  }
  threads.Split(parts, count, [&](int part, int64_t begin, int64_t end) {
    Move<kBits>(from + begin, end - begin, shift, counts.data() + part * kDigits, to);
  });
  return true;
}

template <int kBits, class Item>
Item* SortByDigits(Threads& threads, int parts, Item* items, Item* spare, int64_t count) {
  std::vector<uint32_t> counts(static_cast<size_t>(parts) << kBits);
  for (int shift = 0; shift < static_cast<int>(8 * sizeof(items->key)); shift += kBits) {
    if (MoveByDigit<kBits>(threads, parts, items, spare, count, shift, counts)) {
      std::swap(items, spare);
    }
  }
  return items;
}

// Sorts items, stably; they are in `items` or in `spare` afterwards, of which it returns the one.
template <class Item>
Item* SortItems(Threads& threads, int parts, Item* items, Item* spare, int64_t count) {
  if (count < kComparison) {
    std::sort(items, items + count);
    return items;
  }
  if (count < kLongDigits) return SortByDigits<8>(threads, parts, items, spare, count);
  return SortByDigits<11>(threads, parts, items, spare, count);
}

// ---------------------------------------------------------------- sort, argsort

template <class T>
COVECTOR_TUNED int64_t Encode(const T* x, KeyAlone<typename KeyOf<T>::Key>* keys, int64_t count) {
  int64_t unusual = 0;  // of which there are several with one key
  for (int64_t i = 0; i < count; ++i) {
    keys[i].key = KeyOf<T>::Encode(x[i]);
    if constexpr (std::is_floating_point_v<T>) {
      unusual += IsNan(x[i]) | (KeyOf<T>::Bits(x[i]) == KeyOf<T>::kSign);
    }
  }
  return unusual;
}

template <class T, class Item>
void EncodeWithPlaces(const T* x, Item* items, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    items[i] = {KeyOf<T>::Encode(x[i]), static_cast<uint32_t>(i)};
  }
}

template <class Item>
void PlacesOf(const Item* items, int32_t* out, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) out[i] = static_cast<int32_t>(items[i].place);
}

template <class T>
COVECTOR_TUNED void Decode(const KeyAlone<typename KeyOf<T>::Key>* keys, T* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] = KeyOf<T>::Decode(keys[i].key);
}

// Of floats, puts back the signs of zeros, and all bits of NaNs, in the order in which the elements
// have them.
template <class T>
void Restore(const T* x, T* sorted, int64_t count) {
  const auto first = [=](typename KeyOf<T>::Key key) {
    return std::lower_bound(sorted, sorted + count, key,
                            [](T element, auto key) { return KeyOf<T>::Encode(element) < key; });
  };
  T *zero = first(KeyOf<T>::kSign), *nan = first(KeyOf<T>::kNan);
  for (int64_t i = 0; i < count; ++i) {
    const auto key = KeyOf<T>::Encode(x[i]);
    if (key == KeyOf<T>::kSign) std::memcpy(zero++, x + i, sizeof(T));
    if (key == KeyOf<T>::kNan) std::memcpy(nan++, x + i, sizeof(T));
  }
}

template <class T>
ffi::Error SortLines(Threads& threads, const T* x, T* out, Lines lines) {
  using Item = KeyAlone<typename KeyOf<T>::Key>;
  const int64_t count = lines.length;
  std::atomic<bool> failed{false};
  ForLines(threads, lines.blocks, count, kSortGrain, [&](int parts, int64_t line) {
    const T* from = x + line * count;
    T* to = out + line * count;
    // The result has room for the keys.
    Item* items = reinterpret_cast<Item*>(to);
    auto spare = Allocate<Item>(count < kComparison ? 0 : count);
    if (!spare) return failed.store(true);
    std::atomic<int64_t> unusual{0};
    threads.Split(parts, count, [&](int, int64_t begin, int64_t end) {
      unusual += Encode(from + begin, items + begin, end - begin);
    });
    const Item* sorted = SortItems(threads, parts, items, spare.get(), count);
    threads.Split(parts, count, [&](int, int64_t begin, int64_t end) {
      Decode(sorted + begin, to + begin, end - begin);
    });
    if (unusual) Restore(from, to, count);
  });
  return failed ? OutOfMemory() : ffi::Error::Success();
}

template <class T>
ffi::Error ArgsortLines(Threads& threads, const T* x, int32_t* out, Lines lines) {
  using Item = KeyAndPlace<typename KeyOf<T>::Key>;
  const int64_t count = lines.length;
  std::atomic<bool> failed{false};
  ForLines(threads, lines.blocks, count, kSortGrain, [&](int parts, int64_t line) {
    const T* from = x + line * count;
    int32_t* to = out + line * count;
    auto items = Allocate<Item>(count), spare = Allocate<Item>(count < kComparison ? 0 : count);
    if (!items || !spare) return failed.store(true);
    threads.Split(parts, count, [&](int, int64_t begin, int64_t end) {
      EncodeWithPlaces(from, items.get(), begin, end);
    });
    const Item* sorted = SortItems(threads, parts, items.get(), spare.get(), count);
    threads.Split(parts, count, [&](int, int64_t begin, int64_t end) {
      PlacesOf(sorted, to, begin, end);
    });
  });
  return failed ? OutOfMemory() : ffi::Error::Success();
}

// ---------------------------------------------------------------- places of extrema

constexpr int64_t kExtremumGrain = 1 << 16;
// So many numbers are compared at a time, and so many looked through again for the place.
constexpr int kLanes = 32, kBlock = 4096;

template <bool kGreatest, class T>
COVECTOR_INLINE bool Beats(T x, T y) {
  return kGreatest ? x > y : x < y;
}

// A truth value that is as wide as the elements, so that as many are handled at a time.
template <class T>
using Flag = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

// What processors make of comparisons: all bits are set, or none.
template <class T>
COVECTOR_INLINE Flag<T> AllBits(bool flag) {
  return flag ? -1 : 0;
}

template <class T>
struct Extremum {
  int64_t place;
  T value;  // NaN if there is one, of which `place` is the first
};

// The extremum of one block, or NaN.
template <bool kGreatest, class T>
COVECTOR_INLINE T ExtremumOfBlock(const T* x, int64_t count) {
  T best = x[0];
  int64_t i = 0;
  bool has_nan = false;
  if (count >= kLanes) {
    T lanes[kLanes];
    Flag<T> nans[kLanes];
    for (int k = 0; k < kLanes; ++k) lanes[k] = x[k], nans[k] = AllBits<T>(IsNan(x[k]));
    for (i = kLanes; i + kLanes <= count; i += kLanes) {
      for (int k = 0; k < kLanes; ++k) {
        lanes[k] = Beats<kGreatest>(x[i + k], lanes[k]) ? x[i + k] : lanes[k];
        nans[k] |= AllBits<T>(IsNan(x[i + k]));
      }
    }
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int k = 0; k < half; ++k) {
        lanes[k] = Beats<kGreatest>(lanes[k + half], lanes[k]) ? lanes[k + half] : lanes[k];
        nans[k] |= nans[k + half];
      }
    }
    best = Beats<kGreatest>(lanes[0], best) ? lanes[0] : best;
    has_nan = nans[0];
  }
  for (; i < count; ++i) {
    best = Beats<kGreatest>(x[i], best) ? x[i] : best;
    has_nan |= IsNan(x[i]);
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (has_nan) return std::numeric_limits<T>::quiet_NaN();
  }
  return best;
}

// Where the first element is that passes a test; there is one.
template <class T, class Test>
COVECTOR_INLINE int64_t FirstThat(const Test& passes, const T* x, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Flag<T> found = 0;
    for (int k = 0; k < kLanes; ++k) found |= AllBits<T>(passes(x[i + k]));
    if (!found) continue;
    // Not a loop until it is found, whose end could not be foreseen.
    Flag<T> place = kLanes;
    for (int k = 0; k < kLanes; ++k) {
      const Flag<T> here = passes(x[i + k]) ? k : kLanes;
      place = here < place ? here : place;
    }
    return i + place;
  }
  while (!passes(x[i])) ++i;
  return i;
}

// Where the first element is that equals one, or that is NaN if that is; there is such an element.
template <class T>
COVECTOR_INLINE int64_t FirstLike(T value, const T* x, int64_t count) {
  if (IsNan(value)) return FirstThat([](T y) { return IsNan(y); }, x, count);
  return FirstThat([value](T y) { return y == value; }, x, count);
}

template <bool kGreatest, class T>
COVECTOR_TUNED Extremum<T> ExtremumOfLine(const T* x, int64_t count) {
  Extremum<T> best{0, x[0]};
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const T found = ExtremumOfBlock<kGreatest>(x + begin, std::min<int64_t>(kBlock, count - begin));
    if (IsNan(found)) {
      best = {begin, found};
      break;
    }
    if (Beats<kGreatest>(found, best.value)) best = {begin, found};
  }
  best.place += FirstLike(best.value, x + best.place, count - best.place);
  return best;
}

// Of lines side by side, those of the columns from `begin` to `end`.
template <bool kGreatest, class T>
COVECTOR_TUNED void ExtremaOfColumns(const T* x, int32_t* out, int64_t length, int64_t stride,
                                     int64_t begin, int64_t end) {
  constexpr int kColumns = 256;
  T best[kColumns];
  int32_t places[kColumns];
  for (; begin < end; begin += kColumns) {
    const int columns = static_cast<int>(std::min<int64_t>(kColumns, end - begin));
    for (int k = 0; k < columns; ++k) best[k] = x[begin + k], places[k] = 0;
    for (int64_t i = 1; i < length; ++i) {
      const T* row = x + i * stride + begin;
      for (int k = 0; k < columns; ++k) {
        const bool wins = Beats<kGreatest>(row[k], best[k]) | (IsNan(row[k]) & !IsNan(best[k]));
        best[k] = wins ? row[k] : best[k];
        places[k] = wins ? static_cast<int32_t>(i) : places[k];
      }
    }
    std::copy(places, places + columns, out + begin);
  }
}

template <bool kGreatest, class T>
void ExtremaOfLines(Threads& threads, const T* x, int32_t* out, Lines lines) {
  ForLines(threads, lines.blocks, lines.length, kExtremumGrain, [&](int parts, int64_t line) {
    const T* from = x + line * lines.length;
    std::vector<Extremum<T>> found(parts);
    threads.Split(parts, lines.length, [&](int part, int64_t begin, int64_t end) {
      found[part] = ExtremumOfLine<kGreatest>(from + begin, end - begin);
      found[part].place += begin;
    });
    Extremum<T> best = found[0];
    for (const Extremum<T>& other : found) {
      if (IsNan(best.value)) break;
      if (IsNan(other.value) || Beats<kGreatest>(other.value, best.value)) best = other;
    }
    out[line] = static_cast<int32_t>(best.place);
  });
}

template <bool kGreatest, class T>
void ExtremaSideBySide(Threads& threads, const T* x, int32_t* out, Lines lines) {
  const int64_t all = lines.blocks * lines.stride;
  threads.Split(threads.Parts(all * lines.length, kExtremumGrain), all,
                [&](int, int64_t begin, int64_t end) {
                  while (begin < end) {
                    const int64_t block = begin / lines.stride, first = begin % lines.stride;
                    const int64_t last = std::min(lines.stride, first + end - begin);
                    ExtremaOfColumns<kGreatest>(x + block * lines.length * lines.stride,
                                                out + block * lines.stride, lines.length,
                                                lines.stride, first, last);
                    begin += last - first;
                  }
                });
}

template <bool kGreatest>
ffi::Error ArgExtremum(ffi::ThreadPool pool, int64_t length, int64_t stride, ffi::AnyBuffer x,
                       ffi::Result<ffi::AnyBuffer> out) {
  Threads threads(pool);
  const Lines lines(x, length, stride);
  return WithElement(x.element_type(), [&](auto element) {
    using T = decltype(element);
    const auto run = stride == 1 ? ExtremaOfLines<kGreatest, T> : ExtremaSideBySide<kGreatest, T>;
    run(threads, Data<T>(x), Data<int32_t>(*out), lines);
    return ffi::Error::Success();
  });
}

// ---------------------------------------------------------------- cumulative sums

constexpr int64_t kSumGrain = 1 << 15;
// So many elements are added up in their own digits before their sum is added to the total, so that
// most additions need not wait for it.
constexpr int kStep = 8;

// In what totals are kept, and what is added up: floats in twice their digits, integers without
// signs, since those wrap around.
template <class T>
struct SumOf {
  using Element = T;
  using Total = T;
};
template <>
struct SumOf<float> {
  using Element = float;
  using Total = double;
};
template <>
struct SumOf<int32_t> {
  using Element = uint32_t;
  using Total = uint32_t;
};
template <>
struct SumOf<int64_t> {
  using Element = uint64_t;
  using Total = uint64_t;
};

// Element number i is x[kDirection * i]: lines that are added up from their ends have direction -1.
template <int kDirection, class T, class Total>
void AddUp(const T* x, T* out, int64_t count, Total total) {
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    T sums[kStep] = {x[kDirection * i]};
    for (int k = 1; k < kStep; ++k) sums[k] = sums[k - 1] + x[kDirection * (i + k)];
    // It costs a result one more rounding, but the total none, that only one number is converted.
    const T before = static_cast<T>(total);
    for (int k = 0; k < kStep; ++k) out[kDirection * (i + k)] = before + sums[k];
    total += sums[kStep - 1];
  }
  for (; i < count; ++i) out[kDirection * i] = static_cast<T>(total += x[kDirection * i]);
}

template <int kDirection, class Total, class T>
COVECTOR_TUNED Total SumOfAll(const T* x, int64_t count) {
  constexpr int kLanes = 16;
  Total lanes[kLanes] = {}, total = 0;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) lanes[k] += x[kDirection * (i + k)];
  }
  for (; i < count; ++i) total += x[kDirection * i];
  for (int k = 0; k < kLanes; ++k) total += lanes[k];
  return total;
}

template <int kDirection, class T>
void CumulativeSums(Threads& threads, const T* x, T* out, Lines lines) {
  using Element = typename SumOf<T>::Element;
  using Total = typename SumOf<T>::Total;
  const int64_t count = lines.length;
  ForLines(threads, lines.blocks, count, kSumGrain, [&](int parts, int64_t line) {
    const int64_t first = line * count + (kDirection < 0 ? count - 1 : 0);
    const Element* from = reinterpret_cast<const Element*>(x) + first;
    Element* to = reinterpret_cast<Element*>(out) + first;
    // What comes before each part; of the last one, nobody needs the sum.
    std::vector<Total> totals(parts);
    threads.Split(parts, count, [&](int part, int64_t begin, int64_t end) {
      if (part + 1 == parts) return;
      totals[part + 1] = SumOfAll<kDirection, Total>(from + kDirection * begin, end - begin);
    });
    for (int part = 1; part < parts; ++part) totals[part] += totals[part - 1];
    threads.Split(parts, count, [&](int part, int64_t begin, int64_t end) {
      const int64_t at = kDirection * begin;
      AddUp<kDirection>(from + at, to + at, end - begin, totals[part]);
    });
  });
}

// ---------------------------------------------------------------- what XLA calls

ffi::Error Sort(ffi::ThreadPool pool, int64_t length, ffi::AnyBuffer x,
                ffi::Result<ffi::AnyBuffer> out) {
  Threads threads(pool);
  return WithElement(x.element_type(), [&](auto element) {
    using T = decltype(element);
    return SortLines(threads, Data<T>(x), Data<T>(*out), Lines(x, length, 1));
  });
}

ffi::Error Argsort(ffi::ThreadPool pool, int64_t length, ffi::AnyBuffer x,
                   ffi::Result<ffi::AnyBuffer> out) {
  Threads threads(pool);
  return WithElement(x.element_type(), [&](auto element) {
    using T = decltype(element);
    return ArgsortLines(threads, Data<T>(x), Data<int32_t>(*out), Lines(x, length, 1));
  });
}

ffi::Error Cumsum(ffi::ThreadPool pool, int64_t length, bool reverse, ffi::AnyBuffer x,
                  ffi::Result<ffi::AnyBuffer> out) {
  Threads threads(pool);
  return WithElement(x.element_type(), [&](auto element) {
    using T = decltype(element);
    const auto run = reverse ? CumulativeSums<-1, T> : CumulativeSums<1, T>;
    run(threads, Data<T>(x), Data<T>(*out), Lines(x, length, 1));
    return ffi::Error::Success();
  });
}

}  // namespace
}  // namespace covector

using namespace covector;

#define COVECTOR_LINES COVECTOR_INTEGER("length") COVECTOR_ARG COVECTOR_RESULT
#define COVECTOR_STRIDED COVECTOR_INTEGER("length") COVECTOR_INTEGER("stride") COVECTOR_ARG \
  COVECTOR_RESULT

COVECTOR_KERNEL(covector_sort, Sort, COVECTOR_LINES);
COVECTOR_KERNEL(covector_argsort, Argsort, COVECTOR_LINES);
COVECTOR_KERNEL(covector_argmax, ArgExtremum<true>, COVECTOR_STRIDED);
COVECTOR_KERNEL(covector_argmin, ArgExtremum<false>, COVECTOR_STRIDED);
COVECTOR_KERNEL(covector_cumsum, Cumsum,
                COVECTOR_INTEGER("length") COVECTOR_BOOL("reverse") COVECTOR_ARG COVECTOR_RESULT);
