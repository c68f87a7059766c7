// Transposing into a panel of the matrix product (gemm.h: PackedMatrix). Included once per target.
#if defined(HEED_KERNELS_GEMM_PANEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_GEMM_PANEL_INL_H_
#undef HEED_KERNELS_GEMM_PANEL_INL_H_
#else
#define HEED_KERNELS_GEMM_PANEL_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "heed/kernels/gemm.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Transposes a square as wide as 128 bits: to[k * to_ld + j] = from[j * from_ld + k].
#if HWY_TARGET == HWY_SCALAR
inline constexpr std::int64_t kSquareBytes = 0;
template <class T>
HWY_INLINE void transpose_square(const T* from, std::int64_t, T* to, std::int64_t) {
  *to = *from;
}
#else
inline constexpr std::int64_t kSquareBytes = 16;
HWY_INLINE void transpose_square(const float* from, std::int64_t from_ld, float* to, std::int64_t to_ld) {
  const hn::FixedTag<float, 4> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_ld);
  const auto r2 = hn::LoadU(d, from + 2 * from_ld), r3 = hn::LoadU(d, from + 3 * from_ld);
  const auto lower01 = hn::InterleaveLower(d, r0, r1), lower23 = hn::InterleaveLower(d, r2, r3);
  const auto upper01 = hn::InterleaveUpper(d, r0, r1), upper23 = hn::InterleaveUpper(d, r2, r3);
  hn::StoreU(hn::ConcatLowerLower(d, lower23, lower01), d, to);
  hn::StoreU(hn::ConcatUpperUpper(d, lower23, lower01), d, to + to_ld);
  hn::StoreU(hn::ConcatLowerLower(d, upper23, upper01), d, to + 2 * to_ld);
  hn::StoreU(hn::ConcatUpperUpper(d, upper23, upper01), d, to + 3 * to_ld);
}
HWY_INLINE void transpose_square(const double* from, std::int64_t from_ld, double* to, std::int64_t to_ld) {
  const hn::FixedTag<double, 2> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_ld);
  hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
  hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + to_ld);
}
#endif

// to[k * kPanel + j] = from[j * ld + k] for j < columns, 0 for the other j.
template <class T>
void transpose_panel(const T* from, std::int64_t ld, std::int64_t K, std::int64_t columns, T* to) {
  constexpr std::int64_t kPanel = PackedMatrix<T>::kPanel;
  constexpr std::int64_t kSide = HWY_MAX(1, kSquareBytes / static_cast<std::int64_t>(sizeof(T)));
  const std::int64_t square_k = K / kSide * kSide, square_columns = columns / kSide * kSide;
  for (std::int64_t k = 0; k < square_k; k += kSide) {
    for (std::int64_t j = 0; j < square_columns; j += kSide) {
      transpose_square(from + j * ld + k, ld, to + k * kPanel + j, kPanel);
    }
  }
  for (std::int64_t k = 0; k < K; ++k) {
    for (std::int64_t j = k < square_k ? square_columns : 0; j < kPanel; ++j) {
      to[k * kPanel + j] = j < columns ? from[j * ld + k] : T{0};
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
