// Register tiles of few rows over weights as they are stored: halves become floats in registers. The sums are those of
// run_tile, in ascending k. Included once per target.
#if defined(HEED_KERNELS_GEMM_HALF_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_GEMM_HALF_TILE_INL_H_
#undef HEED_KERNELS_GEMM_HALF_TILE_INL_H_
#else
#define HEED_KERNELS_GEMM_HALF_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <utility>

#include "heed/kernels/gemm_tile-inl.h"
#include "heed/kernels/halves-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct HalfTileWork {
  const float* a;  // [r, k] at r * row_stride + k
  std::int64_t row_stride;
  const HalfBits* b;  // [k, j] at k * ld + j, or of a tile by columns at j * ld + k
  std::int64_t ld;
  std::int64_t ahead;  // what lies that much further is fetched
  std::int64_t k_count;
  float* sum;
  std::int64_t sum_ld;
  bool continues;
};

#if HWY_MAX_BYTES >= 32

template <int V, std::size_t... I>
HWY_INLINE void fetch_row(const HalfBits* from, std::index_sequence<I...>) {
  (__builtin_prefetch(from + I * 32, 0, 2), ...);
}

template <class Half, class Vec, std::size_t... I>
HWY_INLINE void load_half_row(Vec* row, const HalfBits* from, std::index_sequence<I...>) {
  ((row[I] = load_floats<Half>(from + I * kLanes<float>)), ...);
}

template <class Half, int R, class Vec, std::size_t... V>
HWY_INLINE void half_step_by_vectors(Vec* sums, const Vec* column, const HalfBits* from, std::index_sequence<V...>) {
  (multiply_add<sizeof...(V)>(sums + V, load_floats<Half>(from + V * kLanes<float>), column,
                              std::make_index_sequence<R>()),
   ...);
}

// Rows of B are runs in memory.
template <class Half, int R, int V>
HWY_NOINLINE void run_row_tile(const HalfTileWork& work) {
  const TileTag<float> d;
  using Vec = hn::Vec<TileTag<float>>;
  constexpr auto all = std::make_index_sequence<R * V>();
  constexpr std::size_t kLines = (V * kLanes<float> * sizeof(HalfBits) + 63) / 64;
  Vec sums[R * V];
  work.continues ? load_sums<V>(d, sums, work.sum, work.sum_ld, all) : zero_sums(d, sums, all);
  const float* a = work.a;
  const HalfBits* b = work.b;
  for (std::int64_t k = work.k_count; k > 0; --k, ++a, b += work.ld) {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // as in tile_step
    fetch_row<V>(b + work.ahead, std::make_index_sequence<kLines>());
    if constexpr (R >= V) {
      Vec row[V];
      load_half_row<Half>(row, b, std::make_index_sequence<V>());
      step_by_rows<false, V>(d, sums, a, work.row_stride, row, std::make_index_sequence<R>());
    } else {
      Vec column[R];
      load_column<false>(d, column, a, work.row_stride, std::make_index_sequence<R>());
      half_step_by_vectors<Half, R>(sums, column, b, std::make_index_sequence<V>());
    }
  }
  store_sums<V>(d, sums, work.sum, work.sum_ld, all);
}

template <class Vec, std::size_t... R>
HWY_INLINE void multiply_add_rows(Vec* sums, const float* a, std::int64_t row_stride, Vec b,
                                  std::index_sequence<R...>) {
  const TileTag<float> d;
  ((sums[R] = hn::MulAdd(hn::Set(d, a[static_cast<std::int64_t>(R) * row_stride]), b, sums[R])), ...);
}

// Columns of B are runs in memory: one vector of columns, k_count a multiple of kHalves.
template <class Half, int R>
HWY_NOINLINE void run_column_tile(const HalfTileWork& work) {
  const TileTag<float> d;
  using Vec = hn::Vec<TileTag<float>>;
  constexpr auto all = std::make_index_sequence<R>();
  Vec sums[R];
  work.continues ? load_sums<1>(d, sums, work.sum, work.sum_ld, all) : zero_sums(d, sums, all);
  const std::int64_t row_stride = work.row_stride;
  for (std::int64_t k = 0; k < work.k_count; k += kHalves) {
    const float* a = work.a + k;
    for_each_transposed<Half>(work.b + k, work.ld, work.ahead, [&](std::int64_t i, Vec floats) HEED_LAMBDA {
      multiply_add_rows(sums, a + i, row_stride, floats, all);
    });
  }
  store_sums<1>(d, sums, work.sum, work.sum_ld, all);
}

using HalfTileFunction = void (*)(const HalfTileWork&);

template <class Half, std::size_t... R>
constexpr std::array<HalfTileFunction, sizeof...(R)> make_column_tiles(std::index_sequence<R...>) {
  return {&run_column_tile<Half, static_cast<int>(R) + 1>...};
}
template <class Half, int R>
constexpr std::array<HalfTileFunction, kWidths> make_row_tiles() {
  return {
      &run_row_tile<Half, R, tile_vectors<float>(R, kNarrow)>, &run_row_tile<Half, R, tile_vectors<float>(R, kNormal)>,
      &run_row_tile<Half, R, tile_vectors<float>(R, kDouble)>, &run_row_tile<Half, R, tile_vectors<float>(R, kWidest)>};
}
template <class Half, std::size_t... R>
constexpr std::array<std::array<HalfTileFunction, kWidths>, sizeof...(R)> make_row_tile_table(
    std::index_sequence<R...>) {
  return {make_row_tiles<Half, static_cast<int>(R) + 1>()...};
}

// [R - 1], and of rows [R - 1][width], for R <= kTileRows.
template <class Half>
inline constexpr auto kColumnTiles = make_column_tiles<Half>(std::make_index_sequence<kTileRows<float>>());
template <class Half>
inline constexpr auto kRowTiles = make_row_tile_table<Half>(std::make_index_sequence<kTileRows<float>>());

#endif  // HWY_MAX_BYTES

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
