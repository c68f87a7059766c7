#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/norm.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include <cmath>

#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/lambda.h"
#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/norm.h"

#ifndef HEED_NORM_KERNELS
#define HEED_NORM_KERNELS(K, T, suffix)                                                                      \
  K(void, layer_norm, T, suffix,                                                                             \
    (const T* x, const T* gamma, const T* beta, double eps, T* y, T* mean, T* rstd, RowShape shape),         \
    (x, gamma, beta, eps, y, mean, rstd, shape))                                                             \
  K(void, add_layer_norm, T, suffix,                                                                         \
    (const T* x, const T* residual, const T* gamma, const T* beta, double eps, T* s, T* y, T* mean, T* rstd, \
     RowShape shape),                                                                                        \
    (x, residual, gamma, beta, eps, s, y, mean, rstd, shape))                                                \
  K(void, layer_norm_backward, T, suffix,                                                                    \
    (const T* x, const T* gamma, const T* dy, const T* mean, const T* rstd, T* dx, T* dgamma, T* dbeta,      \
     RowShape shape),                                                                                        \
    (x, gamma, dy, mean, rstd, dx, dgamma, dbeta, shape))                                                    \
  K(void, rms_norm, T, suffix, (const T* x, const T* gamma, double eps, T* y, T* rstd, RowShape shape),      \
    (x, gamma, eps, y, rstd, shape))                                                                         \
  K(void, add_rms_norm, T, suffix,                                                                           \
    (const T* x, const T* residual, const T* gamma, double eps, T* s, T* y, T* rstd, RowShape shape),        \
    (x, residual, gamma, eps, s, y, rstd, shape))                                                            \
  K(void, rms_norm_backward, T, suffix,                                                                      \
    (const T* x, const T* gamma, const T* dy, const T* rstd, T* dx, T* dgamma, RowShape shape),              \
    (x, gamma, dy, rstd, dx, dgamma, shape))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Rows whose parameter gradients are summed before they join the total.
inline constexpr std::int64_t kRowBlock = 32;

template <class F>
HWY_INLINE void for_each_norm_row(RowShape shape, const F& f) {
  parallel_for(shape.rows, 16384 / (shape.cols + 1), [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t r = begin; r < end; ++r) f(r);
  });
}

// y = (x - mean) * rstd * gamma + beta on one row; the RMS norm has mean 0 and no beta.
template <class T>
HWY_INLINE void scale_row(const T* x, T mean, T rstd, const T* gamma, const T* beta, T* y, std::int64_t cols) {
  const hn::ScalableTag<T> d;
  const auto means = hn::Set(d, mean), factors = hn::Set(d, rstd);
  const auto with = [&](const auto& parameters) HEED_LAMBDA {
    for_each_vector(d, cols, [&](std::int64_t c, std::int64_t n) HEED_LAMBDA {
      const auto normal = hn::Mul(hn::Sub(load_some(d, x + c, n), means), factors);
      store_some(parameters(normal, c, n), d, y + c, n);
    });
  };
  if (gamma && beta) {
    with([&](auto v, std::int64_t c, std::int64_t n)
             HEED_LAMBDA { return hn::MulAdd(v, load_some(d, gamma + c, n), load_some(d, beta + c, n)); });
  } else if (gamma) {
    with([&](auto v, std::int64_t c, std::int64_t n) HEED_LAMBDA { return hn::Mul(v, load_some(d, gamma + c, n)); });
  } else if (beta) {
    with([&](auto v, std::int64_t c, std::int64_t n) HEED_LAMBDA { return hn::Add(v, load_some(d, beta + c, n)); });
  } else {
    with([](auto v, std::int64_t, std::int64_t) HEED_LAMBDA { return v; });
  }
}

