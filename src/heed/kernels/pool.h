// Pooling over packed sequences: values [N, cols], sequence b being rows offsets[b] .. offsets[b+1] (offsets [B+1],
// rising from 0 to N), to one row each [B, cols]. An empty sequence gives zeros. A sequence's result depends on its own
// rows only.
#pragma once

#include <cstdint>

#include "heed/base/types.h"

namespace heed::kernels {

using heed::PoolKind;

// argmax [B, cols] (only for max, where it must not be null) receives the row of x that won, the first of equals, -1
// for an empty sequence. A NaN counts as the largest value.
template <class T>
void pool(PoolKind pooling, const T* x, const std::int64_t* offsets, std::int64_t sequences, std::int64_t cols, T* y,
          std::int64_t* argmax);

// dx [N, cols] from dy [B, cols]: dy (sum), dy / length (mean), dy at the winning rows and 0 elsewhere (max).
template <class T>
void pool_backward(PoolKind pooling, const T* dy, const std::int64_t* offsets, std::int64_t sequences,
                   std::int64_t cols, const std::int64_t* argmax, T* dx);

}  // namespace heed::kernels
