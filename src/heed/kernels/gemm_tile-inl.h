// The register tile of the matrix product: R rows times V vectors of columns, all sums of the tile in registers.
// Included once per target.
#if defined(HEED_KERNELS_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_GEMM_TILE_INL_H_
#undef HEED_KERNELS_GEMM_TILE_INL_H_
#else
#define HEED_KERNELS_GEMM_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using TileTag = hn::CappedTag<T, 64 / sizeof(T)>;  // a vector is at most one row of a panel
template <class T>
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(TileTag<T>()));
template <class T>
inline constexpr int kPanelVectors = static_cast<int>(64 / sizeof(T)) / kLanes<T>;

// One tile: sum[r, j] (+)= sum over k of a[r, k] * b[k, j], in ascending k.
template <class T>
struct TileWork {
  const T* a;  // a[r, k] is at r * row_stride + k or, if it comes by columns, at k * k_stride + r
  std::int64_t row_stride, k_stride;
  const T* b;  // first panel; the next is panel_stride elements further
  std::int64_t panel_stride;
  std::int64_t k_count;
  T* sum;
  std::int64_t sum_ld;
  bool continues;   // the chains go on from what sum holds; otherwise they start from 0
  const T* next_c;  // where in C the next tile lies: fetched at once, because the distance of rows defeats the hardware
  std::int64_t ldc;
  const T* next_b;  // a share of the next panels, fetched at next_b + k * next_b_step for even k; not by wide tiles
  std::int64_t next_b_step;
};

// The tile sizes follow from the number of vector registers: sums, plus the shorter of a row of b and a column of a,
// plus one temporary.
inline constexpr int kRegisters = HWY_ARCH_X86 && HWY_MAX_BYTES < 64 ? 16 : 32;
// Vectors in a row of a full-height tile: one panel, or two vectors if a panel is one vector.
template <class T>
inline constexpr int kTileVectors = kPanelVectors<T> < 2 ? 2 : kPanelVectors<T>;
template <class T>
inline constexpr int kTileRows = HWY_MAX(1, (kRegisters - 1 - kTileVectors<T>) / kTileVectors<T>);
// A tile of one vector, at the right edge of C, may be higher.
template <class T>
inline constexpr int kMostRows = HWY_MAX(kTileVectors<T> == 2 ? 8 : 1, kTileRows<T>);
// A tile of few rows may be wider, so that enough independent chains are in flight.
template <class T>
inline constexpr int kMostVectors = HWY_MAX(8, kTileVectors<T>);
template <class T>
constexpr int max_vectors(int rows) {
  if (rows > kTileRows<T>) return 1;
  int vectors = kTileVectors<T>;
  for (int wider = vectors; wider <= kMostVectors<T>; wider += kTileVectors<T>) {
    if (rows * wider + HWY_MIN(rows, wider) + 1 <= kRegisters) vectors = wider;
  }
  return vectors;
}

enum TileWidth { kNarrow, kNormal, kDouble, kWidest, kWidths };
template <class T>
constexpr int tile_vectors(int rows, TileWidth width) {
  constexpr int vectors[] = {1, kTileVectors<T>, 2 * kTileVectors<T>, kMostVectors<T>};
  return HWY_MIN(vectors[width], max_vectors<T>(rows));
}

// The index sequences make every index of the arrays a constant in the front end: only then does g++ keep the sums in
// registers throughout the loop.
template <class D, class Vec, std::size_t... I>
HWY_INLINE void zero_sums(D d, Vec* sums, std::index_sequence<I...>) {
  ((sums[I] = hn::Zero(d)), ...);
}

template <int V, class D, class Vec, class T, std::size_t... I>
HWY_INLINE void load_sums(D d, Vec* sums, const T* from, std::int64_t ld, std::index_sequence<I...>) {
  ((sums[I] = hn::LoadU(d, from + static_cast<std::int64_t>(I / V) * ld + (I % V) * kLanes<T>)), ...);
}

