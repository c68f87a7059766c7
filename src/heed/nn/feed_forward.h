// The feed-forward part of a block, with or without a gate.
//   plain: W_down activation(W_up x)      gated: W_down (activation(W_gate x) * W_up x), W_gate and W_up one product
#pragma once

#include <optional>

#include "heed/nn/layers.h"

namespace heed {

struct FeedForwardConfig {
  std::int64_t intermediate_size = 0;  // 0: 4 times the hidden size
  Activation activation = Activation::gelu;
  bool gated = false;
  bool bias = true;
  double dropout = 0;  // of what the activation gives, in training
};

class FeedForward : public Module {
 public:
  FeedForward(std::int64_t hidden_size, const FeedForwardConfig& config);
  // [N, C] to [N, C], + residual.
  Tensor forward(const Tensor& x, const Context& context, const Tensor& residual = Tensor()) const;
  void visit(Visitor& visitor) const override;

 private:
  Activation activation_;
  bool gated_;
  double dropout_;
  Linear up_, down_;  // gated: up_ has the rows of W_gate, then those of W_up
};

}  // namespace heed
