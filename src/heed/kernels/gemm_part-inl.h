// A part of the matrix product: rows and panels of C that one thread computes, tile by tile. Blocks of K make a block
// of A stay in the level 2 cache while the panels of B pass by. Sums that continue in the next block of K wait in C,
// or, where C must keep its old values until the end, in scratch memory. Included once per target.
#if defined(HEED_KERNELS_GEMM_PART_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_GEMM_PART_INL_H_
#undef HEED_KERNELS_GEMM_PART_INL_H_
#else
#define HEED_KERNELS_GEMM_PART_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "heed/kernels/gemm.h"
#include "heed/kernels/gemm_epilogue-inl.h"
#include "heed/kernels/gemm_half_tile-inl.h"
#include "heed/kernels/gemm_stored-inl.h"
#include "heed/kernels/gemm_tile-inl.h"
#include "heed/kernels/ranges.h"

#ifndef HEED_KERNELS_GEMM_PART_ONCE
#define HEED_KERNELS_GEMM_PART_ONCE
namespace heed::kernels::detail {

// B is packed or stored, one of the two.
template <class T>
struct Product {
  std::int64_t M, N, K;
  const T* a;
  std::int64_t lda;
  bool transposed_a;
  const PackedMatrix<T>* packed;
  const StoredMatrix* stored;
  bool transposed_stored;
  T* c;
  std::int64_t ldc;
  const Epilogue<T>* epilogue;

  std::int64_t panels() const { return (N + PackedMatrix<T>::kPanel - 1) / PackedMatrix<T>::kPanel; }
};

}  // namespace heed::kernels::detail
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using detail::Product;

template <class T>
inline constexpr std::int64_t kBlockK = 4096 / sizeof(T);
// A part has at most so many tiles of rows. Stored panels are made for each part, so that it has more, and blocks of
// fewer k.
template <class T>
inline constexpr std::int64_t kMostTiles = HWY_MAX(1, 96 / kTileRows<T>);
inline constexpr std::int64_t kStoredBlockK = 256;
inline constexpr std::int64_t kStoredMostTiles = HWY_MAX(1, 336 / kTileRows<float>);
inline constexpr std::int64_t kFewRowsBlockK = 64;  // of stored rows, with one tile of rows

template <class T>
class Part {
 public:
  Part(const Product<T>& product, Range rows, Range panels)
      : p_(product),
        rows_(rows),
        panels_(panels),
        columns_(columns_of(panels)),
        tiles_(ceil_div(rows.size(), kTileRows<T>)) {
    const Epilogue<T>& e = *p_.epilogue;
    plain_ = !e.bias && !e.derivative && e.activation == Activation::none && !e.factor && !e.residual && !e.accumulate;
    sums_apart_ = e.accumulate || e.residual == p_.c || e.factor == p_.c;
  }

  void run() {
    block_k_ = p_.stored ? stored_block() : packed_block();
    const std::int64_t k_blocks = std::max<std::int64_t>(1, ceil_div(p_.K, block_k_));
    if (p_.transposed_a) a_scratch_ = PoolArray<T>(rows_.size() * block_k_ + kLanes<T>);
    // Sums that C cannot hold, of one group of panels, or of all if they wait there for the next block of K.
    sums_wait_ = sums_apart_ && k_blocks > 1 && !by_panels();
    if (sums_apart_ || columns_.size() < panels_.size() * kPanel) {
      sums_ = PoolArray<T>(rows_.size() * (sums_wait_ ? panels_.size() * kPanel : kMostVectors<T> * kLanes<T>));
    }
    if (by_panels()) {
      for_each_group([&](const Group& group) {
        // The direct tile takes whole vectors of k.
        const std::int64_t direct = stored_columns(group) ? p_.K / kHalves * kHalves : 0;
        if (direct > 0) run_group(group, {0, direct});
        for_each_block(direct, [&](Range k) { run_group(group, k); });
      });
    } else {
      for_each_block(0, [&](Range k) {
        if (p_.transposed_a && k.size() > 0) pack_a(k);
        for_each_group([&](const Group& group) { run_group(group, k); });
      });
    }
  }

 private:
  static constexpr std::int64_t kPanel = PackedMatrix<T>::kPanel;

  // Panels that a tile spans.
  struct Group {
    Range panels;
    TileWidth width;
    std::int64_t vectors;
  };

  Range columns_of(Range panels) const { return {panels.begin * kPanel, std::min(panels.end * kPanel, p_.N)}; }

  std::int64_t packed_block() const {
    // With one tile of rows nothing of B is used twice, so there is nothing to keep in a cache.
    const std::int64_t blocks = tiles_ == 1 ? 1 : std::max<std::int64_t>(1, ceil_div(p_.K, kBlockK<T>));
    return std::max<std::int64_t>(1, ceil_div(p_.K, blocks));
  }

  // Whole vectors of halves; and the scratch for panels of them.
  std::int64_t stored_block() {
    const std::int64_t k = tiles_ > 1 || by_panels() ? kStoredBlockK : kFewRowsBlockK;
    panel_scratch_ = PoolArray<T>(group_at(panels_.begin).panels.size() * (k + StoredPanels::kSpareRows) * kPanel);
    return k;
  }

