#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/reduce.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/kernels/columns-inl.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/lambda.h"
#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/reduce.h"

#ifndef HEED_REDUCE_KERNELS
#define HEED_REDUCE_KERNELS(K, T, suffix)                                                                    \
  K(double, sum, T, suffix, (const T* x, std::int64_t n), (x, n))                                            \
  K(double, sum_of_squares, T, suffix, (const T* x, std::int64_t n), (x, n))                                 \
  K(double, dot, T, suffix, (const T* x, const T* y, std::int64_t n), (x, y, n))                             \
  K(void, sum_rows, T, suffix, (const T* x, T* y, std::int64_t rows, std::int64_t cols), (x, y, rows, cols)) \
  K(void, sum_columns, T, suffix, (const T* x, T* y, std::int64_t rows, std::int64_t cols), (x, y, rows, cols))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Total of term(i, count) over [0, n): fixed pieces in parallel, then their sums in order.
template <class T, class F>
HWY_INLINE double parallel_sum(std::int64_t n, const F& term) {
  constexpr std::int64_t kPiece = 8 * kSumBlock;
  const hn::ScalableTag<T> d;
  if (n <= kPiece) return sum_of(d, n, term);
  const std::int64_t pieces = (n + kPiece - 1) / kPiece;
  PoolVector<double> sums(static_cast<std::size_t>(pieces));
  parallel_for(pieces, 2, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t p = begin; p < end; ++p) {
      const auto shifted = [&](std::int64_t i, std::int64_t count) HEED_LAMBDA { return term(p * kPiece + i, count); };
      sums[static_cast<std::size_t>(p)] = sum_of(d, std::min(kPiece, n - p * kPiece), shifted);
    }
  });
  double total = 0;
  for (double piece : sums) total += piece;
  return total;
}

template <class T>
double sum(const T* x, std::int64_t n) {
  const hn::ScalableTag<T> d;
  return parallel_sum<T>(n, [&](std::int64_t i, std::int64_t count) HEED_LAMBDA { return load_some(d, x + i, count); });
}

template <class T>
double dot(const T* x, const T* y, std::int64_t n) {
  const hn::ScalableTag<T> d;
  return parallel_sum<T>(n, [&](std::int64_t i, std::int64_t count) HEED_LAMBDA {
    return hn::Mul(load_some(d, x + i, count), load_some(d, y + i, count));
  });
}

template <class T>
double sum_of_squares(const T* x, std::int64_t n) {
  return HWY_NAMESPACE::dot<T>(x, x, n);
}

template <class T>
void sum_rows(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  const hn::ScalableTag<T> d;
  parallel_for(rows, 32768 / (cols + 1), [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t r = begin; r < end; ++r) {
      const T* row = x + r * cols;
      y[r] = static_cast<T>(sum_of(
          d, cols, [&](std::int64_t c, std::int64_t count) HEED_LAMBDA { return load_some(d, row + c, count); }));
    }
  });
}

template <class T>
void sum_columns(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  const std::int64_t units = (cols + kColumnUnit - 1) / kColumnUnit;
  parallel_for(units, 32768 / (kColumnUnit * (rows + 1)), [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    const std::int64_t first = begin * kColumnUnit;
    const std::int64_t width = std::min(cols, end * kColumnUnit) - first;
    PoolVector<T> scratch(static_cast<std::size_t>(sum_tree_levels(rows) * width));
    sum_tree(x + first, rows, cols, y + first, width, scratch.data());
  });
}

HEED_TARGET_FUNCTIONS(HEED_REDUCE_KERNELS)

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HEED_PUBLIC_FUNCTIONS(HEED_REDUCE_KERNELS)
}  // namespace heed::kernels
#endif  // HWY_ONCE
