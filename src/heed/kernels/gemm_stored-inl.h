// Panels of the matrix product (gemm.h: PackedMatrix) made from weights as they are stored. Included once per target.
#if defined(HEED_KERNELS_GEMM_STORED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_GEMM_STORED_INL_H_
#undef HEED_KERNELS_GEMM_STORED_INL_H_
#else
#define HEED_KERNELS_GEMM_STORED_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "heed/kernels/gemm.h"
#include "heed/kernels/gemm_tile-inl.h"
#include "heed/kernels/half.h"
#include "heed/kernels/halves-inl.h"
#include "heed/kernels/ranges.h"
#include "heed/kernels/stored_matrix.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::int64_t kColumns = PackedMatrix<float>::kPanel;

// to[j] = from[j], for the columns of a panel.
template <class Half>
HWY_INLINE void convert_row(const HalfBits* from, float* to) {
#if HWY_MAX_BYTES >= 32
  for (std::int64_t j = 0; j < kColumns; j += kLanes<float>) {
    hn::Store(load_floats<Half>(from + j), TileTag<float>(), to + j);
  }
#else
  for (std::int64_t j = 0; j < kColumns; ++j) to[j] = to_float(Half{from[j]});
#endif
}

// to[k * kColumns + j] = from[j * ld + k], for the columns of a panel and kHalves of k. Fetches what lies `ahead`
// elements further.
template <class Half>
HWY_INLINE void transpose_columns(const HalfBits* from, std::int64_t ld, std::int64_t ahead, float* to) {
#if HWY_MAX_BYTES >= 32
  for (std::int64_t j = 0; j < kColumns; j += kLanes<float>) {
    for_each_transposed<Half>(from + j * ld, ld, ahead, [&](std::int64_t k, auto floats) HEED_LAMBDA {
      hn::Store(floats, TileTag<float>(), to + k * kColumns + j);
    });
  }
#else
  static_cast<void>(ahead);
  for (std::int64_t k = 0; k < kHalves; ++k) {
    for (std::int64_t j = 0; j < kColumns; ++j) to[k * kColumns + j] = to_float(Half{from[j * ld + k]});
  }
#endif
}

// B = W^T if transposed, else W, panel by panel.
class StoredPanels {
 public:
  StoredPanels(const StoredMatrix& w, bool transposed) : w_(w), transposed_(transposed) {}

  StoredMatrix::Format format() const { return w_.format; }
  // Whether neighbours in memory are neighbours along k. Otherwise they are along n.
  bool runs_along_k() const { return transposed_ != w_.by_columns; }
  // Rows that convert() may write beyond those that it is asked for.
  static constexpr std::int64_t kSpareRows = kHalves - 1;

  // Where in memory these columns of B begin, if all their k lie there at one distance, else null.
  const HalfBits* whole(std::int64_t n, std::int64_t columns) const {
    if (!transposed_) return w_.parts.size() == 1 ? address(find(0), n) : nullptr;
    const Place place = find(n);
    return place.row + columns <= place.part->rows ? address(place, 0) : nullptr;
  }
  // Distance in memory, in elements, of neighbours along the other axis.
  std::int64_t ld(std::int64_t n) const { return find(transposed_ ? n : 0).part->ld; }

  // to[(k - begin) * kColumns + j] = B[k, n + j] for the given k and j < columns, 0 for the other j. Fetches what lies
  // `ahead` elements further.
  void convert(Range k, std::int64_t n, std::int64_t columns, std::int64_t ahead, float* to) const {
    w_.format == StoredMatrix::Format::f16 ? convert_as<Float16>(k, n, columns, ahead, to)
                                           : convert_as<BFloat16>(k, n, columns, ahead, to);
  }

 private:
  struct Place {
    const StoredMatrix::Part* part;
    std::int64_t row;  // in it
  };
  // In a matrix without rows, row 0 is the end of the last part.
  Place find(std::int64_t row) const {
    const StoredMatrix::Part *part = w_.parts.data(), *last = part + (w_.parts.size() - 1);
    for (; part < last && row >= part->rows; ++part) row -= part->rows;
    return {part, row};
  }
  const HalfBits* address(Place place, std::int64_t column) const {
    const auto& [part, row] = place;
    return part->data + (w_.by_columns ? column * part->ld + row : row * part->ld + column);
  }
  HalfBits element(std::int64_t k, std::int64_t n) const {
    return *(transposed_ ? address(find(n), k) : address(find(k), n));
  }

  template <class Half>
  HWY_NOINLINE void convert_as(Range k, std::int64_t n, std::int64_t columns, std::int64_t ahead, float* to) const {
    for (Range piece{k.begin, 0}; piece.begin < k.end; piece.begin = piece.end) {
      const Place place = find(transposed_ ? n : piece.begin);
      // A piece lies in one part; so do its columns, if `whole`.
      piece.end = transposed_ ? k.end : std::min(k.end, piece.begin + place.part->rows - place.row);
      const bool whole = columns == kColumns && (!transposed_ || place.row + kColumns <= place.part->rows);
      const HalfBits* from = transposed_ ? address(place, piece.begin) : address(place, n);
      float* rows = to + (piece.begin - k.begin) * kColumns;
      runs_along_k() ? convert_columns<Half>(piece, n, columns, whole ? from : nullptr, place.part->ld, ahead, rows)
                     : convert_rows<Half>(piece, n, columns, whole ? from : nullptr, place.part->ld, ahead, rows);
    }
  }

  template <class Half>
  HWY_INLINE void convert_columns(Range k, std::int64_t n, std::int64_t columns, const HalfBits* from, std::int64_t ld,
                                  std::int64_t ahead, float* to) const {
    std::int64_t i = 0;
    if (from) {
      for (; i + kHalves <= k.size(); i += kHalves) transpose_columns<Half>(from + i, ld, ahead, to + i * kColumns);
    }
    for (; i < k.size(); i += kHalves) {
      HalfBits edge[kColumns * kHalves] = {};
      const std::int64_t count = std::min(kHalves, k.size() - i);
      for (std::int64_t j = 0; j < columns; ++j) {
        HalfBits* column = edge + j * kHalves;
        if (from) {
          std::copy(from + j * ld + i, from + j * ld + i + count, column);
        } else {
          for (std::int64_t l = 0; l < count; ++l) column[l] = element(k.begin + i + l, n + j);
        }
      }
      transpose_columns<Half>(edge, kHalves, 0, to + i * kColumns);
    }
  }

  template <class Half>
  HWY_INLINE void convert_rows(Range k, std::int64_t n, std::int64_t columns, const HalfBits* from, std::int64_t ld,
                               std::int64_t ahead, float* to) const {
    for (std::int64_t i = 0; i < k.size(); ++i) {
      if (from) {
        __builtin_prefetch(from + i * ld + ahead, 0, 2);
        convert_row<Half>(from + i * ld, to + i * kColumns);
      } else {
        HalfBits edge[kColumns] = {};
        for (std::int64_t j = 0; j < columns; ++j) edge[j] = element(k.begin + i, n + j);
        convert_row<Half>(edge, to + i * kColumns);
      }
    }
  }

  const StoredMatrix& w_;
  bool transposed_;
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
