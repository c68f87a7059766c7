// What attention does to the rows of a tile of scores: masks, the online softmax, weights from a known log-sum, and the
// gradient of the softmax. Included once per target.
#if defined(HEED_KERNELS_ATTENTION_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_SOFTMAX_INL_H_
#undef HEED_KERNELS_ATTENTION_SOFTMAX_INL_H_
#else
#define HEED_KERNELS_ATTENTION_SOFTMAX_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "heed/kernels/gemm_tile-inl.h"
#include "heed/kernels/lambda.h"
#include "heed/kernels/ranges.h"
#include "heed/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
inline constexpr T kLowest = -std::numeric_limits<T>::infinity();

// A row is worked on in strips of four vectors, one to each partial sum, counted from the start of the key block: so
// the order of a sum does not depend on which part of the block is there. What is missing or masked is -inf, whose
// weight is exactly 0.
template <class T>
inline constexpr std::int64_t kStrip = 4 * kLanes<T>;

template <class T, class F>
HWY_INLINE void for_each_strip(std::int64_t columns, const F& f) {
  for (std::int64_t c = 0; c < columns; c += kStrip<T>) f(c);
}

// Sets row[0, seen.begin) and row[seen.end, columns) to -inf.
template <class T>
HWY_INLINE void mask_row(T* row, Range seen, std::int64_t columns) {
  std::fill(row, row + seen.begin, kLowest<T>);
  std::fill(row + seen.end, row + columns, kLowest<T>);
}

// The four partial results of a row.
template <class T>
struct Strip {
  using V = hn::Vec<TileTag<T>>;
  V a, b, c, d;
};

template <class T>
HWY_INLINE Strip<T> load_strip(const T* row) {
  const TileTag<T> d;
  constexpr int L = kLanes<T>;
  return {hn::LoadU(d, row), hn::LoadU(d, row + L), hn::LoadU(d, row + 2 * L), hn::LoadU(d, row + 3 * L)};
}

template <class T>
HWY_INLINE void store_strip(const Strip<T>& s, T* row) {
  const TileTag<T> d;
  constexpr int L = kLanes<T>;
  hn::StoreU(s.a, d, row);
  hn::StoreU(s.b, d, row + L);
  hn::StoreU(s.c, d, row + 2 * L);
  hn::StoreU(s.d, d, row + 3 * L);
}

template <class T, class F>
HWY_INLINE Strip<T> map_strip(const Strip<T>& x, const F& f) {
  return {f(x.a), f(x.b), f(x.c), f(x.d)};
}
template <class T, class F>
HWY_INLINE Strip<T> map_strip(const Strip<T>& x, const Strip<T>& y, const F& f) {
  return {f(x.a, y.a), f(x.b, y.b), f(x.c, y.c), f(x.d, y.d)};
}

template <class T>
HWY_INLINE Strip<T> constant_strip(T value) {
  const auto v = hn::Set(TileTag<T>(), value);
  return {v, v, v, v};
}

template <class T>
HWY_INLINE T sum_of_strip(const Strip<T>& s) {
  return hn::GetLane(hn::SumOfLanes(TileTag<T>(), hn::Add(hn::Add(s.a, s.b), hn::Add(s.c, s.d))));
}

template <class T>
HWY_INLINE T exp_of(T x) {
  const TileTag<T> d;
  return hn::GetLane(exp_or_zero(d, hn::Set(d, x)));
}

// The running state of the rows of a tile.
template <class T>
struct SoftmaxRow {
  T maximum = kLowest<T>;
  T sum = 0;       // of exp(s - maximum)
  T weighted = 0;  // sum of exp(s - maximum) * (s - maximum), for the entropy
};

