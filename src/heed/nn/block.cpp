#include "heed/nn/block.h"

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"

namespace heed {
namespace {

BlockConfig completed(BlockConfig config) {
  if (config.inner == 0) config.inner = 4 * config.width;
  return config;
}

AttentionConfig attention_of(const BlockConfig& config, bool fused) {
  return {.width = config.width,
          .heads = config.heads,
          .key_heads = config.key_heads,
          .fused = fused,
          .bias = config.bias,
          .attention_dropout = config.attention_dropout,
          .relative_reach = fused ? config.relative_reach : 0,  // fused: the self-attention
          .relative_queries = config.relative_queries};
}

}  // namespace

GatedFeedForward::GatedFeedForward(std::int64_t width, std::int64_t inner, Activation activation, bool bias)
    : gate_(width, inner, bias), up_(width, inner, bias), down_(inner, width, bias), activation_(activation) {}

Tensor GatedFeedForward::forward(const Tensor& x, const Tensor& residual) const {
  return down_.forward(multiply(gate_.forward(x, activation_), up_.forward(x)), Activation::none, residual);
}

void GatedFeedForward::visit(Visitor& visitor) {
  visitor.child("gate", gate_);
  visitor.child("up", up_);
  visitor.child("down", down_);
}

Block::Block(const BlockConfig& config)
    : config_(completed(config)),
      attention_(attention_of(config_, true)),
      attention_norm_(config_.width, config_.norm, config_.epsilon),
      feed_forward_norm_(config_.width, config_.norm, config_.epsilon),
      dropout_(config_.dropout) {
  if (config_.cross) {
    cross_attention_.emplace(attention_of(config_, false));
    cross_norm_.emplace(config_.width, config_.norm, config_.epsilon);
  }
  if (config_.gated) {
    gated_feed_forward_.emplace(config_.width, config_.inner, config_.activation, config_.bias);
  } else {
    HEED_CHECK(config_.bias, "[Block] a plain feed-forward layer has biases; bias = false needs gated = true");
    feed_forward_.emplace(config_.width, config_.inner, config_.activation);
  }
}

template <class Part>
Tensor Block::residual_step(const Tensor& x, const Norm& norm, const Context& context, const Part& part) const {
  const Tensor input = config_.pre_norm ? norm.forward(x) : x;
  const bool drops = context.is_training() && config_.dropout > 0;
  // Without dropout the residual is added inside the last product.
  const Tensor sum = drops ? add(x, dropout_.forward(part(input, Tensor()), context)) : part(input, x);
  return config_.pre_norm ? sum : norm.forward(sum);
}

KeysValues Block::project(const Packed& memory) const {
  HEED_CHECK(config_.cross, "[Block] has no cross-attention for a memory");
  return cross_attention_->project(memory);
}

Tensor Block::forward(const Packed& x, const AttentionCall& call, const Context& context, const Memory* memory,
                      std::size_t layer) const {
  HEED_CHECK((memory != nullptr) == config_.cross, "[Block] ",
             config_.cross ? "has cross-attention and needs a memory" : "has no cross-attention for a memory");
  const Context attention_context = context.child("attention");
  Tensor y = residual_step(x.values, attention_norm_, attention_context, [&](const Tensor& in, const Tensor& residual) {
    return attention_.forward(Packed(in, x.offsets), call, attention_context, residual);
  });
  if (memory) {
    const Context cross_context = context.child("cross_attention");
    y = residual_step(y, *cross_norm_, cross_context, [&](const Tensor& in, const Tensor& residual) {
      const Packed queries(in, x.offsets);
      if (memory->projected.empty()) {
        return cross_attention_->forward(queries, memory->tokens, memory->call, cross_context, residual);
      }
      return cross_attention_->forward(queries, memory->projected.at(layer), memory->call, cross_context, residual);
    });
  }
  const Context feed_forward_context = context.child("feed_forward");
  y = residual_step(y, feed_forward_norm_, feed_forward_context, [&](const Tensor& in, const Tensor& residual) {
    return feed_forward_ ? feed_forward_->forward(in, residual) : gated_feed_forward_->forward(in, residual);
  });
  context.tap("output", y);
  return y;
}

void Block::visit(Visitor& visitor) {
  visitor.child("attention", attention_);
  visitor.child("attention_norm", attention_norm_);
  if (cross_attention_) {
    visitor.child("cross_attention", *cross_attention_);
    visitor.child("cross_norm", *cross_norm_);
  }
  if (feed_forward_) {
    visitor.child("feed_forward", *feed_forward_);
  } else {
    visitor.child("feed_forward", *gated_feed_forward_);
  }
  visitor.child("feed_forward_norm", feed_forward_norm_);
}

}  // namespace heed
