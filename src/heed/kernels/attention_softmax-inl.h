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
HWY_INLINE Strip<T> strip_of_maxima(const T* scores, std::int64_t columns) {
  Strip<T> most = constant_strip(kLowest<T>);
  for_each_strip<T>(columns, [&](std::int64_t c) HEED_LAMBDA {
    most = map_strip(load_strip(scores + c), most, [](auto x, auto m) HEED_LAMBDA { return hn::Max(x, m); });
  });
  return most;
}

template <class T>
HWY_INLINE T row_maximum(const T* scores, std::int64_t columns) {
  const Strip<T> most = strip_of_maxima(scores, columns);
  return hn::GetLane(hn::MaxOfLanes(TileTag<T>(), hn::Max(hn::Max(most.a, most.b), hn::Max(most.c, most.d))));
}

// Exponents are powers of two inside: s goes to 2^(s * log2(e) - shift), one fused multiply-add and a cheaper function
// than exp. Maxima and shifts of rows are kept in that unit.
template <class T>
inline constexpr T kLog2E = static_cast<T>(1.44269504088896340736);
template <class T>
inline constexpr T kLn2 = static_cast<T>(0.693147180559945309417);

template <class D, class V>
HWY_INLINE V exponent_of(D d, V score, V shift) {
  return hn::MulSub(score, hn::Set(d, kLog2E<hn::TFromD<D>>), shift);
}

// The running state of the rows of a tile: arrays of a whole number of vectors.
template <class T>
struct SoftmaxRows {
  T* maximum;   // of s * log2(e)
  T* sum;       // of p = 2^(s * log2(e) - maximum)
  T* weighted;  // sum of p * log2(p), for the entropy
  T* block;     // in: the maximum score of the key block; out: the shift of its scores
  T* factor;    // what the new maximum makes of the row's outputs

  static constexpr std::int64_t kArrays = 5;
  SoftmaxRows(T* memory, std::int64_t rows)
      : maximum(memory), sum(memory + rows), weighted(sum + rows), block(weighted + rows), factor(block + rows) {}

  void clear(std::int64_t rows) {
    std::fill(maximum, maximum + rows, kLowest<T>);
    std::fill(sum, sum + rows, T{0});
    std::fill(weighted, weighted + rows, T{0});
    std::fill(block, block + rows, kLowest<T>);
  }

  // Brings the state to the maximum that includes the block's. A block of -inf changes nothing: its factor is 1, or 0
  // while all sums are 0.
  void advance(std::int64_t rows) {
    const TileTag<T> d;
    for (std::int64_t r = 0; r < rows; r += kLanes<T>) {
      const auto before = hn::Load(d, maximum + r);
      const auto after = hn::Max(before, hn::Mul(hn::Load(d, block + r), hn::Set(d, kLog2E<T>)));
      const auto shift = hn::IfThenZeroElse(hn::Eq(after, hn::Set(d, kLowest<T>)), after);
      const auto change = hn::Sub(before, shift), scale = exp2_or_zero(d, change);
      const auto total = hn::Load(d, sum + r);
      // Where there was nothing before, change is -inf and total 0.
      const auto moved = hn::MulAdd(hn::Max(change, hn::Set(d, T{-1000})), total, hn::Load(d, weighted + r));
      hn::Store(after, d, maximum + r);
      hn::Store(shift, d, block + r);
      hn::Store(scale, d, factor + r);
      hn::Store(hn::Mul(total, scale), d, sum + r);
      hn::Store(hn::Mul(moved, scale), d, weighted + r);
    }
  }
};

template <class T>
HWY_INLINE void scale_row(T* row, std::int64_t columns, T factor) {
  const TileTag<T> d;
  for (std::int64_t c = 0; c < columns; c += kLanes<T>) {
    hn::Store(hn::Mul(hn::Load(d, row + c), hn::Set(d, factor)), d, row + c);
  }
}

template <class T>
HWY_INLINE void multiply_row(const T* factors, T* row, std::int64_t columns) {
  for_each_strip<T>(columns, [&](std::int64_t c) HEED_LAMBDA {
    store_strip(map_strip(load_strip(factors + c), load_strip(row + c),
                          [](auto f, auto x) HEED_LAMBDA { return hn::Mul(f, x); }),
                row + c);
  });
}

// Turns the scores of one key block into weights and adds to the sums of the row.
template <bool kWeighted, class T>
HWY_INLINE void softmax_row(T* scores, std::int64_t columns, T shift, T& sum, T& weighted_sum) {
  const TileTag<T> d;
  const auto shifts = hn::Set(d, shift);
  Strip<T> sums = constant_strip(T{0}), weighted = sums;
  for_each_strip<T>(columns, [&](std::int64_t c) HEED_LAMBDA {
    const Strip<T> exponents =
        map_strip(load_strip(scores + c), [&](auto s) HEED_LAMBDA { return exponent_of(d, s, shifts); });
    const Strip<T> p = map_strip(exponents, [&](auto x) HEED_LAMBDA { return exp2_or_zero(d, x); });
    store_strip(p, scores + c);
    sums = map_strip(sums, p, [](auto s, auto x) HEED_LAMBDA { return hn::Add(s, x); });
    if constexpr (kWeighted) {
      // -inf would make 0 * -inf; below -1000 every weight is 0.
      const auto lowest = hn::Set(d, T{-1000});
      const Strip<T> bounded = map_strip(exponents, [&](auto x) HEED_LAMBDA { return hn::Max(x, lowest); });
      weighted = {hn::MulAdd(bounded.a, p.a, weighted.a), hn::MulAdd(bounded.b, p.b, weighted.b),
                  hn::MulAdd(bounded.c, p.c, weighted.c), hn::MulAdd(bounded.d, p.d, weighted.d)};
    }
  });
  sum += sum_of_strip(sums);
  if constexpr (kWeighted) weighted_sum += sum_of_strip(weighted);
}

// weights = exp(scores - log_sum); may be in place.
template <class T>
HWY_INLINE void weights_of_row(const T* scores, std::int64_t columns, T log_sum, T* weights) {
  const TileTag<T> d;
  // A row that sees nothing has only -inf, and so weights of 0.
  const auto shift = hn::Set(d, log_sum == kLowest<T> ? T{0} : log_sum * kLog2E<T>);
  for_each_strip<T>(columns, [&](std::int64_t c) HEED_LAMBDA {
    store_strip(map_strip(load_strip(scores + c),
                          [&](auto s) HEED_LAMBDA { return exp2_or_zero(d, exponent_of(d, s, shift)); }),
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