template <int V, class D, class Vec, class T, std::size_t... I>
HWY_INLINE void store_sums(D d, const Vec* sums, T* to, std::int64_t ld, std::index_sequence<I...>) {
  (hn::StoreU(sums[I], d, to + static_cast<std::int64_t>(I / V) * ld + (I % V) * kLanes<T>), ...);
}

template <class T>
HWY_INLINE const T* row_vector(const T* b, std::int64_t panel_stride, std::size_t v) {
  constexpr std::size_t per_panel = kPanelVectors<T>;
  return b + static_cast<std::int64_t>(v / per_panel) * panel_stride + (v % per_panel) * kLanes<T>;
}

template <class D, class Vec, class T, std::size_t... V>
HWY_INLINE void load_row(D d, Vec* row, const T* b, std::int64_t panel_stride, std::index_sequence<V...>) {
  ((row[V] = hn::Load(d, row_vector(b, panel_stride, V))), ...);
}

// kByColumns: see TileWork::a.
template <bool kByColumns, class T>
HWY_INLINE T column_element(const T* a, std::int64_t row_stride, std::size_t r) {
  return a[kByColumns ? static_cast<std::int64_t>(r) : static_cast<std::int64_t>(r) * row_stride];
}

template <bool kByColumns, class D, class Vec, class T, std::size_t... R>
HWY_INLINE void load_column(D d, Vec* column, const T* a, std::int64_t row_stride, std::index_sequence<R...>) {
  ((column[R] = hn::Set(d, column_element<kByColumns>(a, row_stride, R))), ...);
}

// sums[i * stride] = fma(x, y[i], sums[i * stride])
template <int kStride, class Vec, std::size_t... I>
HWY_INLINE void multiply_add(Vec* sums, Vec x, const Vec* y, std::index_sequence<I...>) {
  ((sums[I * kStride] = hn::MulAdd(x, y[I], sums[I * kStride])), ...);
}

// One k of a tile that is higher than wide: the row of b stays in registers, the column of a passes by ...
template <bool kByColumns, int V, class D, class Vec, class T, std::size_t... R>
HWY_INLINE void step_by_rows(D d, Vec* sums, const T* a, std::int64_t row_stride, const Vec* row,
                             std::index_sequence<R...>) {
  (multiply_add<1>(sums + R * V, hn::Set(d, column_element<kByColumns>(a, row_stride, R)), row,
                   std::make_index_sequence<V>()),
   ...);
}

// ... and the other way round.
template <int R, class D, class Vec, class T, std::size_t... V>
HWY_INLINE void step_by_vectors(D d, Vec* sums, const Vec* column, const T* b, std::int64_t panel_stride,
                                std::index_sequence<V...>) {
  (multiply_add<sizeof...(V)>(sums + V, hn::Load(d, row_vector(b, panel_stride, V)), column,
                              std::make_index_sequence<R>()),
   ...);
}

// Level 2 only: what the tile works with fills level 1. Locality 2 is prefetcht1.
template <class T, std::size_t... P>
HWY_INLINE void prefetch_panels(const T* at, std::int64_t panel_stride, std::index_sequence<P...>) {
  (__builtin_prefetch(at + static_cast<std::int64_t>(P) * panel_stride, 0, 2), ...);
}

template <int V, class T, std::size_t... R>
HWY_INLINE void prefetch_c(const T* c, std::int64_t ld, std::index_sequence<R...>) {
  ((__builtin_prefetch(c + static_cast<std::int64_t>(R) * ld, 1),
    __builtin_prefetch(c + static_cast<std::int64_t>(R) * ld + V * kLanes<T> - 1, 1)),
   ...);
}