template <class T>
HWY_INLINE void layer_norm_row(const T* x, const T* gamma, const T* beta, double eps, T* y, T* mean, T* rstd,
                               std::int64_t cols) {
  const hn::ScalableTag<T> d;
  const double count_all = static_cast<double>(cols);
  const double sum =
      sum_of(d, cols, [&](std::int64_t c, std::int64_t n) HEED_LAMBDA { return load_some(d, x + c, n); });
  const T row_mean = static_cast<T>(sum / count_all);
  const auto means = hn::Set(d, row_mean);
  const double squares = sum_of(d, cols, [&](std::int64_t c, std::int64_t n) HEED_LAMBDA {
    auto centred = hn::Sub(load_some(d, x + c, n), means);
    if (n < lanes(d)) centred = hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(n)), centred);
    return hn::Mul(centred, centred);
  });
  const T row_rstd = static_cast<T>(1.0 / std::sqrt(squares / count_all + eps));
  if (mean) *mean = row_mean;
  if (rstd) *rstd = row_rstd;
  scale_row(x, row_mean, row_rstd, gamma, beta, y, cols);
}

template <class T>
HWY_INLINE void rms_norm_row(const T* x, const T* gamma, double eps, T* y, T* rstd, std::int64_t cols) {
  const hn::ScalableTag<T> d;
  const double squares = sum_of(d, cols, [&](std::int64_t c, std::int64_t n) HEED_LAMBDA {
    const auto v = load_some(d, x + c, n);
    return hn::Mul(v, v);
  });
  const T row_rstd = static_cast<T>(1.0 / std::sqrt(squares / static_cast<double>(cols) + eps));
  if (rstd) *rstd = row_rstd;
  scale_row(x, T{0}, row_rstd, gamma, static_cast<const T*>(nullptr), y, cols);
}

template <class T>
HWY_INLINE void add_row(const T* x, const T* residual, T* s, std::int64_t cols) {
  map(hn::ScalableTag<T>(), x, residual, s, cols, [](auto a, auto b) HEED_LAMBDA { return hn::Add(a, b); });
}

template <class T>
HWY_INLINE T* at_row(T* values, std::int64_t r) {
  return values ? values + r : nullptr;
}

template <class T>
void layer_norm(const T* x, const T* gamma, const T* beta, double eps, T* y, T* mean, T* rstd, RowShape shape) {
  for_each_norm_row(shape, [&](std::int64_t r) HEED_LAMBDA {
    const std::int64_t row = r * shape.cols;
    layer_norm_row(x + row, gamma, beta, eps, y + row, at_row(mean, r), at_row(rstd, r), shape.cols);
  });
}

template <class T>
void add_layer_norm(const T* x, const T* residual, const T* gamma, const T* beta, double eps, T* s, T* y, T* mean,
                    T* rstd, RowShape shape) {
  for_each_norm_row(shape, [&](std::int64_t r) HEED_LAMBDA {
    const std::int64_t row = r * shape.cols;
    add_row(x + row, residual + row, s + row, shape.cols);
    layer_norm_row(s + row, gamma, beta, eps, y + row, at_row(mean, r), at_row(rstd, r), shape.cols);
  });
}

template <class T>
void rms_norm(const T* x, const T* gamma, double eps, T* y, T* rstd, RowShape shape) {
  for_each_norm_row(shape, [&](std::int64_t r) HEED_LAMBDA {
    rms_norm_row(x + r * shape.cols, gamma, eps, y + r * shape.cols, at_row(rstd, r), shape.cols);
  });
}

template <class T>
void add_rms_norm(const T* x, const T* residual, const T* gamma, double eps, T* s, T* y, T* rstd, RowShape shape) {
  for_each_norm_row(shape, [&](std::int64_t r) HEED_LAMBDA {
    const std::int64_t row = r * shape.cols;
    add_row(x + row, residual + row, s + row, shape.cols);
    rms_norm_row(s + row, gamma, eps, y + row, at_row(rstd, r), shape.cols);
  });
}

