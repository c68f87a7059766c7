#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/softmax.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include "heed/base/parallel.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/lambda.h"
#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/softmax.h"
#include "heed/kernels/vector_math-inl.h"

#ifndef HEED_SOFTMAX_KERNELS
#define HEED_SOFTMAX_KERNELS(K, T, suffix)                                                                       \
  K(void, softmax, T, suffix, (const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t stride),     \
    (x, y, rows, cols, stride))                                                                                  \
  K(void, log_softmax, T, suffix, (const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t stride), \
    (x, y, rows, cols, stride))                                                                                  \
  K(void, log_sum_exp, T, suffix, (const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t stride), \
    (x, y, rows, cols, stride))                                                                                  \
  K(void, softmax_backward, T, suffix,                                                                           \
    (const T* y, const T* dy, T* dx, std::int64_t rows, std::int64_t cols, std::int64_t stride),                 \
    (y, dy, dx, rows, cols, stride))                                                                             \
  K(void, log_softmax_backward, T, suffix,                                                                       \
    (const T* y, const T* dy, T* dx, std::int64_t rows, std::int64_t cols, std::int64_t stride),                 \
    (y, dy, dx, rows, cols, stride))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();

template <class T, class F>
HWY_INLINE void for_each_row(std::int64_t rows, std::int64_t cols, const F& f) {
  parallel_for(rows, 8192 / (cols + 1), [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t r = begin; r < end; ++r) f(r);
  });
}

// Lanes from p, those at and above `count` -inf.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_or_lowest(D d, const T* p, std::int64_t count) {
  if (count == lanes(d)) return hn::LoadU(d, p);
  return hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(count)), load_n(d, p, count), hn::Set(d, -kInfinity<T>));
}

template <class T>
HWY_INLINE T row_maximum(const T* x, std::int64_t cols) {
  const hn::ScalableTag<T> d;
  const std::int64_t N = lanes(d);
  auto m0 = hn::Set(d, -kInfinity<T>), m1 = m0;
  std::int64_t c = 0;
  for (; c + 2 * N <= cols; c += 2 * N) {
    m0 = hn::Max(m0, hn::LoadU(d, x + c));
    m1 = hn::Max(m1, hn::LoadU(d, x + c + N));
  }
  for (; c < cols; c += N) m0 = hn::Max(m0, load_or_lowest(d, x + c, std::min(N, cols - c)));
  return max_of_lanes(d, hn::Max(m0, m1));
}

// What one row's terms exp(x - shift) are: shift is the maximum, or 0 in a row of -inf only.
template <class T>
struct RowTerms {
  T maximum;
  T shift;
  double sum;
};

// Sums the terms of a row and hands each vector of them to keep(first column, vector, count).
template <class T, class Keep>
HWY_INLINE RowTerms<T> sum_terms(const T* x, std::int64_t cols, const Keep& keep) {
  const hn::ScalableTag<T> d;
  const T maximum = row_maximum(x, cols);
  const T shift = maximum == -kInfinity<T> ? T{0} : maximum;
  const auto shifts = hn::Set(d, shift);
  if (maximum == kInfinity<T>) [[unlikely]] {
    // inf - inf would be NaN: +inf counts 1 and what is finite 0; NaN stays.
    const double sum = sum_of(d, cols, [&](std::int64_t c, std::int64_t count) HEED_LAMBDA {
      const auto v = load_or_lowest(d, x + c, count);
      const auto zero_or_nan = hn::IfThenElseZero(hn::IsNaN(v), v);
      const auto term = hn::IfThenElse(hn::Eq(v, shifts), hn::Set(d, T{1}), zero_or_nan);
      keep(c, term, count);
      return term;
    });
    return {maximum, shift, sum};
  }
  const double sum = sum_of(d, cols, [&](std::int64_t c, std::int64_t count) HEED_LAMBDA {
    const auto term = exp_nonpositive(d, hn::Sub(load_or_lowest(d, x + c, count), shifts));
    keep(c, term, count);
    return term;
  });
  return {maximum, shift, sum};
}

