// Sums and maxima. Every sum has one order, fixed by the sizes: blocks or trees, never the number of threads, so that
// the error stays small for millions of terms. Sizes may be 0.
#pragma once

#include <cstdint>

namespace heed::kernels {

// Over all of x [n] (and y [n]).
template <class T>
double sum(const T* x, std::int64_t n);
template <class T>
double sum_of_squares(const T* x, std::int64_t n);
template <class T>
double dot(const T* x, const T* y, std::int64_t n);

// y[r] = sum_c x[r,c]; x [rows, cols], y [rows]
template <class T>
void sum_rows(const T* x, T* y, std::int64_t rows, std::int64_t cols);

// y[c] = sum_r x[r,c]; x [rows, cols], y [cols]
template <class T>
void sum_columns(const T* x, T* y, std::int64_t rows, std::int64_t cols);

// value[r] = max_c x[r,c] and index[r] its first place; either may be null. A NaN counts as the largest value.
// Without columns: -inf and -1.
template <class T>
void max_rows(const T* x, T* value, std::int64_t* index, std::int64_t rows, std::int64_t cols);

}  // namespace heed::kernels
