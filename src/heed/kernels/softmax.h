// Softmax, log-softmax and log-sum-exp over the rows of [rows, cols], and the gradients of the first two.
//
// All matrices of a call have the same distance `stride` >= cols between their rows; the output may be any of the
// inputs. Rows are shifted by their maximum first, so nothing overflows. Three rules keep NaN out where the input has
// none:
//   a row without entries, or all -inf:   softmax 0, log_softmax -inf, log_sum_exp -inf
//   k entries +inf:                       those get 1/k (log_softmax -log k), the others 0 (-inf); log_sum_exp +inf
// A NaN makes its row NaN.
#pragma once

#include <cstdint>

namespace heed::kernels {

// y[r,c] = exp(x[r,c]) / sum_j exp(x[r,j])
template <class T>
void softmax(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t stride);

// y[r,c] = x[r,c] - log sum_j exp(x[r,j])
template <class T>
void log_softmax(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t stride);

// y[r] = log sum_j exp(x[r,j]); y [rows]
template <class T>
void log_sum_exp(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t stride);

// dx[r,c] = y[r,c] (dy[r,c] - sum_j y[r,j] dy[r,j]), y the softmax
template <class T>
void softmax_backward(const T* y, const T* dy, T* dx, std::int64_t rows, std::int64_t cols, std::int64_t stride);

// dx[r,c] = dy[r,c] - exp(y[r,c]) sum_j dy[r,j], y the log-softmax
template <class T>
void log_softmax_backward(const T* y, const T* dy, T* dx, std::int64_t rows, std::int64_t cols, std::int64_t stride);

}  // namespace heed::kernels
