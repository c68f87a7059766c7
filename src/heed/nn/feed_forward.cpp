#include "heed/nn/feed_forward.h"

#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/shape_ops.h"

namespace heed {
namespace {

std::int64_t intermediate(std::int64_t hidden_size, const FeedForwardConfig& config) {
  return config.intermediate_size > 0 ? config.intermediate_size : 4 * hidden_size;
}

}  // namespace

FeedForward::FeedForward(std::int64_t hidden_size, const FeedForwardConfig& config)
    : activation_(config.activation),
      gated_(config.gated),
      up_(hidden_size, (config.gated ? 2 : 1) * intermediate(hidden_size, config), config.bias),
      down_(intermediate(hidden_size, config), hidden_size, config.bias) {}

Tensor FeedForward::forward(const Tensor& x, const Tensor& residual) const {
  if (!gated_) return feed_forward(x, up_.weight, up_.bias, activation_, down_.weight, down_.bias, residual);
  const std::int64_t inner = down_.weight.in();
  const std::vector<Tensor> parts = split(up_.forward(x), -1, std::vector<std::int64_t>{inner, inner});
  return down_.forward(multiply(activate(parts[0], activation_), parts[1]), Activation::none, residual);
}

void FeedForward::visit(Visitor& visitor) const {
  visitor.child(gated_ ? "gate_up" : "up", up_);
  visitor.child("down", down_);
}

}  // namespace heed