template <bool kByColumns, int R, int V, class D, class Vec, class T>
HWY_INLINE void tile_step(D d, Vec* sums, const T* a, std::int64_t row_stride, const T* b, std::int64_t panel_stride) {
  // For the compiler alone: without it g++ mixes the loads of several steps and runs out of registers.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if constexpr (R >= V) {
    Vec row[V];
    load_row(d, row, b, panel_stride, std::make_index_sequence<V>());
    step_by_rows<kByColumns, V>(d, sums, a, row_stride, row, std::make_index_sequence<R>());
  } else {
    Vec column[R];
    load_column<kByColumns>(d, column, a, row_stride, std::make_index_sequence<R>());
    step_by_vectors<R>(d, sums, column, b, panel_stride, std::make_index_sequence<V>());
  }
}

template <bool kByColumns, class T, int R, int V>
HWY_NOINLINE void run_tile(const TileWork<T>& work) {
  const TileTag<T> d;
  using Vec = hn::Vec<TileTag<T>>;
  constexpr auto all = std::make_index_sequence<R * V>();
  constexpr auto panels = std::make_index_sequence<(V + kPanelVectors<T> - 1) / kPanelVectors<T>>();
  constexpr std::int64_t b_step = 64 / sizeof(T);
  const std::int64_t a_step = kByColumns ? work.k_stride : 1;
  Vec sums[R * V];
  if (work.continues) {
    load_sums<V>(d, sums, work.sum, work.sum_ld, all);
  } else {
    zero_sums(d, sums, all);
  }
  prefetch_c<V>(work.next_c, work.ldc, std::make_index_sequence<R>());
  const T* a = work.a;
  const T* b = work.b;
  const T* next_b = work.next_b;
  const std::int64_t row_stride = work.row_stride, panel_stride = work.panel_stride;
  const std::int64_t next_b_step = 2 * work.next_b_step;
  std::int64_t k = work.k_count;
  // Two steps a turn: a core that shares its front end with another thread cannot afford more instructions. (With four
  // g++ spills sums.)
  for (; k >= 2; k -= 2) {
    if constexpr (V <= kTileVectors<T>) {
      prefetch_panels(next_b, panel_stride, panels);
      next_b += next_b_step;
    }
    tile_step<kByColumns, R, V>(d, sums, a, row_stride, b, panel_stride);
    tile_step<kByColumns, R, V>(d, sums, a + a_step, row_stride, b + b_step, panel_stride);
    a += 2 * a_step;
    b += 2 * b_step;
  }
  for (; k > 0; --k) {
    tile_step<kByColumns, R, V>(d, sums, a, row_stride, b, panel_stride);
    a += a_step;
    b += b_step;
  }
  store_sums<V>(d, sums, work.sum, work.sum_ld, all);
}

template <class T>
using TileFunction = void (*)(const TileWork<T>&);
template <class T>
using TileRow = std::array<TileFunction<T>, kWidths>;

template <bool kByColumns, class T, int R>
constexpr TileRow<T> make_tile_row() {
  constexpr auto widest = kByColumns ? kNormal : kWidest;
  return {&run_tile<kByColumns, T, R, tile_vectors<T>(R, kNarrow)>,
          &run_tile<kByColumns, T, R, tile_vectors<T>(R, kNormal)>,
          &run_tile<kByColumns, T, R, tile_vectors<T>(R, HWY_MIN(kDouble, widest))>,
          &run_tile<kByColumns, T, R, tile_vectors<T>(R, widest)>};
}
template <bool kByColumns, class T, std::size_t... R>
constexpr std::array<TileRow<T>, sizeof...(R)> make_tile_table(std::index_sequence<R...>) {
  return {make_tile_row<kByColumns, T, static_cast<int>(R) + 1>()...};
}
// kTiles<kByColumns, T>[R - 1][width] computes R <= kMostRows rows and tile_vectors(R, width) vectors. A tile by
// columns has at most kTileRows rows and is at most kNormal.
template <bool kByColumns, class T>
inline constexpr auto kTiles =
    make_tile_table<kByColumns, T>(std::make_index_sequence<kByColumns ? kTileRows<T> : kMostRows<T>>());

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
