// Layer norm and RMS norm over the rows of contiguous [rows, cols] matrices, their gradients, and both fused with the
// residual sum before them: those give the same bits as the addition followed by the norm.
//
// gamma and beta [cols] may be null (1 and 0). mean and rstd [rows] receive what the backward pass needs; null: not
// kept. y may be x (or s). The variance is taken from a second pass over the centred row. Backward adds to dgamma and
// dbeta (null: not wanted), row by row in fixed blocks, whatever the number of threads; dx is overwritten and may be
// dy.
#pragma once

#include <cstdint>

namespace heed::kernels {

struct RowShape {
  std::int64_t rows, cols;
};

// y = (x - mean) * rstd * gamma + beta, rstd = 1 / sqrt(variance + eps)
template <class T>
void layer_norm(const T* x, const T* gamma, const T* beta, double eps, T* y, T* mean, T* rstd, RowShape shape);

// s = x + residual (s may be either), y = layer_norm(s)
template <class T>
void add_layer_norm(const T* x, const T* residual, const T* gamma, const T* beta, double eps, T* s, T* y, T* mean,
                    T* rstd, RowShape shape);

// With h = dy * gamma and n = (x - mean) * rstd: dx = rstd (h - mean(h) - n mean(h n)), dgamma += sum_r dy n,
// dbeta += sum_r dy. x is what the norm saw (s of the fused form).
template <class T>
void layer_norm_backward(const T* x, const T* gamma, const T* dy, const T* mean, const T* rstd, T* dx, T* dgamma,
                         T* dbeta, RowShape shape);

// y = x * rstd * gamma, rstd = 1 / sqrt(mean(x^2) + eps)
template <class T>
void rms_norm(const T* x, const T* gamma, double eps, T* y, T* rstd, RowShape shape);

// s = x + residual, y = rms_norm(s)
template <class T>
void add_rms_norm(const T* x, const T* residual, const T* gamma, double eps, T* s, T* y, T* rstd, RowShape shape);

// With h = dy * gamma and n = x * rstd: dx = rstd (h - n mean(h n)), dgamma += sum_r dy n
template <class T>
void rms_norm_backward(const T* x, const T* gamma, const T* dy, const T* rstd, T* dx, T* dgamma, RowShape shape);

}  // namespace heed::kernels
