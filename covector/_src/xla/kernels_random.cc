// Kernel for CPUs: random bits, by the cipher Threefry-2x32.
//
// The formula is that of ops/random_bits.py, and so are the bits.  Here it works on four vectors of
// eight words at a time, so that a step need not wait for the one before, and all rounds of these
// happen in registers.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels.h"

namespace covector {
namespace {

constexpr int kWords = 8, kVectors = 4, kBlock = kWords * kVectors;
// Each thread gets so many words.
constexpr int64_t kGrain = 1 << 13;

typedef uint32_t Vector __attribute__((vector_size(4 * kWords)));

constexpr uint32_t kParity = 0x1BD11BDA;
constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};

// Encrypts, in place, first words `x` and second words `y`, four rounds of them.
template <int kOdd>
COVECTOR_INLINE void FourRounds(Vector* x, Vector* y) {
#pragma GCC unroll 4
  for (int round = 0; round < 4; ++round) {
    const int left = kRotations[kOdd][round], right = 32 - left;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      x[v] += y[v];
      y[v] = ((y[v] << left) | (y[v] >> right)) ^ x[v];
    }
  }
}

COVECTOR_INLINE void AddKey(Vector* x, Vector* y, uint32_t to_x, uint32_t to_y) {
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) x[v] += to_x, y[v] += to_y;
}

struct Key {
  uint32_t word[3];

  Key(uint32_t first, uint32_t second) : word{first, second, first ^ second ^ kParity} {}
};

// The encrypted numbers from `first` on, of which all have the same upper half.
COVECTOR_INLINE void Encrypt(Key key, uint64_t first, Vector* x, Vector* y) {
  const uint32_t a = key.word[0], b = key.word[1], c = key.word[2];
  for (int v = 0; v < kVectors; ++v) {
    for (int k = 0; k < kWords; ++k) y[v][k] = v * kWords + k;
    x[v] = Vector{} + static_cast<uint32_t>(first >> 32);
    y[v] += static_cast<uint32_t>(first);
  }
  AddKey(x, y, a, b);
  FourRounds<0>(x, y);
  AddKey(x, y, b, c + 1);
  FourRounds<1>(x, y);
  AddKey(x, y, c, a + 2);
  FourRounds<0>(x, y);
  AddKey(x, y, a, b + 3);
  FourRounds<1>(x, y);
  AddKey(x, y, b, c + 4);
  FourRounds<0>(x, y);
  AddKey(x, y, c, a + 5);
}

COVECTOR_INLINE void Store(const Vector* x, const Vector* y, uint32_t* out) {
  for (int v = 0; v < kVectors; ++v) {
    const Vector folded = x[v] ^ y[v];
    std::memcpy(out + v * kWords, &folded, sizeof folded);
  }
}

COVECTOR_INLINE void Store(const Vector* x, const Vector* y, uint64_t* out) {
  for (int v = 0; v < kVectors; ++v) {
    for (int k = 0; k < kWords; ++k) out[v * kWords + k] = uint64_t{x[v][k]} << 32 | y[v][k];
  }
}

// The bits of the numbers from `begin` to `end`: both words, or what they are folded to.
template <class Word>
COVECTOR_TUNED void BitsOf(Key key, int64_t begin, int64_t end, Word* out) {
  Vector x[kVectors], y[kVectors];
  // Blocks begin at multiples of their size, where no upper half ends in the middle.
  for (int64_t first = begin - begin % kBlock; first < end; first += kBlock) {
    Encrypt(key, first, x, y);
    if (first >= begin && first + kBlock <= end) {
      Store(x, y, out + first);
    } else {
      Word some[kBlock];
      Store(x, y, some);
      const int64_t from = std::max(first, begin), to = std::min(first + kBlock, end);
      std::copy(some + (from - first), some + (to - first), out + from);
    }
  }
}

template <class Word>
void BitsOfLines(Threads& threads, const uint32_t* first, const uint32_t* second, Word* out,
                 int64_t lines, int64_t length) {
  ForLines(threads, lines, length, kGrain, [&](int parts, int64_t line) {
    threads.Split(parts, length, [&](int, int64_t begin, int64_t end) {
      BitsOf(Key(first[line], second[line]), begin, end, out + line * length);
    });
  });
}

// For each key, which are given by their first and their second words, as many words as there are
// per key: of 32 bits, or of 64.
ffi::Error ThreefryBits(ffi::ThreadPool pool, ffi::AnyBuffer first, ffi::AnyBuffer second,
                        ffi::Result<ffi::AnyBuffer> out) {
  Threads threads(pool);
  const auto lines = static_cast<int64_t>(first.element_count());
  const int64_t length = static_cast<int64_t>(out->element_count()) / std::max<int64_t>(1, lines);
  const auto run = [&](auto* to) {
    BitsOfLines(threads, Data<uint32_t>(first), Data<uint32_t>(second), to, lines, length);
  };
  out->element_type() == ffi::DataType::U64 ? run(Data<uint64_t>(*out)) : run(Data<uint32_t>(*out));
  return ffi::Error::Success();
}

}  // namespace
}  // namespace covector

using namespace covector;

COVECTOR_KERNEL(covector_threefry_bits, ThreefryBits, COVECTOR_ARG COVECTOR_ARG COVECTOR_RESULT);
