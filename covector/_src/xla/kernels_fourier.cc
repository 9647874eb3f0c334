// Kernel for CPUs: Fourier transforms of long lines, whose lengths are powers of two.
//
// A line of n = r m elements is transformed as in ops/fourier_long.py: with w = exp(-2 pi i / n),
// j = a m + b and k = r c + d,
//
//     y_(r c + d) = sum over b of (w^r)^(b c)  w^(b d)  sum over a of (w^m)^(a d) x_(a m + b)
//
// r and m are about the square root of n, so that short transforms happen in the cache, and there
// are only two passes over the line: one takes some columns b at a time and one some rows d, which
// the threads share out.  The elements of neighbouring columns, and then of neighbouring rows, lie
// in the lanes of vectors, so that a short transform is one of vectors.  Two vectors of complex
// numbers are read or written side by side, since what follows below them is far away in memory.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels.h"

namespace covector {
namespace {

// ---------------------------------------------------------------- complex numbers

// So many bytes are a vector.
constexpr int kBytes = 32;

template <class T>
struct Vectors {
  static constexpr int kLanes = kBytes / sizeof(T);
  typedef T Real __attribute__((vector_size(kBytes)));

  // A complex number in each lane.
  struct alignas(kBytes) Complex {
    Real re, im;
  };
};

template <class T>
using Complex = typename Vectors<T>::Complex;

template <class T>
struct Root {
  T re, im;
};

template <class C>
COVECTOR_INLINE C Plus(const C& x, const C& y) {
  return {x.re + y.re, x.im + y.im};
}

template <class C>
COVECTOR_INLINE C Minus(const C& x, const C& y) {
  return {x.re - y.re, x.im - y.im};
}

// The product, of which the factor may be one number for all lanes.
template <class C, class Factor>
COVECTOR_INLINE C Times(const C& x, const Factor& y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

// ---------------------------------------------------------------- plans

// exp(-2 pi i k / n)
inline Root<double> RootOfUnity(int64_t k, int64_t n) {
  const double angle = -2 * M_PI * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

// What transforms of one length need: the numbers above, and roots of unity.
template <class T>
struct Plan {
  explicit Plan(int bits)
      : n(int64_t{1} << bits),
        r(int64_t{1} << bits / 2),
        m(n / r),
        short_roots(m),
        coarse(n / kFine),
        lanes(r) {
    for (int64_t k = 0; k < m; ++k) {
      const auto root = RootOfUnity(k, m);
      short_roots[k] = {static_cast<T>(root.re), static_cast<T>(root.im)};
    }
    for (int64_t k = 0; k < n / kFine; ++k) coarse[k] = RootOfUnity(k * kFine, n);
    for (int64_t k = 0; k < kFine; ++k) fine[k] = RootOfUnity(k, n);
    for (int64_t d = 0; d < r; ++d) {
      for (int lane = 0; lane < Vectors<T>::kLanes; ++lane) {
        const auto root = RootOf(lane * d);
        lanes[d].re[lane] = root.re, lanes[d].im[lane] = root.im;
      }
    }
  }

  // w^k, from tables that are shorter than the line.
  Root<T> RootOf(int64_t k) const {
    const auto product = Times(coarse[k / kFine], fine[k % kFine]);
    return {static_cast<T>(product.re), static_cast<T>(product.im)};
  }

  static constexpr int64_t kFine = 512;

  const int64_t n, r, m;
  std::vector<Root<T>> short_roots;  // of m; since r divides m, those of r are among them
  std::vector<Root<double>> coarse;
  Root<double> fine[kFine];
  std::vector<Complex<T>> lanes;  // w^(lane d)
};

constexpr int kFewestBits = 9, kMostBits = 30;

// Plans are made once, and kept.
template <class T>
const Plan<T>& PlanOf(int bits) {
  static std::once_flag once[kMostBits + 1];
  static const Plan<T>* plans[kMostBits + 1];
  std::call_once(once[bits], [bits] { plans[bits] = new Plan<T>(bits); });
  return *plans[bits];
}

// ---------------------------------------------------------------- short transforms

// Four elements a stride apart are transformed; then the rest of the transform is one of elements
// that lie four times as far apart (T. Stockham, AFIPS Spring Joint Computer Conference 28 (1966)).
template <class C, class R>
COVECTOR_INLINE void FourAtATime(const C* x, C* y, int64_t count, int64_t stride, const R* roots,
                                 int64_t step) {
  const int64_t quarter = count / 4;
  for (int64_t p = 0; p < quarter; ++p) {
    const R w1 = roots[p * step], w2 = roots[2 * p * step], w3 = roots[3 * p * step];
    for (int64_t q = 0; q < stride; ++q) {
      const C* from = x + q + stride * p;
      C* to = y + q + stride * 4 * p;
      const C a = from[0], b = from[stride * quarter], c = from[2 * stride * quarter],
              d = from[3 * stride * quarter];
      const C even = Plus(a, c), odd = Minus(a, c), other = Plus(b, d), turned = Minus(b, d);
      // -i times the difference of the others
      const C minus_i = {turned.im, -turned.re};
      to[0] = Plus(even, other);
      to[stride] = Times(Plus(odd, minus_i), w1);
      to[2 * stride] = Times(Minus(even, other), w2);
      to[3 * stride] = Times(Minus(odd, minus_i), w3);
    }
  }
}

template <class C>
COVECTOR_INLINE void Pairs(const C* x, C* y, int64_t stride) {
  for (int64_t q = 0; q < stride; ++q) {
    y[q] = Plus(x[q], x[q + stride]);
    y[q + stride] = Minus(x[q], x[q + stride]);
  }
}

// Transforms `count` vectors, a power of two, which are in `x` or in `spare` afterwards; it returns
// which.  `roots` are those of count * step.
template <class C, class R>
COVECTOR_INLINE C* Transform(C* x, C* spare, int64_t count, const R* roots, int64_t step) {
  int64_t stride = 1;
  for (; count >= 4; count /= 4, stride *= 4, step *= 4) {
    FourAtATime(x, spare, count, stride, roots, step);
    std::swap(x, spare);
  }
  if (count == 2) {
    Pairs(x, spare, stride);
    std::swap(x, spare);
  }
  return x;
}

// ---------------------------------------------------------------- long transforms

// The inverse transform is that with real and imaginary parts exchanged, before and after.
template <bool kInverse, class T>
COVECTOR_INLINE Complex<T> Load(const T* x) {
  Complex<T> out;
  for (int k = 0; k < Vectors<T>::kLanes; ++k) {
    out.re[k] = x[2 * k + kInverse], out.im[k] = x[2 * k + !kInverse];
  }
  return out;
}

template <bool kInverse, class T>
COVECTOR_INLINE void Store(const Complex<T>& x, T* out) {
  T values[2 * Vectors<T>::kLanes];
  for (int k = 0; k < Vectors<T>::kLanes; ++k) {
    values[2 * k + kInverse] = x.re[k], values[2 * k + !kInverse] = x.im[k];
  }
  std::memcpy(out, values, sizeof values);
}

// A square of numbers with rows and columns exchanged.
template <class T>
COVECTOR_INLINE void Transpose(const Complex<T>* x, Complex<T>* out) {
  constexpr int kLanes = Vectors<T>::kLanes;
  for (int i = 0; i < kLanes; ++i) {
    for (int k = 0; k < kLanes; ++k) out[i].re[k] = x[k].re[i], out[i].im[k] = x[k].im[i];
  }
}

// The inner sums for the columns of two vectors from `b` on, and the factors.  `mixed` has them by
// rows in the lanes of vectors: first those of the first rows for all columns.  The memory is for
// three lines of r vectors.
template <bool kInverse, class T>
COVECTOR_TUNED void TransformColumns(const Plan<T>& plan, const T* x, int64_t b, Complex<T>* memory,
                                     Complex<T>* mixed) {
  constexpr int kLanes = Vectors<T>::kLanes;
  const int64_t r = plan.r, m = plan.m;
  for (int64_t a = 0; a < r; ++a) {
    const T* from = x + 2 * (a * m + b);
    memory[a] = Load<kInverse>(from);
    memory[r + a] = Load<kInverse>(from + 2 * kLanes);
  }
  for (int half = 0; half < 2; ++half, b += kLanes) {
    Complex<T>*const work = memory + half * r, *const spare = memory + 2 * r;
    Complex<T>* sums = Transform(work, spare, r, plan.short_roots.data(), m / r);
    for (int64_t d = 0; d < r; ++d) {
      sums[d] = Times(sums[d], Times(plan.lanes[d], plan.RootOf(b * d)));
    }
    for (int64_t d = 0; d < r; d += kLanes) Transpose<T>(sums + d, mixed + d / kLanes * m + b);
  }
}

// The outer sums for the rows of two vectors, of which `d` is the first.  The memory is for two
// lines of m vectors.
template <bool kInverse, class T>
COVECTOR_TUNED void TransformRows(const Plan<T>& plan, Complex<T>* mixed, int64_t d,
                                  Complex<T>* memory, T* y) {
  constexpr int kLanes = Vectors<T>::kLanes;
  const int64_t r = plan.r, m = plan.m;
  const auto* roots = plan.short_roots.data();
  const Complex<T>* first = Transform(mixed, memory, m, roots, 1);
  const Complex<T>* second = Transform(mixed + m, memory + m, m, roots, 1);
  const T scale = kInverse ? 1 / static_cast<T>(plan.n) : 1;
  for (int64_t c = 0; c < m; ++c) {
    T* to = y + 2 * (r * c + d);
    Store<kInverse>(Complex<T>{first[c].re * scale, first[c].im * scale}, to);
    Store<kInverse>(Complex<T>{second[c].re * scale, second[c].im * scale}, to + 2 * kLanes);
  }
}

// Calls `body(block, memory)` for all blocks, with memory for `vectors` vectors.
template <class T>
void ForBlocks(Threads& threads, int64_t blocks, int64_t vectors, std::atomic<bool>& failed,
               FunctionRef<int64_t, Complex<T>*> body) {
  const int parts = static_cast<int>(std::min<int64_t>(blocks, 4 * threads.count()));
  threads.Split(parts, blocks, [&](int, int64_t begin, int64_t end) {
    auto memory = Allocate<Complex<T>>(vectors);
    if (!memory) return failed.store(true);
    for (int64_t block = begin; block < end; ++block) body(block, memory.get());
  });
}

template <bool kInverse, class T>
ffi::Error TransformLines(Threads& threads, const T* x, T* y, int64_t lines, const Plan<T>& plan) {
  constexpr int kLanes = Vectors<T>::kLanes, kBlock = 2 * kLanes;
  const int64_t r = plan.r, m = plan.m;
  auto mixed = Allocate<Complex<T>>(plan.n / kLanes);
  if (!mixed) return OutOfMemory();
  std::atomic<bool> failed{false};
  for (int64_t line = 0; line < lines && !failed; ++line, x += 2 * plan.n, y += 2 * plan.n) {
    ForBlocks<T>(threads, m / kBlock, 3 * r, failed, [&](int64_t i, Complex<T>* memory) {
      TransformColumns<kInverse>(plan, x, i * kBlock, memory, mixed.get());
    });
    if (failed) break;
    ForBlocks<T>(threads, r / kBlock, 2 * m, failed, [&](int64_t i, Complex<T>* memory) {
      TransformRows<kInverse>(plan, mixed.get() + 2 * i * m, i * kBlock, memory, y);
    });
  }
  return failed ? OutOfMemory() : ffi::Error::Success();
}

// ---------------------------------------------------------------- what XLA calls

// Transforms lines of 2^bits complex numbers.  Arrays may also be of real numbers, of which each
// two count as a complex one.
ffi::Error Fourier(ffi::ThreadPool pool, int64_t bits, bool inverse, ffi::AnyBuffer x,
                   ffi::Result<ffi::AnyBuffer> y) {
  Threads threads(pool);
  if (bits < kFewestBits || bits > kMostBits) {
    return ffi::Error::InvalidArgument("Covector's kernel does not transform lines of this length");
  }
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    const Plan<T>& plan = PlanOf<T>(static_cast<int>(bits));
    const auto lines = static_cast<int64_t>(x.size_bytes() / (2 * sizeof(T))) / plan.n;
    const auto transform = inverse ? TransformLines<true, T> : TransformLines<false, T>;
    return transform(threads, Data<T>(x), Data<T>(*y), lines, plan);
  };
  const ffi::DataType type = x.element_type();
  return type == ffi::DataType::F64 || type == ffi::DataType::C128 ? run(double{0}) : run(float{0});
}

}  // namespace
}  // namespace covector

using namespace covector;

COVECTOR_KERNEL(covector_fourier, Fourier,
                COVECTOR_INTEGER("bits") COVECTOR_BOOL("inverse") COVECTOR_ARG COVECTOR_RESULT);
