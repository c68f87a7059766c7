#include "heed/nn/attention.h"

#include "heed/attention/relative_terms.h"
#include "heed/base/error.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

AttentionConfig completed(AttentionConfig config) {
  HEED_CHECK(config.heads > 0 && config.width > 0, "[MultiHeadAttention] width ", config.width, " and ", config.heads,
             " heads");
  if (config.key_heads == 0) config.key_heads = config.heads;
  HEED_CHECK(config.head_width > 0 || config.width % config.heads == 0, "[MultiHeadAttention] width ", config.width,
             " is not a multiple of ", config.heads, " heads");
  HEED_CHECK(config.key_heads > 0 && config.heads % config.key_heads == 0, "[MultiHeadAttention] ", config.heads,
             " heads are not a multiple of ", config.key_heads, " key heads");
  if (config.head_width == 0) config.head_width = config.width / config.heads;
  if (config.memory_width == 0) config.memory_width = config.width;
  HEED_CHECK(config.attention_dropout >= 0 && config.attention_dropout < 1, "[MultiHeadAttention] attention dropout ",
             config.attention_dropout, ", expected 0 <= p < 1");
  return config;
}

// The attention of each sequence and head in full, one matrix at a time.
void tap_weights(const AttentionInput& input, const AttentionSummary& summary, const Context& context) {
  for (std::int64_t b = 0; b < input.queries.sequences(); ++b) {
    for (std::int64_t head = 0; head < input.q.size(1); ++head) {
      const std::string name = "weights." + std::to_string(b) + "." + std::to_string(head);
      if (context.wants(name)) {
        context.tap(name, attention_rows(input, summary.log_sum, b, head, 0, input.queries.length(b)));
      }
    }
  }
}

// Attends by run(summary) and hands the probe its summaries. input() is what is attended to, with q and k.
template <class Run, class Input>
Tensor watched(const Context& context, const Run& run, const Input& input) {
  if (!context.is_watched()) return run(static_cast<AttentionSummary*>(nullptr));
  AttentionSummary summary;
  const Tensor attended = run(&summary);
  tap_weights(input(), summary, context);
  context.tap("entropy", summary.entropy);
  context.tap("maximum", summary.maximum);
  context.tap("link_keys", summary.link_keys);
  context.tap("link_weights", summary.link_weights);
  return attended;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const AttentionConfig& config)
    : config_(completed(config)), output_(config_.heads * config_.head_width, config_.width, config_.bias) {
  const std::int64_t queries = config_.heads * config_.head_width, keys = config_.key_heads * config_.head_width;
  if (config_.fused) {
    query_key_value_.emplace(config_.width, queries + 2 * keys, config_.bias);
  } else {
    query_.emplace(config_.width, queries, config_.bias);
    key_.emplace(config_.memory_width, keys, config_.bias);
    value_.emplace(config_.memory_width, keys, config_.bias);
  }
  if (config_.transformer_xl) {
    position_.emplace(config_.width, queries, false);
    content_bias_ = Tensor::zeros({config_.heads, config_.head_width});
    position_bias_ = Tensor::zeros({config_.heads, config_.head_width});
  }
  if (config_.relative_reach > 0) distance_ = Tensor::zeros({2 * config_.relative_reach + 1, config_.head_width});
}

void MultiHeadAttention::add_relative_terms(std::vector<Term>& terms, const Tensor& q, const Tensor& k) const {
  if (!distance_.defined()) return;
  terms.push_back(relative_key_term(q, distance_));
  if (config_.relative_queries) terms.push_back(relative_query_term(k, distance_));
}

Tensor MultiHeadAttention::split_heads(const Tensor& x, std::int64_t heads) const {
  return reshape(x, {x.size(0), heads, config_.head_width});
}

Tensor MultiHeadAttention::project_out(const Tensor& attended, const Context& context, const Tensor& residual) const {
  const Tensor joined = reshape(attended, {attended.size(0), config_.heads * config_.head_width});
  const Tensor y = output_.forward(joined, Activation::none, residual);
  context.tap("output", y);
  return y;
}

std::optional<AttentionDropout> MultiHeadAttention::weight_dropout(const Context& context) const {
  if (!context.is_training() || config_.attention_dropout == 0) return {};
  return AttentionDropout{config_.attention_dropout, context.child("weights").dropout_key()};
}

