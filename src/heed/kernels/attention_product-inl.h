// Products of tiles in scratch memory, with the register tile of the matrix product. Included once per target.
#if defined(HEED_KERNELS_ATTENTION_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_PRODUCT_INL_H_
#undef HEED_KERNELS_ATTENTION_PRODUCT_INL_H_
#else
#define HEED_KERNELS_ATTENTION_PRODUCT_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "heed/kernels/gemm_panel-inl.h"
#include "heed/kernels/gemm_tile-inl.h"
#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/ranges.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
inline constexpr std::int64_t kPanel = PackedMatrix<T>::kPanel;

// sum[r, c] (+)= chain over k of a[r, k] * b[k, c]: as in gemm.h, each sum is one chain of fused multiply-adds in
// ascending k, whatever the tiles. b is in panels; rows of sum have room for whole panels.
template <class T>
struct PanelProduct {
  std::int64_t rows, columns, k_count;
  const T* a;
  std::int64_t row_stride, k_stride;  // one of them is 1
  const T* b;
  std::int64_t panel_stride;
  T* sum;
  std::int64_t sum_ld;
  bool continues;
};

// The widest tile for the vectors left. Only a product of a single tile of rows has wide ones.
template <class T>
TileWidth panel_tile_width(const PanelProduct<T>& p, std::int64_t tiles, std::int64_t vectors) {
  if (vectors < kTileVectors<T>) return kNarrow;
  if (tiles > 1 || p.k_stride != 1) return kNormal;
  for (const TileWidth width : {kWidest, kDouble}) {
    if (tile_vectors<T>(static_cast<int>(p.rows), width) <= vectors) return width;
  }
  return kNormal;
}

template <class T>
void multiply_panels(const PanelProduct<T>& p) {
  if (p.rows == 0 || p.columns == 0) return;
  const std::int64_t tiles = ceil_div(p.rows, kTileRows<T>), vectors = ceil_div(p.columns, kLanes<T>);
  TileWork<T> work{};
  work.row_stride = p.row_stride;
  work.k_stride = p.k_stride;
  work.panel_stride = p.panel_stride;
  work.k_count = p.k_count;
  work.sum_ld = p.sum_ld;
  work.ldc = p.sum_ld;
  work.continues = p.continues;
  work.next_b_step = ceil_div(kPanel<T>, tiles);
  // The first `higher` tiles have one row more than the others.
  const std::int64_t least = p.rows / tiles, higher = p.rows % tiles;
  for (std::int64_t v = 0; v < vectors;) {
    const TileWidth width = panel_tile_width(p, tiles, vectors - v);
    const std::int64_t next = v + tile_vectors<T>(static_cast<int>(ceil_div(p.rows, tiles)), width);
    work.a = p.a;
    work.b = p.b + v / kPanelVectors<T> * p.panel_stride + v % kPanelVectors<T> * kLanes<T>;
    work.sum = p.sum + v * kLanes<T>;
    work.next_b = next < vectors ? p.b + next / kPanelVectors<T> * p.panel_stride : work.b;
    for (std::int64_t i = 0; i < tiles; ++i) {
      const std::int64_t rows = least + (i < higher ? 1 : 0);
      work.next_c = work.sum + (i + 1 < tiles ? rows * p.sum_ld : 0);
      const auto row_index = static_cast<std::size_t>(rows - 1);
      (p.k_stride == 1 ? kTiles<false, T>[row_index] : kTiles<true, T>[row_index])[width](work);
      work.a += rows * p.row_stride;
      work.sum += rows * p.sum_ld;
      if ((i + 2) * work.next_b_step <= kPanel<T>) work.next_b += p.k_count * work.next_b_step;
    }
    v = next;
  }
}

// The transpose of from [columns, K] in panels: [column / kPanel][k][column % kPanel], zeros where columns end.
template <class T>
void pack_transposed(const T* from, std::int64_t ld, std::int64_t columns, std::int64_t K, T* to) {
  for (std::int64_t c = 0; c < columns; c += kPanel<T>, to += K * kPanel<T>) {
    transpose_panel(from + c * ld, ld, K, std::min(kPanel<T>, columns - c), to);
  }
}

// from [K, columns] * factor in panels, panel_stride apart, zeros where columns end.
template <class T>
void pack_scaled(const T* from, std::int64_t ld, std::int64_t K, std::int64_t columns, T factor, T* to,
                 std::int64_t panel_stride) {
  const TileTag<T> d;
  const auto factors = hn::Set(d, factor);
  for (std::int64_t c = 0; c < columns; c += kPanel<T>, to += panel_stride) {
    const std::int64_t width = std::min(kPanel<T>, columns - c);
    for (std::int64_t k = 0; k < K; ++k) {
      const T* row = from + k * ld + c;
      for (std::int64_t j = 0; j < kPanel<T>; j += kLanes<T>) {
        const std::int64_t count = std::clamp<std::int64_t>(width - j, 0, kLanes<T>);
        hn::Store(hn::Mul(load_some(d, row + j, count), factors), d, to + k * kPanel<T> + j);
      }
    }
  }
}

// to [rows, columns] with to_ld = from * factor.
template <class T>
void copy_scaled(const T* from, std::int64_t from_ld, std::int64_t rows, std::int64_t columns, T factor, T* to,
                 std::int64_t to_ld) {
  const TileTag<T> d;
  const auto factors = hn::Set(d, factor);
  for (std::int64_t r = 0; r < rows; ++r) {
    map(d, from + r * from_ld, to + r * to_ld, columns, [&](auto x) HEED_LAMBDA { return hn::Mul(x, factors); });
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
