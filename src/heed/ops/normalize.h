// Softmax and normalisation over the last axis.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

// Rows of the last axis sum to 1; a row of nothing but -inf gives zeros.
Tensor softmax(const Tensor& x);
Tensor log_softmax(const Tensor& x);

// (x - mean) / sqrt(variance + epsilon) * gamma + beta over the last axis; gamma, beta [width] or undefined.
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon);
// x / sqrt(mean of squares + epsilon) * gamma; gamma [width] or undefined.
Tensor rms_norm(const Tensor& x, const Tensor& gamma, double epsilon);

// The residual step of a block in one pass: sum = x + residual and its norm; the same bits as add() and layer_norm().
struct ResidualNorm {
  Tensor sum, normalized;
};
ResidualNorm add_layer_norm(const Tensor& x, const Tensor& residual, const Tensor& gamma, const Tensor& beta,
                            double epsilon);
ResidualNorm add_rms_norm(const Tensor& x, const Tensor& residual, const Tensor& gamma, double epsilon);

}  // namespace heed
