// What the kernels for CPUs share: threads, arrays, memory, and how XLA gets to know them.
//
// XLA's own CPU compiler makes slow loops of some operations.  Programs call functions instead that
// stand in the files kernels_*.cc, through XLA's typed interface for foreign functions; kernels.py
// registers them.  They need nothing but the headers that jaxlib brings, and do not know of Python.

#ifndef COVECTOR_KERNELS_H_
#define COVECTOR_KERNELS_H_

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

#include "xla/ffi/api/ffi.h"

// Functions of tight loops are compiled for several generations of processors, of which the loader
// takes the best.  Only GCC with glibc on x86-64 is known to do this for all functions below.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define COVECTOR_TUNED __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define COVECTOR_TUNED
#endif
#define COVECTOR_INLINE inline __attribute__((always_inline))

namespace covector {

namespace ffi = xla::ffi;

// ---------------------------------------------------------------- threads

// A function that the caller keeps alive.  Like `std::function` it has one type whatever it refers
// to, so that what takes one is compiled once; but making one allocates nothing.
template <class... Args>
class FunctionRef {
 public:
  template <class Function>
  FunctionRef(const Function& function)  // NOLINT: implicit, for lambdas
      : function_(&function), call_([](const void* function, Args... args) {
          (*static_cast<const Function*>(function))(args...);
        }) {}

  void operator()(Args... args) const { call_(function_, args...); }

 private:
  const void* function_;
  void (*call_)(const void*, Args...);
};

// A loop whose iterations any thread may claim.
struct SharedLoop {
  SharedLoop(int count, FunctionRef<int> body) : count(count), body(body) {}

  void Work() {
    for (int i; (i = next.fetch_add(1)) < count;) {
      body(i);
      if (done.fetch_add(1) + 1 == count) {
        std::lock_guard<std::mutex> lock(mutex);
        finished.notify_all();
      }
    }
  }

  void Wait() {
    // The others are about to finish: most often, waking up would take longer.
    for (int spins = 0; spins < 4000 && done.load() < count; ++spins) {
    }
    std::unique_lock<std::mutex> lock(mutex);
    finished.wait(lock, [this] { return done.load() >= count; });
  }

  const int count;
  const FunctionRef<int> body;
  std::atomic<int> next{0}, done{0};
  std::mutex mutex;
  std::condition_variable finished;
};

// The threads that XLA runs programs with.
//
// They may all be busy, perhaps with calls like this one, so nothing here waits for a task to
// begin: the caller claims iterations as well, and at the end waits only for those that another
// thread is in the middle of.  A task that begins later finds nothing left, and touches nothing of
// the caller's.
class Threads {
 public:
  explicit Threads(ffi::ThreadPool pool)
      : pool_(pool), count_(static_cast<int>(std::max<int64_t>(1, pool.num_threads()))) {}

  int count() const { return count_; }

  // Into how many parts to split work, if parts of less than `grain` are not worth a thread.
  int Parts(int64_t work, int64_t grain) const {
    return static_cast<int>(std::clamp<int64_t>(work / grain, 1, count_));
  }

  // Calls `body` with 0, ..., count - 1.
  void For(int count, FunctionRef<int> body) {
    if (count == 1) return body(0);
    auto loop = std::make_shared<SharedLoop>(count, body);
    for (int i = 1; i < std::min(count, count_); ++i) pool_.Schedule([loop] { loop->Work(); });
    loop->Work();
    loop->Wait();
  }

  // Calls `body(part, begin, end)` for consecutive ranges that make up 0, ..., size - 1.
  void Split(int parts, int64_t size, FunctionRef<int, int64_t, int64_t> body) {
    For(parts, [&](int i) { body(i, size * i / parts, size * (i + 1) / parts); });
  }

 private:
  ffi::ThreadPool pool_;
  const int count_;
};

// ---------------------------------------------------------------- arrays

// An array as lines of `length` elements, of which consecutive ones are `stride` apart: there are
// `stride` lines side by side in each of `blocks` blocks.
struct Lines {
  int64_t blocks, length, stride;

  Lines(ffi::AnyBuffer x, int64_t length, int64_t stride)
      : blocks(static_cast<int64_t>(x.element_count()) / std::max<int64_t>(1, length * stride)),
        length(length),
        stride(stride) {}
};

// Calls `body` with a zero of the type of the elements.
template <class Body>
ffi::Error WithElement(ffi::DataType type, const Body& body) {
  switch (type) {
    case ffi::DataType::F32: return body(float{0});
    case ffi::DataType::F64: return body(double{0});
    case ffi::DataType::S32: return body(int32_t{0});
    case ffi::DataType::S64: return body(int64_t{0});
    case ffi::DataType::U32: return body(uint32_t{0});
    default: return ffi::Error::InvalidArgument("Covector's kernels do not know this element type");
  }
}

template <class T>
T* Data(ffi::AnyBuffer x) {
  return static_cast<T*>(x.untyped_data());
}

// Memory for a while; it is null if there is none.
template <class T>
using Scratch = std::unique_ptr<T[]>;

template <class T>
Scratch<T> Allocate(int64_t count) {
  return Scratch<T>(new (std::nothrow) T[std::max<int64_t>(1, count)]);
}

inline ffi::Error OutOfMemory() {
  return ffi::Error(ffi::ErrorCode::kResourceExhausted, "no memory left for a kernel of Covector");
}

template <class T>
COVECTOR_INLINE bool IsNan(T x) {
  return x != x;
}

// Calls `body(parts, line)` for all lines.  Lines that are long and few are split into parts, one
// after another; others are shared out among the threads as they are.
inline void ForLines(Threads& threads, int64_t lines, int64_t length, int64_t grain,
              FunctionRef<int, int64_t> body) {
  const int within = threads.Parts(length, grain);
  if (within > 1 && lines < threads.count()) {
    for (int64_t line = 0; line < lines; ++line) body(within, line);
    return;
  }
  // A few more parts than threads, in case that one of them is held up.
  const int64_t parts = 4 * static_cast<int64_t>(threads.Parts(lines * length, grain));
  threads.Split(static_cast<int>(std::clamp<int64_t>(lines, 1, parts)), lines,
                [&](int, int64_t begin, int64_t end) {
                  for (int64_t line = begin; line < end; ++line) body(1, line);
                });
}

}  // namespace covector

// ---------------------------------------------------------------- what XLA calls

// By their names kernels.py finds the kernels.  The signature names what a kernel takes after the
// threads: attributes, arguments, results.
#define COVECTOR_KERNEL(name, function, signature) \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function,    \
                                xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>() signature)

#define COVECTOR_INTEGER(name) .Attr<int64_t>(name)
#define COVECTOR_BOOL(name) .Attr<bool>(name)
#define COVECTOR_ARG .Arg<xla::ffi::AnyBuffer>()
#define COVECTOR_RESULT .Ret<xla::ffi::AnyBuffer>()

#endif  // COVECTOR_KERNELS_H_
