#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/pool.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include <cmath>

#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/kernels/columns-inl.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/lambda.h"
#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/pool.h"

#ifndef HEED_POOL_KERNELS
#define HEED_POOL_KERNELS(K, T, suffix)                                                                          \
  K(void, pool, T, suffix,                                                                                       \
    (PoolKind pooling, const T* x, const std::int64_t* offsets, std::int64_t sequences, std::int64_t cols, T* y, \
     std::int64_t* argmax),                                                                                      \
    (pooling, x, offsets, sequences, cols, y, argmax))                                                           \
  K(void, pool_backward, T, suffix,                                                                              \
    (PoolKind pooling, const T* dy, const std::int64_t* offsets, std::int64_t sequences, std::int64_t cols,      \
     const std::int64_t* argmax, T* dx),                                                                         \
    (pooling, dy, offsets, sequences, cols, argmax, dx))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// One sequence's share of columns: rows first_row .. first_row + length, columns first .. first + width of a matrix.
struct Piece {
  std::int64_t sequence, first_row, length, first, width;
};

// Calls f(piece, scratch) for all sequences and units of columns, scratch being large enough for sum_tree.
template <class T, class F>
HWY_INLINE void for_each_piece(const std::int64_t* offsets, std::int64_t sequences, std::int64_t cols, const F& f) {
  if (sequences <= 0 || cols <= 0) return;
  const std::int64_t units = (cols + kColumnUnit - 1) / kColumnUnit;
  const std::int64_t mean_length = offsets[sequences] / sequences + 1;
  std::int64_t longest = 0;
  for (std::int64_t b = 0; b < sequences; ++b) longest = std::max(longest, offsets[b + 1] - offsets[b]);
  parallel_for(sequences * units, 16384 / (kColumnUnit * mean_length),
               [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
                 PoolVector<T> scratch(static_cast<std::size_t>(sum_tree_levels(longest) * kColumnUnit));
                 for (std::int64_t item = begin; item < end; ++item) {
                   const std::int64_t b = item / units, first = item % units * kColumnUnit;
                   f(Piece{b, offsets[b], offsets[b + 1] - offsets[b], first, std::min(kColumnUnit, cols - first)},
                     scratch.data());
                 }
               });
}

// x, y and argmax at the piece's first column; x at its first row.
template <class T>
HWY_INLINE void max_piece(const Piece& piece, const T* x, std::int64_t cols, T* y, std::int64_t* argmax) {
  if (piece.length == 0) {
    std::fill(y, y + piece.width, T{0});
    std::fill(argmax, argmax + piece.width, std::int64_t{-1});
    return;
  }
  std::copy(x, x + piece.width, y);
  std::fill(argmax, argmax + piece.width, piece.first_row);
  for (std::int64_t r = 1; r < piece.length; ++r) {
    const T* row = x + r * cols;
    for (std::int64_t c = 0; c < piece.width; ++c) {
      const bool better = row[c] > y[c] || (std::isnan(row[c]) && !std::isnan(y[c]));
      y[c] = better ? row[c] : y[c];
      argmax[c] = better ? piece.first_row + r : argmax[c];
    }
  }
}

template <class T>
void pool(PoolKind pooling, const T* x, const std::int64_t* offsets, std::int64_t sequences, std::int64_t cols, T* y,
          std::int64_t* argmax) {
  const hn::ScalableTag<T> d;
  for_each_piece<T>(offsets, sequences, cols, [&](const Piece& piece, T* scratch) HEED_LAMBDA {
    const T* in = x + piece.first_row * cols + piece.first;
    T* out = y + piece.sequence * cols + piece.first;
    if (pooling == PoolKind::max) {
      return max_piece(piece, in, cols, out, argmax + piece.sequence * cols + piece.first);
    }
    sum_tree(in, piece.length, cols, out, piece.width, scratch);
    if (pooling == PoolKind::mean && piece.length > 0) {
      const auto length = hn::Set(d, static_cast<T>(piece.length));
      map(d, out, out, piece.width, [&](auto v) HEED_LAMBDA { return hn::Div(v, length); });
    }
  });
}

template <class T>
void pool_backward(PoolKind pooling, const T* dy, const std::int64_t* offsets, std::int64_t sequences,
                   std::int64_t cols, const std::int64_t* argmax, T* dx) {
  const hn::ScalableTag<T> d;
  for_each_piece<T>(offsets, sequences, cols, [&](const Piece& piece, T* row) HEED_LAMBDA {
    const std::int64_t at = piece.sequence * cols + piece.first;
    if (piece.length == 0) return;
    if (pooling == PoolKind::max) {
      std::fill(row, row + piece.width, T{0});
    } else {
      const auto length = hn::Set(d, static_cast<T>(pooling == PoolKind::mean ? piece.length : 1));
      map(d, dy + at, row, piece.width, [&](auto v) HEED_LAMBDA { return hn::Div(v, length); });
    }
    for (std::int64_t r = 0; r < piece.length; ++r) {
      std::copy(row, row + piece.width, dx + (piece.first_row + r) * cols + piece.first);
    }
    if (pooling == PoolKind::max) {
      for (std::int64_t c = 0; c < piece.width; ++c) dx[argmax[at + c] * cols + piece.first + c] = dy[at + c];
    }
  });
}

HEED_TARGET_FUNCTIONS(HEED_POOL_KERNELS)

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HEED_PUBLIC_FUNCTIONS(HEED_POOL_KERNELS)
}  // namespace heed::kernels
#endif  // HWY_ONCE