  // Whether all k of a panel come before the next panel: the order in which stored weights lie in memory, if they run
  // along k. With many rows, A should stay in the cache.
  bool by_panels() const { return p_.stored && tiles_ == 1 && stored().runs_along_k(); }

  StoredPanels stored() const { return StoredPanels(*p_.stored, p_.transposed_stored); }

  // Where the columns of a group begin in memory, if a tile can work on them as they are stored.
  const HalfBits* stored_columns(const Group& group) const {
    if (!kVectorHalves || !p_.stored || tiles_ > 1 || group.panels.end * kPanel > p_.N) return nullptr;
    return stored().whole(group.panels.begin * kPanel, group.panels.size() * kPanel);
  }

  // The widest tile that fits the panels left. Only a part of a single tile of rows has wide ones.
  TileWidth width_at(std::int64_t panel) const {
    if (columns_.end - panel * kPanel <= kLanes<T>) return kNarrow;
    const std::int64_t vectors = (panels_.end - panel) * kPanelVectors<T>;
    for (const TileWidth width : {kWidest, kDouble}) {
      if (tiles_ == 1 && !p_.transposed_a && tile_vectors<T>(static_cast<int>(rows_.size()), width) <= vectors) {
        return width;
      }
    }
    return kTileVectors<T> <= vectors ? kNormal : kNarrow;
  }

  Group group_at(std::int64_t panel) const {
    if (by_panels()) return {{panel, panel + 1}, kPanelVectors<T> == 1 ? kNarrow : kNormal, kPanelVectors<T>};
    const TileWidth width = width_at(panel);
    const std::int64_t vectors = tile_vectors<T>(static_cast<int>(ceil_div(rows_.size(), tiles_)), width);
    return {{panel, panel + ceil_div(vectors, kPanelVectors<T>)}, width, vectors};
  }

  template <class Body>
  void for_each_group(const Body& body) const {
    for (std::int64_t panel = panels_.begin; panel < panels_.end;) {
      const Group group = group_at(panel);
      body(group);
      panel = group.panels.end;
    }
  }

  // At least one block, which may be empty.
  template <class Body>
  void for_each_block(std::int64_t begin, const Body& body) const {
    if (p_.K == 0) return body({0, 0});
    for (; begin < p_.K; begin += block_k_) body({begin, std::min(p_.K, begin + block_k_)});
  }

  // All tiles of rows for a group of panels.
  void run_group(const Group& group, Range k) {
    const bool last = k.end == p_.K;
    const Range panels = group.panels, columns = columns_of(panels);
    const bool partial = columns.size() < panels.size() * kPanel;
    T* c = p_.c + rows_.begin * p_.ldc + columns.begin;
    T* sum = c;
    std::int64_t sum_ld = p_.ldc;
    if (sums_apart_ || partial) {
      sum_ld = sums_wait_ ? panels_.size() * kPanel : group.vectors * kLanes<T>;
      sum = sums_.data() + (sums_wait_ ? columns.begin - columns_.begin : 0);
    }
    TileWork<T> work{};
    work.k_count = k.size();
    work.sum_ld = sum_ld;
    work.continues = k.begin > 0;
    work.ldc = p_.ldc;
    const bool more = panels.end < panels_.end;
    const std::int64_t tiles =
        group.width == kNarrow && !p_.transposed_a ? ceil_div(rows_.size(), kMostRows<T>) : tiles_;
    if (const HalfBits* b = stored_columns(group); b && (k.size() % kHalves == 0 || !by_panels())) {
      if constexpr (std::is_same_v<T, float>) run_stored(group, k, b, sum, sum_ld);
      if (last && !plain_) finish(panels, {0, rows_.size()}, sum, sum_ld);
      return;
    }
    const T* next_b = set_b(work, panels, k, more, tiles);
    for (std::int64_t i = 0; i < tiles; ++i) {
      const Range rows = part_of({0, rows_.size()}, tiles, i);
      set_a(work, rows, k);
      work.sum = sum + rows.begin * sum_ld;
      work.next_c = rows.end < rows_.size() ? c + rows.end * p_.ldc : c + (more ? columns.size() : 0);
      work.next_b = next_b + std::min(k.size() * kPanel, i * k.size() * work.next_b_step);
      if (last && !plain_) prefetch_operands(*p_.epilogue, rows_.begin + rows.begin, columns.begin, rows.size());
      const auto row_index = static_cast<std::size_t>(rows.size() - 1);
      (p_.transposed_a ? kTiles<true, T>[row_index] : kTiles<false, T>[row_index])[group.width](work);
      if (last && (!plain_ || partial)) finish(panels, rows, work.sum, sum_ld);
    }
  }

