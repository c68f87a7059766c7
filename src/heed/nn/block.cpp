#include "heed/nn/block.h"

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"

namespace heed {
namespace {

BlockConfig checked(const BlockConfig& config) {
  HEED_CHECK(!config.parallel || (config.norm_place == NormPlace::pre && !config.cross),
             "[Block] a parallel block is pre-norm and has no cross-attention");
  return config;
}

// Cross-attention has separate projections, and positions only in its keys' own layers.
AttentionConfig cross_of(AttentionConfig config) {
  config.fused = false;
  config.rotary.reset();
  config.relative_reach = 0;
  config.distance_buckets = 0;
  config.transformer_xl = false;
  config.empty_memory = 0;
  return config;
}

}  // namespace

double BlockConfig::operations(const Offsets& offsets) const {
  const auto width = static_cast<double>(hidden_size);
  const auto inner =
      static_cast<double>(feed_forward.intermediate_size > 0 ? feed_forward.intermediate_size : 4 * hidden_size);
  const auto head = static_cast<double>(attention.head_size(hidden_size));
  const double queries = head * static_cast<double>(attention.heads),
               keys = head * static_cast<double>(attention.key_head_count());
  double pairs = 0;
  for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
    const auto length = static_cast<double>(offsets.length(b));
    pairs += length * length;
  }
  const double attentions = cross ? 2 : 1;
  const double weights = attentions * width * (2 * queries + 2 * keys) + (feed_forward.gated ? 3 : 2) * width * inner;
  return 2 * static_cast<double>(offsets.tokens()) * weights + attentions * 4 * pairs * queries;
}

Block::Norms::Norms(const BlockConfig& config) : norm(config.hidden_size, config.norm) {
  if (config.norm_place == NormPlace::sandwich) after.emplace(config.hidden_size, config.norm);
}

Block::Block(const BlockConfig& config)
    : config_(checked(config)),
      attention_(config.hidden_size, config.attention),
      attention_norms_(config),
      feed_forward_(config.hidden_size, config.feed_forward),
      feed_forward_norms_(config),
      dropout_(config.dropout) {
  if (!config.cross) return;
  cross_attention_.emplace(config.hidden_size, cross_of(config.attention));
  cross_norms_.emplace(config);
}

template <class Part>
Tensor Block::residual_step(const Tensor& x, const Norms& norms, const Context& context, const Part& part) const {
  const bool post = config_.norm_place == NormPlace::post;
  const Tensor input = post ? x : norms.norm.forward(x);
  const bool drops = context.is_training() && config_.dropout > 0;
  // Where nothing stands between, the residual is added inside the last product.
  if (!drops && !norms.after) return post ? norms.norm.forward(part(input, x)) : part(input, x);
  Tensor added = part(input, Tensor());
  if (norms.after) added = norms.after->forward(added);
  const Tensor sum = add(x, dropout_.forward(added, context));
  return post ? norms.norm.forward(sum) : sum;
}

KeysValues Block::project(const Packed& memory) const {
  HEED_CHECK(cross_attention_, "[Block] has no cross-attention for a memory");
  return cross_attention_->project(memory);
}

Tensor Block::cross_attend(const Packed& x, const Memory& memory, const Context& context) const {
  return residual_step(x.values, *cross_norms_, context, [&](const Tensor& in, const Tensor& residual) {
    const Packed queries(in, x.offsets);
    if (memory.cache) return cross_attention_->forward(queries, *memory.cache, memory.call, context, residual);
    return cross_attention_->forward(queries, memory.tokens, memory.call, context, residual);
  });
}

// What attention reads is normalised before it, and so is what it reads of earlier segments.
AttentionCall Block::with_norm(AttentionCall call, DType dtype) const {
  if (config_.norm_place == NormPlace::post) return call;
  const Norm& norm = attention_norms_.norm;
  if (config_.attention.empty_memory > 0)
    call.empty_state = norm.forward(Tensor::zeros({1, config_.hidden_size}, dtype));
  if (call.before.values.defined()) call.before.values = norm.forward(call.before.values);
  return call;
}

Tensor Block::forward(const Packed& x, const AttentionCall& call, const Context& context, const Memory* memory) const {
  HEED_CHECK((memory != nullptr) == config_.cross, "[Block] ",
             config_.cross ? "has cross-attention and needs a memory" : "has no cross-attention for a memory");
  const Context attention_context = context.child("attention");
  const AttentionCall own = with_norm(call, x.values.dtype());
  const auto attend = [&](const Tensor& in, const Tensor& residual) {
    return attention_.forward(Packed(in, x.offsets), own, attention_context, residual);
  };
  const Context feed_forward_context = context.child("feed_forward");
  const auto feed = [&](const Tensor& in, const Tensor& residual) {
    return feed_forward_.forward(in, feed_forward_context.child("inner"), residual);
  };
  Tensor y = residual_step(x.values, attention_norms_, attention_context, attend);
  if (memory) {
    y = cross_attend(Packed(y, x.offsets), *memory, context.child("cross_attention").in(Tap::Part::cross));
  }
  if (config_.parallel) {
    // The second part reads x too, and is added to what the first one made of it.
    const Tensor input = feed_forward_norms_.norm.forward(x.values);
    const bool drops = context.is_training() && config_.dropout > 0;
    y = drops ? add(y, dropout_.forward(feed(input, Tensor()), feed_forward_context)) : feed(input, y);
  } else {
    y = residual_step(y, feed_forward_norms_, feed_forward_context, feed);
  }
  context.tap(Tap::Kind::hidden, y);
  return y;
}

void Block::visit(Visitor& visitor) const {
  const auto visit_norms = [&](const std::string& part, const Norms& norms) {
    visitor.child(part + "_norm", norms.norm);
    if (norms.after) visitor.child(part + "_norm_after", *norms.after);
  };
  visitor.child("attention", attention_);
  visit_norms("attention", attention_norms_);
  if (cross_attention_) {
    visitor.child("cross_attention", *cross_attention_);
    visit_norms("cross", *cross_norms_);
  }
  visitor.child("feed_forward", feed_forward_);
  visit_norms("feed_forward", feed_forward_norms_);
}

}  // namespace heed
