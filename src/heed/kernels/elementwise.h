// Elementwise arithmetic on contiguous arrays, and its two broadcasting forms over a matrix [rows, cols].
// The destination may be one of the sources (but not overlap it otherwise). n, rows, cols may be 0.
#pragma once

#include <cstdint>

namespace heed::kernels {

enum class Unary { negate, sqrt, exp, log, erf };
enum class Binary { add, sub, mul, div };

// y[i] = op(x[i])
template <class T>
void unary(Unary op, const T* x, T* y, std::int64_t n);

// z[i] = x[i] op y[i]
template <class T>
void binary(Binary op, const T* x, const T* y, T* z, std::int64_t n);

// z[r,c] = x[r,c] op v[c]; v [cols]
template <class T>
void binary_row(Binary op, const T* x, const T* v, T* z, std::int64_t rows, std::int64_t cols);

// z[r,c] = x[r,c] op v[r]; v [rows]
template <class T>
void binary_column(Binary op, const T* x, const T* v, T* z, std::int64_t rows, std::int64_t cols);

// y[i] = factor * x[i] + shift, with one rounding where the CPU has fused multiply-add
template <class T>
void scale(const T* x, T factor, T shift, T* y, std::int64_t n);

// y[i] += a * x[i], likewise
template <class T>
void axpy(T a, const T* x, T* y, std::int64_t n);

// y[i] = value
template <class T>
void fill(T value, T* y, std::int64_t n);

// y[i] = min(high, max(low, x[i])); NaN stays NaN
template <class T>
void clamp(const T* x, T low, T high, T* y, std::int64_t n);

}  // namespace heed::kernels
