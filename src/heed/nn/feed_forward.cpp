#include "heed/nn/feed_forward.h"

#include "heed/ops/elementwise.h"

namespace heed {
namespace {

std::int64_t intermediate(std::int64_t hidden_size, const FeedForwardConfig& config) {
  return config.intermediate_size > 0 ? config.intermediate_size : 4 * hidden_size;
}

}  // namespace

FeedForward::FeedForward(std::int64_t hidden_size, const FeedForwardConfig& config)
    : activation_(config.activation),
      up_(hidden_size, intermediate(hidden_size, config), config.bias),
      down_(intermediate(hidden_size, config), hidden_size, config.bias) {
  if (config.gated) gate_.emplace(hidden_size, intermediate(hidden_size, config), config.bias);
}

Tensor FeedForward::forward(const Tensor& x, const Tensor& residual) const {
  if (!gate_) return feed_forward(x, up_.weight, up_.bias, activation_, down_.weight, down_.bias, residual);
  return down_.forward(multiply(gate_->forward(x, activation_), up_.forward(x)), Activation::none, residual);
}

void FeedForward::visit(Visitor& visitor) {
  if (gate_) visitor.child("gate", *gate_);
  visitor.child("up", up_);
  visitor.child("down", down_);
}

}  // namespace heed
