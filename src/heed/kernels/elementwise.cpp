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
#include "heed/kernels/vector_math-inl.h"

#ifndef HEED_ELEMENTWISE_KERNELS
#define HEED_ELEMENTWISE_KERNELS(K, T, suffix)                                                                       \
  K(void, unary, T, suffix, (Unary op, const T* x, T* y, std::int64_t n), (op, x, y, n))                             \
  K(void, binary, T, suffix, (Binary op, const T* x, const T* y, T* z, std::int64_t n), (op, x, y, z, n))            \
  K(void, binary_row, T, suffix, (Binary op, const T* x, const T* v, T* z, std::int64_t rows, std::int64_t cols),    \
    (op, x, v, z, rows, cols))                                                                                       \
  K(void, binary_column, T, suffix, (Binary op, const T* x, const T* v, T* z, std::int64_t rows, std::int64_t cols), \
    (op, x, v, z, rows, cols))                                                                                       \
  K(void, scale, T, suffix, (const T* x, T factor, T shift, T* y, std::int64_t n), (x, factor, shift, y, n))         \
  K(void, axpy, T, suffix, (T a, const T* x, T* y, std::int64_t n), (a, x, y, n))                                    \
  K(void, fill, T, suffix, (T value, T * y, std::int64_t n), (value, y, n))                                          \
  K(void, clamp, T, suffix, (const T* x, T low, T high, T* y, std::int64_t n), (x, low, high, y, n))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

inline constexpr std::int64_t kElementGrain = 32768;

template <class T, class F>
HWY_INLINE void parallel_map(const T* x, T* y, std::int64_t n, const F& f) {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    map(hn::ScalableTag<T>(), x + begin, y + begin, end - begin, f);
  });
}

template <class T>
void unary(Unary op, const T* x, T* y, std::int64_t n) {
  const hn::ScalableTag<T> d;
  switch (op) {
    case Unary::negate: return parallel_map(x, y, n, [&](auto v) HEED_LAMBDA { return hn::Neg(v); });
    case Unary::sqrt: return parallel_map(x, y, n, [&](auto v) HEED_LAMBDA { return hn::Sqrt(v); });
    case Unary::exp: return parallel_map(x, y, n, [&](auto v) HEED_LAMBDA { return exp(d, v); });
    case Unary::log: return parallel_map(x, y, n, [&](auto v) HEED_LAMBDA { return log(d, v); });
    case Unary::erf: return parallel_map(x, y, n, [&](auto v) HEED_LAMBDA { return erf(d, v); });
  }
}

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
void binary_column(Binary op, const T* x, const T* v, T* z, std::int64_t rows, std::int64_t cols) {
  const hn::ScalableTag<T> d;
  with_binary(op, [&](auto f) HEED_LAMBDA {
    parallel_for(rows, kElementGrain / (cols + 1), [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
      for (std::int64_t r = begin; r < end; ++r) {
        const auto value = hn::Set(d, v[r]);
        map(d, x + r * cols, z + r * cols, cols, [&](auto a) HEED_LAMBDA { return f(a, value); });
      }
    });
  });
}

template <class T>
void scale(const T* x, T factor, T shift, T* y, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const auto factors = hn::Set(d, factor), shifts = hn::Set(d, shift);
  parallel_map(x, y, n, [&](auto v) HEED_LAMBDA { return hn::MulAdd(v, factors, shifts); });
}

template <class T>
void axpy(T a, const T* x, T* y, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const auto factors = hn::Set(d, a);
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    map(d, x + begin, y + begin, y + begin, end - begin,
        [&](auto v, auto sum) HEED_LAMBDA { return hn::MulAdd(factors, v, sum); });
  });
}

template <class T>
void fill(T value, T* y, std::int64_t n) {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) { std::fill(y + begin, y + end, value); });
}

template <class T>
void clamp(const T* x, T low, T high, T* y, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lows = hn::Set(d, low), highs = hn::Set(d, high);
  parallel_map(x, y, n, [&](auto v) HEED_LAMBDA { return at_most(highs, at_least(lows, v)); });
}

HEED_TARGET_FUNCTIONS(HEED_ELEMENTWISE_KERNELS)

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HEED_PUBLIC_FUNCTIONS(HEED_ELEMENTWISE_KERNELS)
}  // namespace heed::kernels
#endif  // HWY_ONCE
