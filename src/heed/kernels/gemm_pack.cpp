// PackedMatrix::pack: copies or transposes B into panels.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/gemm_pack.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

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

void transpose_panel_f32(const float* from, std::int64_t ld, std::int64_t K, std::int64_t columns, float* to) {
  transpose_panel(from, ld, K, columns, to);
}
void transpose_panel_f64(const double* from, std::int64_t ld, std::int64_t K, std::int64_t columns, double* to) {
  transpose_panel(from, ld, K, columns, to);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed::kernels {
HWY_EXPORT(transpose_panel_f32);
HWY_EXPORT(transpose_panel_f64);

namespace {

void transpose_panel(const float* from, std::int64_t ld, std::int64_t K, std::int64_t columns, float* to) {
  HWY_DYNAMIC_DISPATCH(transpose_panel_f32)(from, ld, K, columns, to);
}
void transpose_panel(const double* from, std::int64_t ld, std::int64_t K, std::int64_t columns, double* to) {
  HWY_DYNAMIC_DISPATCH(transpose_panel_f64)(from, ld, K, columns, to);
}

// to[k * kPanel + j] = from[k * ld + j] for j < columns, 0 for the other j.
template <class T>
void copy_panel(const T* from, std::int64_t ld, std::int64_t K, std::int64_t columns, T* to) {
  constexpr std::int64_t kPanel = PackedMatrix<T>::kPanel;
  for (std::int64_t k = 0; k < K; ++k, from += ld, to += kPanel) {
    if (columns == kPanel) {
      std::memcpy(to, from, kPanel * sizeof(T));
    } else {
      std::memcpy(to, from, static_cast<std::size_t>(columns) * sizeof(T));
      std::fill(to + columns, to + kPanel, T{0});
    }
  }
}

}  // namespace

template <class T>
PackedMatrix<T> PackedMatrix<T>::pack(const T* b, std::int64_t K, std::int64_t N, std::int64_t ld, bool transposed) {
  HEED_CHECK(K >= 0 && N >= 0, "[gemm] B is ", K, " x ", N, ", expected no negative size");
  HEED_CHECK(ld >= (transposed ? K : N), "[gemm] ld of B is ", ld, ", expected at least ", transposed ? K : N);
  PackedMatrix packed;
  packed.rows_ = K;
  packed.columns_ = N;
  packed.data_ = PoolArray<T>(packed.panels() * K * kPanel);
  const std::int64_t grain = 1 + (1 << 15) / std::max<std::int64_t>(1, K * kPanel);
  parallel_for(packed.panels(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t n = p * kPanel, columns = std::min(kPanel, N - n);
      T* to = packed.data_.data() + p * K * kPanel;
      transposed ? transpose_panel(b + n * ld, ld, K, columns, to) : copy_panel(b + n, ld, K, columns, to);
    }
  });
  return packed;
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;

}  // namespace heed::kernels
#endif  // HWY_ONCE