template <class T>
HWY_INLINE T row_maximum(const T* scores, std::int64_t columns) {
  const TileTag<T> d;
  Strip<T> most = constant_strip(kLowest<T>);
  for_each_strip<T>(columns, [&](std::int64_t c) HEED_LAMBDA {
    most = map_strip(load_strip(scores + c), most, [](auto x, auto m) HEED_LAMBDA { return hn::Max(x, m); });
  });
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(most.a, most.b), hn::Max(most.c, most.d))));
}

// Turns the scores of one key block into weights exp(s - maximum), with the new maximum of the row, and brings the
// state and the row of outputs to that maximum. A block of -inf changes nothing.
template <bool kWeighted, class T>
HWY_INLINE void softmax_row(T* scores, std::int64_t columns, T block_maximum, SoftmaxRow<T>& row, T* outputs,
                            std::int64_t output_columns) {
  const TileTag<T> d;
  if (block_maximum > row.maximum) {
    if (row.maximum != kLowest<T>) {
      const T change = row.maximum - block_maximum;
      const T factor = exp_of(change);
      if constexpr (kWeighted) row.weighted = factor * (row.weighted + change * row.sum);
      row.sum *= factor;
      for (std::int64_t c = 0; c < output_columns; c += kLanes<T>) {
        hn::StoreU(hn::Mul(hn::LoadU(d, outputs + c), hn::Set(d, factor)), d, outputs + c);
      }
    }
    row.maximum = block_maximum;
  }
  const auto shift = hn::Set(d, row.maximum == kLowest<T> ? T{0} : row.maximum);
  Strip<T> sums = constant_strip(T{0}), weighted = sums;
  for_each_strip<T>(columns, [&](std::int64_t c) HEED_LAMBDA {
    const Strip<T> centred = map_strip(load_strip(scores + c), [&](auto s) HEED_LAMBDA { return hn::Sub(s, shift); });
    const Strip<T> p = map_strip(centred, [&](auto x) HEED_LAMBDA { return exp_or_zero(d, x); });
    store_strip(p, scores + c);
    sums = map_strip(sums, p, [](auto s, auto x) HEED_LAMBDA { return hn::Add(s, x); });
    if constexpr (kWeighted) {
      // -inf would make 0 * -inf; below -1000 every weight is 0.
      const auto lowest = hn::Set(d, T{-1000});
      const Strip<T> terms =
          map_strip(centred, p, [&](auto x, auto w) HEED_LAMBDA { return hn::Mul(hn::Max(x, lowest), w); });
      weighted = map_strip(weighted, terms, [](auto s, auto x) HEED_LAMBDA { return hn::Add(s, x); });
    }
  });
  row.sum += sum_of_strip(sums);
  if constexpr (kWeighted) row.weighted += sum_of_strip(weighted);
}

// weights = exp(scores - log_sum); may be in place.
template <class T>
HWY_INLINE void weights_of_row(const T* scores, std::int64_t columns, T log_sum, T* weights) {
  const TileTag<T> d;
  // A row that sees nothing has only -inf, and so weights of 0.
  const auto shift = hn::Set(d, log_sum == kLowest<T> ? T{0} : log_sum);
  for_each_strip<T>(columns, [&](std::int64_t c) HEED_LAMBDA {
    store_strip(
        map_strip(load_strip(scores + c), [&](auto s) HEED_LAMBDA { return exp_or_zero(d, hn::Sub(s, shift)); }),
        weights + c);
  });
}

// d_scores = weights * (d_weights - delta), in place of d_weights.
template <class T>
HWY_INLINE void softmax_gradient_row(const T* weights, T delta, T* d_weights, std::int64_t columns) {
  const auto deltas = hn::Set(TileTag<T>(), delta);
  for_each_strip<T>(columns, [&](std::int64_t c) HEED_LAMBDA {
    store_strip(map_strip(load_strip(weights + c), load_strip(d_weights + c),
                          [&](auto p, auto dp) HEED_LAMBDA { return hn::Mul(p, hn::Sub(dp, deltas)); }),
                d_weights + c);
  });
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
