// Losses. All return a scalar (shape []) unless the reduction is none; sums run in f64.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

enum class Reduction { mean, sum, none };

struct CrossEntropyOptions {
  std::int64_t ignore_index = -100;  // targets of this value do not count
  double label_smoothing = 0;        // share of the target spread evenly over all classes
  Tensor class_weights{};            // [classes] or undefined
  Reduction reduction = Reduction::mean;
};

// logits [N, classes], targets [N] (i32 or i64). The mean divides by the weights of the targets that count; where none
// counts the loss is 0 and so are the gradients.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options = {});

// Binary cross-entropy of sigmoid(logits) against targets in [0, 1] of the same shape.
Tensor binary_cross_entropy(const Tensor& logits, const Tensor& targets, Reduction reduction = Reduction::mean);

// (prediction - target)^2 of equal shapes. Both may require gradients.
Tensor mean_squared_error(const Tensor& prediction, const Tensor& target, Reduction reduction = Reduction::mean);

}  // namespace heed
