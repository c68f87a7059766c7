#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/elementwise.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include "heed/base/parallel.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/lambda.h"
#include "heed/kernels/lanes-inl.h"

#ifndef HEED_ELEMENTWISE_KERNELS
#define HEED_ELEMENTWISE_KERNELS(K, T, suffix)                                                                    \
  K(void, binary, T, suffix, (Binary op, const T* x, const T* y, T* z, std::int64_t n), (op, x, y, z, n))         \
  K(void, binary_row, T, suffix, (Binary op, const T* x, const T* v, T* z, std::int64_t rows, std::int64_t cols), \
    (op, x, v, z, rows, cols))                                                                                    \
  K(void, scale, T, suffix, (const T* x, T factor, T shift, T* y, std::int64_t n), (x, factor, shift, y, n))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

inline constexpr std::int64_t kElementGrain = 32768;

// Calls f with the vector function of op.
template <class F>
HWY_INLINE void with_binary(Binary op, const F& f) {
  switch (op) {
    case Binary::add: return f([](auto a, auto b) HEED_LAMBDA { return hn::Add(a, b); });
    case Binary::sub: return f([](auto a, auto b) HEED_LAMBDA { return hn::Sub(a, b); });
    case Binary::mul: return f([](auto a, auto b) HEED_LAMBDA { return hn::Mul(a, b); });
    case Binary::div: return f([](auto a, auto b) HEED_LAMBDA { return hn::Div(a, b); });
  }
}

template <class T>
void binary(Binary op, const T* x, const T* y, T* z, std::int64_t n) {
  with_binary(op, [&](auto f) HEED_LAMBDA {
    parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
      map(hn::ScalableTag<T>(), x + begin, y + begin, z + begin, end - begin, f);
    });
  });
}

template <class T>
void binary_row(Binary op, const T* x, const T* v, T* z, std::int64_t rows, std::int64_t cols) {
  with_binary(op, [&](auto f) HEED_LAMBDA {
    parallel_for(rows, kElementGrain / (cols + 1), [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
      for (std::int64_t r = begin; r < end; ++r) map(hn::ScalableTag<T>(), x + r * cols, v, z + r * cols, cols, f);
    });
  });
}

template <class T>
void scale(const T* x, T factor, T shift, T* y, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const auto factors = hn::Set(d, factor), shifts = hn::Set(d, shift);
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    map(d, x + begin, y + begin, end - begin, [&](auto v) HEED_LAMBDA { return hn::MulAdd(v, factors, shifts); });
  });
}

HEED_TARGET_FUNCTIONS(HEED_ELEMENTWISE_KERNELS)

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HEED_PUBLIC_FUNCTIONS(HEED_ELEMENTWISE_KERNELS)
}  // namespace heed::kernels
#endif  // HWY_ONCE
