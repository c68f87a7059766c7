// The loops around the register tile. C is computed in parts of few rows, and in blocks of K, so that a block of A
// stays in the level 2 cache while the panels of B pass by. Sums that continue in the next block of K wait in C, or,
// where C must keep its old values until the end, in scratch memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/gemm.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "heed/base/parallel.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/gemm_epilogue-inl.h"
#include "heed/kernels/gemm_tile-inl.h"
#include "heed/kernels/ranges.h"

#ifndef HEED_KERNELS_GEMM_ONCE
#define HEED_KERNELS_GEMM_ONCE
namespace heed::kernels::detail {

template <class T>
struct Product {
  std::int64_t M;
  const T* a;
  std::int64_t lda;
  bool transposed_a;
  const PackedMatrix<T>* b;
  T* c;
  std::int64_t ldc;
  const Epilogue<T>* epilogue;
};

}  // namespace heed::kernels::detail
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using detail::Product;

template <class T>
inline constexpr std::int64_t kBlockK = 4096 / sizeof(T);
template <class T>
inline constexpr std::int64_t kMostTiles = HWY_MAX(1, 96 / kTileRows<T>);  // of rows, in a part

// Rows and panels of C, computed by one thread.
template <class T>
class Part {
 public:
  Part(const Product<T>& product, Range rows, Range panels)
      : p_(product), rows_(rows), panels_(panels), columns_(columns_of(panels)) {
    const Epilogue<T>& e = *p_.epilogue;
    plain_ = !e.bias && !e.derivative && e.activation == Activation::none && !e.factor && !e.residual && !e.accumulate;
    sums_apart_ = e.accumulate || e.residual == p_.c || e.factor == p_.c;
  }

  void run() {
    const std::int64_t K = p_.b->rows();
    // With one tile of rows nothing of B is used twice, so there is nothing to keep in a cache.
    const std::int64_t k_blocks = rows_.size() <= kTileRows<T> ? 1 : std::max<std::int64_t>(1, ceil_div(K, kBlockK<T>));
    if (p_.transposed_a) a_scratch_ = PoolArray<T>(rows_.size() * ceil_div(K, k_blocks) + kLanes<T>);
    // Sums that C cannot hold, of one group of panels, or of all if they wait there for the next block of K.
    sums_wait_ = sums_apart_ && k_blocks > 1;
    if (sums_apart_ || columns_.size() < panels_.size() * kPanel) {
      sums_ = PoolArray<T>(rows_.size() * (sums_wait_ ? panels_.size() * kPanel : kMostVectors<T> * kLanes<T>));
    }
    for (std::int64_t j = 0; j < k_blocks; ++j) run_block(part_of({0, K}, k_blocks, j), j > 0, j + 1 == k_blocks);
  }

 private:
  static constexpr std::int64_t kPanel = PackedMatrix<T>::kPanel;

  Range columns_of(Range panels) const {
    return {panels.begin * kPanel, std::min(panels.end * kPanel, p_.b->columns())};
  }

  void run_block(Range k, bool continues, bool last) {
    const std::int64_t tiles = ceil_div(rows_.size(), kTileRows<T>);
    if (p_.transposed_a && k.size() > 0) pack_a(k, tiles);
    for (std::int64_t panel = panels_.begin; panel < panels_.end;) {
      const TileWidth width = width_at(panel, tiles);
      const std::int64_t vectors = tile_vectors<T>(static_cast<int>(ceil_div(rows_.size(), tiles)), width);
      const std::int64_t end = panel + ceil_div(vectors, kPanelVectors<T>);
      run_panels({panel, end}, width, vectors, k, tiles, continues, last);
      panel = end;
    }
  }

  // The widest tile that fits the panels left. Only a part of a single tile of rows has wide ones.
  TileWidth width_at(std::int64_t panel, std::int64_t tiles) const {
    if (columns_.end - panel * kPanel <= kLanes<T>) return kNarrow;
    const std::int64_t vectors = (panels_.end - panel) * kPanelVectors<T>;
    for (const TileWidth width : {kWidest, kDouble}) {
      if (tiles == 1 && !p_.transposed_a && tile_vectors<T>(static_cast<int>(rows_.size()), width) <= vectors) {
        return width;
      }
    }
    return kTileVectors<T> <= vectors ? kNormal : kNarrow;
  }