Tensor MultiHeadAttention::attended(AttentionInput input, const Context& context, const Tensor& residual) const {
  input.dropout = weight_dropout(context);
  if (position_) {
    input = with_transformer_xl_positions(std::move(input), {position_->weight, content_bias_, position_bias_});
  }
  return project_out(
      watched(
          context, [&](AttentionSummary* summary) { return attend(input, summary); }, [&] { return input; }),
      context, residual);
}

Tensor MultiHeadAttention::forward(const Packed& x, const AttentionCall& call, const Context& context,
                                   const Tensor& residual) const {
  AttentionInput input{.queries = x.offsets, .keys = x.offsets, .mask = call.mask, .terms = call.terms};
  const bool in_place =
      config_.fused && !call.cache && !call.rotate_queries && !call.rotate_keys && !position_ && !distance_.defined();
  if (in_place) {
    input.dropout = weight_dropout(context);
    const Tensor qkv = query_key_value_->forward(x.values);
    return project_out(watched(
                           context,
                           [&](AttentionSummary* summary) {
                             return attend_fused(qkv, config_.heads, config_.key_heads, input, summary);
                           },
                           [&] { return with_fused(input, qkv, config_.heads, config_.key_heads); }),
                       context, residual);
  }
  if (config_.fused) {
    const std::int64_t queries = config_.heads * config_.head_width, keys = config_.key_heads * config_.head_width;
    const auto parts = split(query_key_value_->forward(x.values), 1, std::vector<std::int64_t>{queries, keys, keys});
    input.q = parts[0], input.k = parts[1], input.v = parts[2];
  } else {
    HEED_CHECK(config_.memory_width == config_.width, "[MultiHeadAttention] self-attention over tokens of width ",
               config_.width, ", keys are projected from ", config_.memory_width);
    input.q = query_->forward(x.values), input.k = key_->forward(x.values), input.v = value_->forward(x.values);
  }
  input.q = split_heads(input.q, config_.heads);
  input.k = split_heads(input.k, config_.key_heads);
  input.v = split_heads(input.v, config_.key_heads);
  if (call.rotate_queries) input.q = call.rotate_queries(input.q);
  if (call.rotate_keys) input.k = call.rotate_keys(input.k);
  if (call.cache) {
    HEED_CHECK(!grad_enabled() || !input.k.requires_grad(),
               "[MultiHeadAttention] a cache keeps no gradients: use NoGrad");
    call.cache->append(input.k, input.v, x.offsets);
    // Relative queries need all keys as a tensor; everything else reads them in place.
    add_relative_terms(input.terms, input.q, config_.relative_queries ? call.cache->keys() : Tensor());
    input.cache = call.cache, input.keys = call.cache->offsets();
    input.k = input.v = Tensor();
  } else {
    add_relative_terms(input.terms, input.q, input.k);
  }
  return attended(std::move(input), context, residual);
}

KeysValues MultiHeadAttention::project(const Packed& memory) const {
  HEED_CHECK(!config_.fused, "[MultiHeadAttention] cross-attention needs separate projections (fused = false)");
  return {split_heads(key_->forward(memory.values), config_.key_heads),
          split_heads(value_->forward(memory.values), config_.key_heads), memory.offsets};
}

Tensor MultiHeadAttention::forward(const Packed& x, const Packed& memory, const AttentionCall& call,
                                   const Context& context, const Tensor& residual) const {
  return forward(x, project(memory), call, context, residual);
}

Tensor MultiHeadAttention::forward(const Packed& x, const KeysValues& memory, const AttentionCall& call,
                                   const Context& context, const Tensor& residual) const {
  HEED_CHECK(!config_.fused, "[MultiHeadAttention] cross-attention needs separate projections (fused = false)");
  HEED_CHECK(!call.cache, "[MultiHeadAttention] a cache is for self-attention");
  return attended({.q = split_heads(query_->forward(x.values), config_.heads),
                   .k = memory.keys,
                   .v = memory.values,
                   .queries = x.offsets,
                   .keys = memory.offsets,
                   .mask = call.mask,
                   .terms = call.terms},
                  context, residual);
}

void MultiHeadAttention::visit(Visitor& visitor) {
  if (query_key_value_) {
    visitor.child("query_key_value", *query_key_value_);
  } else {
    visitor.child("query", *query_);
    visitor.child("key", *key_);
    visitor.child("value", *value_);
  }
  if (position_) {
    visitor.child("position", *position_);
    visitor.parameter("content_bias", content_bias_, Initializer::zeros());
    visitor.parameter("position_bias", position_bias_, Initializer::zeros());
  }
  visitor.parameter("distance", distance_, Initializer::normal(0.02));
  visitor.child("output", output_);
}

}  // namespace heed
