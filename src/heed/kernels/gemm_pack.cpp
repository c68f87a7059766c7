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
#include "heed/kernels/gemm_panel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

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
  if (K == 0) return packed;
  const std::int64_t grain = 1 + (1 << 15) / (K * kPanel);
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
