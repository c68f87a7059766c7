// Dropout as a pure function of (seed, stream, position): no state, the same mask for any number of threads, and the
// backward pass is the same call on the gradient.
#pragma once

#include <cstdint>

#include "heed/base/types.h"

namespace heed::kernels {

using heed::DropoutKey;

// y[i] = x[i] / (1 - p) if word i of the stream is >= p 2^32, else 0; 0 <= p <= 1. Word i is element i % 4 of
// Philox4x32-10 with counter {i / 4 low, i / 4 high, stream low, stream high} and key {seed low, seed high}.
// y == x is allowed. p = 0 copies, p = 1 gives zeros.
template <class T>
void dropout(const T* x, T* y, std::int64_t n, double p, DropoutKey key);

}  // namespace heed::kernels
