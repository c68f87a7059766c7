// One update of a parameter by each optimiser, in one pass over memory. The formulas and their order are PyTorch's, so
// that a run can be compared step by step. Arrays have n elements; state arrays start at zero. `step` counts from 1.
#pragma once

#include <cstdint>

namespace heed::kernels {

// g += weight_decay p;  b = momentum b + (1 - dampening) g (b = g at step 1);  p -= lr (nesterov ? g + momentum b : b).
// `momentum_buffer` is not touched, and may be null, when momentum is 0: p -= lr g.
struct SgdStep {
  double lr, momentum, dampening, weight_decay;
  bool nesterov;
  std::int64_t step;
};
template <class T>
void sgd(const SgdStep& options, const T* grad, T* parameter, T* momentum_buffer, std::int64_t n);

// Adam; weight decay is added to the gradient, or (decoupled: AdamW) multiplies the parameter by 1 - lr weight_decay.
// m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;  amsgrad: u = max(u, v), else u = v;
// p -= lr / (1 - beta1^step) m / (sqrt(u) / sqrt(1 - beta2^step) + eps).  max_square may be null without amsgrad.
struct AdamStep {
  double lr, beta1, beta2, eps, weight_decay;
  bool decoupled, amsgrad;
  std::int64_t step;
};
template <class T>
void adam(const AdamStep& options, const T* grad, T* parameter, T* mean, T* square, T* max_square, std::int64_t n);

// g += weight_decay p;  s += g^2;  p -= lr / (1 + (step - 1) lr_decay) g / (sqrt(s) + eps)
struct AdagradStep {
  double lr, lr_decay, eps, weight_decay;
  std::int64_t step;
};
template <class T>
void adagrad(const AdagradStep& options, const T* grad, T* parameter, T* sum, std::int64_t n);

// g += weight_decay p;  s = alpha s + (1 - alpha) g^2;  centered: a = alpha a + (1 - alpha) g, d = sqrt(s - a^2) + eps,
// else d = sqrt(s) + eps;  momentum > 0: b = momentum b + g / d, p -= lr b, else p -= lr g / d. `average` may be null
// unless centered, `momentum_buffer` unless momentum > 0.
struct RmspropStep {
  double lr, alpha, eps, weight_decay, momentum;
  bool centered;
};
template <class T>
void rmsprop(const RmspropStep& options, const T* grad, T* parameter, T* square, T* average, T* momentum_buffer,
             std::int64_t n);

}  // namespace heed::kernels