  // All tiles of rows for a group of panels.
  void run_panels(Range panels, TileWidth width, std::int64_t vectors, Range k, std::int64_t tiles, bool continues,
                  bool last) {
    const Range columns = columns_of(panels);
    const bool partial = columns.size() < panels.size() * kPanel;
    T* c = p_.c + rows_.begin * p_.ldc + columns.begin;
    T* sum = c;
    std::int64_t sum_ld = p_.ldc;
    if (sums_apart_ || partial) {
      sum_ld = sums_wait_ ? panels_.size() * kPanel : vectors * kLanes<T>;
      sum = sums_.data() + (sums_wait_ ? columns.begin - columns_.begin : 0);
    }
    TileWork<T> work{};
    work.b = p_.b->panel(panels.begin) + k.begin * kPanel;
    work.panel_stride = p_.b->rows() * kPanel;
    work.k_count = k.size();
    work.sum_ld = sum_ld;
    work.continues = continues;
    work.ldc = p_.ldc;
    const bool more = panels.end < panels_.end;
    const T* next_b = more ? work.b + panels.size() * work.panel_stride : work.b;
    if (width == kNarrow && !p_.transposed_a) tiles = ceil_div(rows_.size(), kMostRows<T>);
    work.next_b_step = ceil_div(kPanel, tiles);
    for (std::int64_t i = 0; i < tiles; ++i) {
      const Range rows = part_of({0, rows_.size()}, tiles, i);
      set_a(work, rows, k);
      work.sum = sum + rows.begin * sum_ld;
      work.next_c = rows.end < rows_.size() ? c + rows.end * p_.ldc : c + (more ? columns.size() : 0);
      work.next_b = next_b + std::min(k.size() * kPanel, i * k.size() * work.next_b_step);
      if (last && !plain_) prefetch_operands(*p_.epilogue, rows_.begin + rows.begin, columns.begin, rows.size());
      const auto row_index = static_cast<std::size_t>(rows.size() - 1);
      (p_.transposed_a ? kTiles<true, T>[row_index] : kTiles<false, T>[row_index])[width](work);
      if (last && (!plain_ || partial)) {
        finish_block(EpilogueBlock<T>{rows_.begin + rows.begin, columns.begin, rows.size(), columns.size(), work.sum,
                                      sum_ld, p_.c, p_.ldc},
                     *p_.epilogue);
      }
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
  void pack_a(Range k, std::int64_t tiles) {
    const TileTag<T> d;
    for (std::int64_t i = 0; i < tiles; ++i) {
      const Range rows = part_of({0, rows_.size()}, tiles, i);
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
  bool plain_;       // the epilogue changes nothing
  bool sums_apart_;  // the epilogue reads C as it was before
  bool sums_wait_ = false;
  PoolArray<T> a_scratch_, sums_;
};

// Splits C between the threads, so that the largest share is as small as possible, and each share into parts of whole
// tiles of rows, with which other threads may help.
template <class T>
void multiply(const Product<T>& p) {
  const std::int64_t tiles = ceil_div(p.M, kTileRows<T>), panels = p.b->panels();
  const std::int64_t work = p.M * panels * PackedMatrix<T>::kPanel * std::max<std::int64_t>(1, p.b->rows());
  constexpr std::int64_t kLeastWork = 1 << 16;  // multiply-adds that are worth another thread
  const std::int64_t threads = std::clamp<std::int64_t>(work / kLeastWork, 1, current_threads());
  std::int64_t row_parts = 1, panel_parts = 1, least = INT64_MAX;
  for (std::int64_t r = 1; r <= std::min(threads, tiles); ++r) {
    const std::int64_t c = std::min(threads / r, panels);
    // Packing a transposed A costs about as much as one panel.
    const std::int64_t cost = ceil_div(tiles, r) * (ceil_div(panels, c) + (p.transposed_a ? 1 : 0));
    if (cost < least) least = cost, row_parts = r, panel_parts = c;
  }
  row_parts *= ceil_div(ceil_div(tiles, row_parts), kMostTiles<T>);
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
  const detail::Product<T> product{M, a, lda, transposed_a, &b, c, ldc, &epilogue};
  if constexpr (sizeof(T) == sizeof(float)) {
    HWY_DYNAMIC_DISPATCH(multiply_f32)(product);
  } else {
    HWY_DYNAMIC_DISPATCH(multiply_f64)(product);
  }
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
