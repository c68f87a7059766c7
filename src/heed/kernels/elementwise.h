// Elementwise arithmetic on contiguous arrays, and with a row stretched over a matrix [rows, cols].
// The destination may be one of the sources (but not overlap it otherwise). n, rows, cols may be 0.
#pragma once

#include <cstdint>

namespace heed::kernels {

enum class Binary { add, sub, mul, div };

// z[i] = x[i] op y[i]
template <class T>
void binary(Binary op, const T* x, const T* y, T* z, std::int64_t n);

// z[r,c] = x[r,c] op v[c]; v [cols]
template <class T>
void binary_row(Binary op, const T* x, const T* v, T* z, std::int64_t rows, std::int64_t cols);

// y[i] = factor * x[i] + shift, with one rounding where the CPU has fused multiply-add
template <class T>
void scale(const T* x, T factor, T shift, T* y, std::int64_t n);

}  // namespace heed::kernels