  void finish(Range panels, Range rows, const T* sum, std::int64_t sum_ld) const {
    const Range columns = columns_of(panels);
    finish_block(EpilogueBlock<T>{rows_.begin + rows.begin, columns.begin, rows.size(), columns.size(), sum, sum_ld,
                                  p_.c, p_.ldc},
                 *p_.epilogue);
  }

  // A group of panels as it is stored, from b on.
  void run_stored([[maybe_unused]] const Group& group, [[maybe_unused]] Range k, [[maybe_unused]] const HalfBits* b,
                  [[maybe_unused]] float* sum, [[maybe_unused]] std::int64_t sum_ld) const {
#if HWY_MAX_BYTES >= 32
    const bool f16 = p_.stored->format == StoredMatrix::Format::f16;
    const std::int64_t ld = stored().ld(group.panels.begin * kPanel);
    const auto row_index = static_cast<std::size_t>(rows_.size() - 1);
    HalfTileWork work{.a = p_.a + rows_.begin * p_.lda + k.begin,
                      .row_stride = p_.lda,
                      .b = nullptr,
                      .ld = ld,
                      .ahead = 0,
                      .k_count = k.size(),
                      .sum = sum,
                      .sum_ld = sum_ld,
                      .continues = k.begin > 0};
    if (by_panels()) {
      work.ahead = kPanel * ld;
      for (std::int64_t v = 0; v < kPanelVectors<float>; ++v) {
        work.b = b + v * kLanes<float> * ld + k.begin;
        work.sum = sum + v * kLanes<float>;
        (f16 ? kColumnTiles<Float16> : kColumnTiles<BFloat16>)[row_index](work);
      }
    } else {
      work.b = b + k.begin * ld;
      work.ahead = block_k_ * ld;
      (f16 ? kRowTiles<Float16> : kRowTiles<BFloat16>)[row_index][group.width](work);
    }
#endif
  }

  // The panels: where they are packed, or made from what is stored. Returns what is to be fetched meanwhile.
  const T* set_b(TileWork<T>& work, Range panels, Range k, bool more, std::int64_t tiles) {
    if constexpr (std::is_same_v<T, float>) {
      if (p_.stored) {
        work.b = panel_scratch_.data();
        work.panel_stride = (k.size() + StoredPanels::kSpareRows) * kPanel;
        convert_panels(panels, k, work.panel_stride);
        return work.b;
      }
    }
    work.b = p_.packed->panel(panels.begin) + k.begin * kPanel;
    work.panel_stride = p_.K * kPanel;
    work.next_b_step = ceil_div(kPanel, tiles);
    return more ? work.b + panels.size() * work.panel_stride : work.b;
  }

  // Fetches the same k of the next group or, where stored rows run along n and pass by but once, the next k.
  void convert_panels(Range panels, Range k, std::int64_t panel_stride) {
    const StoredPanels stored = this->stored();
    const std::int64_t group = panels.size() * kPanel, ld = stored.ld(panels.begin * kPanel);
    const std::int64_t ahead = stored.runs_along_k() ? group * ld : (tiles_ == 1 ? block_k_ * ld : group);
    for (std::int64_t panel = panels.begin; panel < panels.end; ++panel) {
      const Range columns = columns_of({panel, panel + 1});
      stored.convert(k, columns.begin, columns.size(), ahead,
                     panel_scratch_.data() + (panel - panels.begin) * panel_stride);
    }
  }

  void set_a(TileWork<T>& work, Range rows, Range k) const {
    if (p_.transposed_a) {
      work.a = a_scratch_.data() + rows.begin * k.size();
      work.k_stride = rows.size();
    } else {
      work.a = p_.a + (rows_.begin + rows.begin) * p_.lda + k.begin;
      work.row_stride = p_.lda;
    }
  }

  // Copies the rows of the transposed A so that each tile reads it in one stream: [tile][k][row of the tile].
  void pack_a(Range k) {
    const TileTag<T> d;
    for (std::int64_t i = 0; i < tiles_; ++i) {
      const Range rows = part_of({0, rows_.size()}, tiles_, i);
      const std::int64_t m = rows_.begin + rows.begin, R = rows.size();
      const T* from = p_.a + k.begin * p_.lda + m;
      T* to = a_scratch_.data() + rows.begin * k.size();
      if (R <= kLanes<T> && m + kLanes<T> <= p_.M) {
        // The lanes too many are overwritten by the next store.
        for (std::int64_t j = 0; j < k.size(); ++j) hn::StoreU(hn::LoadU(d, from + j * p_.lda), d, to + j * R);
      } else {
        for (std::int64_t j = 0; j < k.size(); ++j) {
          std::memcpy(to + j * R, from + j * p_.lda, static_cast<std::size_t>(R) * sizeof(T));
        }
      }
    }
  }

  const Product<T>& p_;
  Range rows_, panels_, columns_;
  std::int64_t tiles_;  // of rows
  std::int64_t block_k_ = 0;
  bool plain_;       // the epilogue changes nothing
  bool sums_apart_;  // the epilogue reads C as it was before
  bool sums_wait_ = false;
  PoolArray<T> a_scratch_, sums_, panel_scratch_;
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