// One row of either backward pass. dgamma and dbeta are the partial sums of the row's block.
template <bool kCentred, class T>
HWY_INLINE void backward_row(const T* x, const T* gamma, const T* dy, T mean, T rstd, T* dx, T* dgamma, T* dbeta,
                             std::int64_t cols) {
  const hn::ScalableTag<T> d;
  const auto means = hn::Set(d, mean), factors = hn::Set(d, rstd);
  const auto normal = [&](std::int64_t c, std::int64_t n)
                          HEED_LAMBDA { return hn::Mul(hn::Sub(load_some(d, x + c, n), means), factors); };
  const auto scaled = [&](std::int64_t c, std::int64_t n) HEED_LAMBDA {
    const auto g = load_some(d, dy + c, n);
    return gamma ? hn::Mul(g, load_some(d, gamma + c, n)) : g;
  };
  const double sum_h = kCentred ? sum_of(d, cols, scaled) : 0.0;
  // Lanes above n are 0 in scaled(), so they add nothing whatever normal() holds there.
  const double sum_hn = sum_of(d, cols, [&](std::int64_t c, std::int64_t n) HEED_LAMBDA {
    const auto row_n = normal(c, n);
    const auto g = load_some(d, dy + c, n);
    if (dgamma) store_some(hn::MulAdd(g, row_n, load_some(d, dgamma + c, n)), d, dgamma + c, n);
    if (dbeta) store_some(hn::Add(g, load_some(d, dbeta + c, n)), d, dbeta + c, n);
    return hn::Mul(scaled(c, n), row_n);
  });
  const auto mean_h = hn::Set(d, static_cast<T>(sum_h / static_cast<double>(cols)));
  const auto mean_hn = hn::Set(d, static_cast<T>(sum_hn / static_cast<double>(cols)));
  for_each_vector(d, cols, [&](std::int64_t c, std::int64_t n) HEED_LAMBDA {
    const auto centred = kCentred ? hn::Sub(scaled(c, n), mean_h) : scaled(c, n);
    store_some(hn::Mul(factors, hn::NegMulAdd(normal(c, n), mean_hn, centred)), d, dx + c, n);
  });
}

// Each block of kRowBlock rows sums its parameter gradients in its own row of `partial`; then the blocks are added in
// order.
template <bool kCentred, class T>
HWY_INLINE void norm_backward(const T* x, const T* gamma, const T* dy, const T* mean, const T* rstd, T* dx, T* dgamma,
                              T* dbeta, RowShape shape) {
  const std::int64_t columns = shape.cols;
  const std::int64_t blocks = (shape.rows + kRowBlock - 1) / kRowBlock;
  PoolVector<T> gamma_sums(dgamma ? static_cast<std::size_t>(blocks * columns) : 0);
  PoolVector<T> beta_sums(dbeta ? static_cast<std::size_t>(blocks * columns) : 0);
  parallel_for(blocks, 16384 / (kRowBlock * (columns + 1)), [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t block = begin; block < end; ++block) {
      T* block_gamma = dgamma ? gamma_sums.data() + block * columns : nullptr;
      T* block_beta = dbeta ? beta_sums.data() + block * columns : nullptr;
      for (std::int64_t r = block * kRowBlock; r < std::min(shape.rows, (block + 1) * kRowBlock); ++r) {
        const std::int64_t row = r * columns;
        backward_row<kCentred>(x + row, gamma, dy + row, kCentred ? mean[r] : T{0}, rstd[r], dx + row, block_gamma,
                               block_beta, columns);
      }
    }
  });
  for (std::int64_t block = 0; block < blocks; ++block) {
    if (dgamma) add_row(dgamma, gamma_sums.data() + block * columns, dgamma, columns);
    if (dbeta) add_row(dbeta, beta_sums.data() + block * columns, dbeta, columns);
  }
}

template <class T>
void layer_norm_backward(const T* x, const T* gamma, const T* dy, const T* mean, const T* rstd, T* dx, T* dgamma,
                         T* dbeta, RowShape shape) {
  norm_backward<true>(x, gamma, dy, mean, rstd, dx, dgamma, dbeta, shape);
}

template <class T>
void rms_norm_backward(const T* x, const T* gamma, const T* dy, const T* rstd, T* dx, T* dgamma, RowShape shape) {
  norm_backward<false, T>(x, gamma, dy, nullptr, rstd, dx, dgamma, nullptr, shape);
}

HEED_TARGET_FUNCTIONS(HEED_NORM_KERNELS)

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HEED_PUBLIC_FUNCTIONS(HEED_NORM_KERNELS)
}  // namespace heed::kernels
#endif  // HWY_ONCE
