// Sums. Every one has one order, fixed by the sizes: blocks or trees, never the number of threads, so that
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

}  // namespace heed::kernels
