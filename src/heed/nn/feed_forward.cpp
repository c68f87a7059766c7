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
      dropout_(config.dropout),
      up_(hidden_size, (config.gated ? 2 : 1) * intermediate(hidden_size, config), config.bias),
      down_(intermediate(hidden_size, config), hidden_size, config.bias) {}

Tensor FeedForward::forward(const Tensor& x, const Context& context, const Tensor& residual) const {
  const bool drops = context.is_training() && dropout_ > 0;
  if (!gated_ && !drops) return feed_forward(x, up_.weight, up_.bias, activation_, down_.weight, down_.bias, residual);
  Tensor y = up_.forward(x, gated_ ? Activation::none : activation_);
  if (gated_) {
    const std::int64_t inner = down_.weight.in();
    const std::vector<Tensor> parts = split(y, -1, std::vector<std::int64_t>{inner, inner});
    y = multiply(activate(parts[0], activation_), parts[1]);
  }
  if (drops) y = dropout(y, dropout_, context.dropout_key());
  return down_.forward(y, Activation::none, residual);
}

void FeedForward::visit(Visitor& visitor) const {
  visitor.child(gated_ ? "gate_up" : "up", up_);
  visitor.child("down", down_);
}

}  // namespace heed
