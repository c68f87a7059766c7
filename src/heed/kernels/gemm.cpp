// C is divided into parts (gemm_part-inl.h) and those between the threads.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/gemm.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "heed/base/parallel.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/gemm_part-inl.h"
#include "heed/kernels/ranges.h"
#include "heed/kernels/stored_matrix.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Splits C between the threads, so that the largest share is as small as possible, and each share into parts of whole
// tiles of rows, with which other threads may help.
template <class T>
void multiply(const Product<T>& p) {
  const std::int64_t tiles = ceil_div(p.M, kTileRows<T>), panels = p.panels();
  const std::int64_t work = p.M * panels * PackedMatrix<T>::kPanel * std::max<std::int64_t>(1, p.K);
  constexpr std::int64_t kLeastWork = 1 << 16;  // multiply-adds that are worth another thread
  const std::int64_t threads = std::clamp<std::int64_t>(work / kLeastWork, 1, current_threads());
  std::int64_t row_parts = 1, panel_parts = 1, least = INT64_MAX;
  for (std::int64_t r = 1; r <= std::min(threads, tiles); ++r) {
    const std::int64_t c = std::min(threads / r, panels);
    // Packing a transposed A costs about as much as one panel.
    const std::int64_t cost = ceil_div(tiles, r) * (ceil_div(panels, c) + (p.transposed_a ? 1 : 0));
    if (cost < least) least = cost, row_parts = r, panel_parts = c;
  }
  row_parts *= ceil_div(ceil_div(tiles, row_parts), p.stored ? kStoredMostTiles : kMostTiles<T>);
  const std::int64_t parts = row_parts * panel_parts;
  const std::int64_t grain = ceil_div(kLeastWork * parts, std::max<std::int64_t>(1, work));
  parallel_for(parts, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Range mine = part_of({0, tiles}, row_parts, i / panel_parts);
      const Range rows{mine.begin * kTileRows<T>, std::min(mine.end * kTileRows<T>, p.M)};
      Part<T>(p, rows, part_of({0, panels}, panel_parts, i % panel_parts)).run();
    }
  });
}

