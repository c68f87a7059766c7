// Copies that change the order of axes. T is float, double, int32_t, int64_t or (the bits of half floats) uint16_t.
#pragma once

#include <cstdint>

#include "heed/base/types.h"

namespace heed::kernels {

// y[i0, i1, ...] = x[i0 strides[0] + i1 strides[1] + ...]; y contiguous of `shape`, not overlapping x. rank 0 ..
// kMaxRank; strides in elements, 0 and negative ones allowed. shape [2, 3, 4] with strides {4, 8, 1} swaps the first
// axes of a contiguous [3, 2, 4].
template <class T>
void permuted_copy(const T* x, const std::int64_t* shape, const std::int64_t* strides, int rank, T* y);

}  // namespace heed::kernels