template <class T>
HWY_INLINE RowTerms<T> sum_terms(const T* x, std::int64_t cols) {
  return sum_terms(x, cols, [](std::int64_t, auto, std::int64_t) HEED_LAMBDA {});
}

template <class T>
void softmax(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  const hn::ScalableTag<T> d;
  for_each_row<T>(rows, cols, [&](std::int64_t r) HEED_LAMBDA {
    T* out = y + r * stride;
    const auto terms = sum_terms(x + r * stride, cols, [&](std::int64_t c, auto term, std::int64_t count) HEED_LAMBDA {
      store_some(term, d, out + c, count);
    });
    const auto factor = hn::Set(d, static_cast<T>(terms.sum == 0 ? 0.0 : 1.0 / terms.sum));
    map(d, out, out, cols, [&](auto term) HEED_LAMBDA { return hn::Mul(term, factor); });
  });
}

template <class T>
void log_softmax(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  const hn::ScalableTag<T> d;
  for_each_row<T>(rows, cols, [&](std::int64_t r) HEED_LAMBDA {
    const auto terms = sum_terms(x + r * stride, cols);
    const auto shift = hn::Set(d, terms.shift);
    const auto log_sum = hn::Set(d, static_cast<T>(terms.sum == 0 ? 0.0 : std::log(terms.sum)));
    const auto infinity = hn::Set(d, kInfinity<T>);
    // +inf only meets a shift of +inf: it stands for 0, everything finite below it for -inf.
    map(d, x + r * stride, y + r * stride, cols, [&](auto v) HEED_LAMBDA {
      const auto centred = hn::IfThenZeroElse(hn::Eq(v, infinity), hn::Sub(v, shift));
      return hn::Sub(centred, log_sum);
    });
  });
}

template <class T>
void log_sum_exp(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  for_each_row<T>(rows, cols, [&](std::int64_t r) HEED_LAMBDA {
    const auto terms = sum_terms(x + r * stride, cols);
    y[r] = static_cast<T>(static_cast<double>(terms.maximum) + (terms.sum == 0 ? 0.0 : std::log(terms.sum)));
  });
}

template <class T>
void softmax_backward(const T* y, const T* dy, T* dx, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  const hn::ScalableTag<T> d;
  for_each_row<T>(rows, cols, [&](std::int64_t r) HEED_LAMBDA {
    const T* p = y + r * stride;
    const T* g = dy + r * stride;
    const double inner = sum_of(d, cols, [&](std::int64_t c, std::int64_t count) HEED_LAMBDA {
      return hn::Mul(load_some(d, p + c, count), load_some(d, g + c, count));
    });
    const auto mean = hn::Set(d, static_cast<T>(inner));
    map(d, p, g, dx + r * stride, cols, [&](auto pv, auto gv) HEED_LAMBDA { return hn::Mul(pv, hn::Sub(gv, mean)); });
  });
}

template <class T>
void log_softmax_backward(const T* y, const T* dy, T* dx, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  const hn::ScalableTag<T> d;
  for_each_row<T>(rows, cols, [&](std::int64_t r) HEED_LAMBDA {
    const T* g = dy + r * stride;
    const double total =
        sum_of(d, cols, [&](std::int64_t c, std::int64_t count) HEED_LAMBDA { return load_some(d, g + c, count); });
    const auto sum = hn::Set(d, static_cast<T>(total));
    map(d, y + r * stride, g, dx + r * stride, cols,
        [&](auto yv, auto gv) HEED_LAMBDA { return hn::NegMulAdd(exp_nonpositive(d, yv), sum, gv); });
  });
}

HEED_TARGET_FUNCTIONS(HEED_SOFTMAX_KERNELS)

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HEED_PUBLIC_FUNCTIONS(HEED_SOFTMAX_KERNELS)
}  // namespace heed::kernels
#endif  // HWY_ONCE