void multiply_f32(const Product<float>& p) {
  multiply(p);
}
void multiply_f64(const Product<double>& p) {
  multiply(p);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "heed/base/error.h"

namespace heed::kernels {
HWY_EXPORT(multiply_f32);
HWY_EXPORT(multiply_f64);

template <class T>
void gemm(std::int64_t M, const T* a, std::int64_t lda, bool transposed_a, const PackedMatrix<T>& b, T* c,
          std::int64_t ldc, const Epilogue<T>& epilogue) {
  HEED_CHECK(M >= 0, "[gemm] M is ", M, ", expected at least 0");
  HEED_CHECK(lda >= (transposed_a ? M : b.rows()), "[gemm] lda is ", lda, ", expected at least ",
             transposed_a ? M : b.rows());
  HEED_CHECK(ldc >= b.columns(), "[gemm] ldc is ", ldc, ", expected at least ", b.columns());
  if (M == 0 || b.columns() == 0) return;
  const detail::Product<T> product{.M = M,
                                   .N = b.columns(),
                                   .K = b.rows(),
                                   .a = a,
                                   .lda = lda,
                                   .transposed_a = transposed_a,
                                   .packed = &b,
                                   .stored = nullptr,
                                   .transposed_stored = false,
                                   .c = c,
                                   .ldc = ldc,
                                   .epilogue = &epilogue};
  if constexpr (sizeof(T) == sizeof(float)) {
    HWY_DYNAMIC_DISPATCH(multiply_f32)(product);
  } else {
    HWY_DYNAMIC_DISPATCH(multiply_f64)(product);
  }
}

void gemm(std::int64_t M, const float* a, std::int64_t lda, const StoredMatrix& w, bool transposed, float* c,
          std::int64_t ldc, const Epilogue<float>& epilogue) {
  const std::int64_t K = transposed ? w.columns : w.rows, N = transposed ? w.rows : w.columns;
  std::int64_t rows = 0;
  for (const StoredMatrix::Part& part : w.parts) {
    rows += part.rows;
    HEED_CHECK(part.ld >= (w.by_columns ? part.rows : w.columns), "[gemm] ld of W is ", part.ld, ", expected at least ",
               w.by_columns ? part.rows : w.columns);
  }
  HEED_CHECK(rows == w.rows, "[gemm] the parts of W have ", rows, " rows, expected ", w.rows);
  HEED_CHECK(M >= 0, "[gemm] M is ", M, ", expected at least 0");
  HEED_CHECK(lda >= K, "[gemm] lda is ", lda, ", expected at least ", K);
  HEED_CHECK(ldc >= N, "[gemm] ldc is ", ldc, ", expected at least ", N);
  if (M == 0 || N == 0) return;
  // No part of W has a place for row 0, then.
  if (K == 0) return gemm(M, a, lda, false, PackedMatrix<float>::pack(nullptr, 0, N, N, false), c, ldc, epilogue);
  HWY_DYNAMIC_DISPATCH(multiply_f32)
  ({.M = M,
    .N = N,
    .K = K,
    .a = a,
    .lda = lda,
    .transposed_a = false,
    .packed = nullptr,
    .stored = &w,
    .transposed_stored = transposed,
    .c = c,
    .ldc = ldc,
    .epilogue = &epilogue});
}

template <class T>
void gemm(std::int64_t M, std::int64_t N, std::int64_t K, const T* a, std::int64_t lda, bool transposed_a, const T* b,
          std::int64_t ldb, bool transposed_b, T* c, std::int64_t ldc, const Epilogue<T>& epilogue) {
  if (M == 0 || N == 0) return;
  gemm(M, a, lda, transposed_a, PackedMatrix<T>::pack(b, K, N, ldb, transposed_b), c, ldc, epilogue);
}

template <class T>
void gemm_batched(std::int64_t batch, std::int64_t M, std::int64_t N, std::int64_t K, BatchedOperand<const T> a,
                  BatchedOperand<const T> b, BatchedOperand<T> c, bool accumulate) {
  HEED_CHECK(!c.transposed, "[gemm_batched] c is transposed, expected not");
  if (batch == 0 || M == 0 || N == 0) return;
  Epilogue<T> epilogue;
  epilogue.accumulate = accumulate;
  // A small batch is split over columns too; every part packs its own columns of B.
  const std::int64_t panels = ceil_div(N, PackedMatrix<T>::kPanel);
  const std::int64_t threads = current_threads();
  const std::int64_t parts = batch % threads == 0 ? 1 : std::min(panels, ceil_div(4 * threads, batch));
  const std::int64_t grain = ceil_div(1 << 16, ceil_div(M * N, parts) * std::max<std::int64_t>(1, K));
  parallel_for(batch * parts, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t matrix = i / parts;
      const Range part = part_of({0, panels}, parts, i % parts);
      const std::int64_t n = part.begin * PackedMatrix<T>::kPanel;
      const std::int64_t columns = std::min(part.end * PackedMatrix<T>::kPanel, N) - n;
      gemm(M, columns, K, a.data + matrix * a.stride, a.ld, a.transposed,
           b.data + matrix * b.stride + (b.transposed ? n * b.ld : n), b.ld, b.transposed,
           c.data + matrix * c.stride + n, c.ld, epilogue);
    }
  });
}

#define HEED_INSTANTIATE(T)                                                                                          \
  template void gemm(std::int64_t, const T*, std::int64_t, bool, const PackedMatrix<T>&, T*, std::int64_t,           \
                     const Epilogue<T>&);                                                                            \
  template void gemm(std::int64_t, std::int64_t, std::int64_t, const T*, std::int64_t, bool, const T*, std::int64_t, \
                     bool, T*, std::int64_t, const Epilogue<T>&);                                                    \
  template void gemm_batched(std::int64_t, std::int64_t, std::int64_t, std::int64_t, BatchedOperand<const T>,        \
                             BatchedOperand<const T>, BatchedOperand<T>, bool);
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed::kernels
#endif  // HWY_ONCE
