#include "heed/nn/attention.h"

#include "heed/attention/positions.h"
#include "heed/attention/relative_terms.h"
#include "heed/base/error.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

AttentionConfig completed(AttentionConfig config, std::int64_t hidden_size) {
  HEED_CHECK(config.heads > 0 && hidden_size > 0, "[MultiHeadAttention] hidden size ", hidden_size, " and ",
             config.heads, " heads");
  HEED_CHECK(config.head_dim > 0 || hidden_size % config.heads == 0, "[MultiHeadAttention] hidden size ", hidden_size,
             " is not a multiple of ", config.heads, " heads");
  config.head_dim = config.head_size(hidden_size);
  config.key_heads = config.key_head_count();
  HEED_CHECK(config.key_heads > 0 && config.heads % config.key_heads == 0, "[MultiHeadAttention] ", config.heads,
             " heads are not a multiple of ", config.key_heads, " key heads");
  if (config.memory_size == 0) config.memory_size = hidden_size;
  HEED_CHECK(!config.fused || (config.query_bias == config.key_bias && config.key_bias == config.value_bias),
             "[MultiHeadAttention] a fused projection has all three biases or none; fused = false allows others");
  HEED_CHECK(config.dropout >= 0 && config.dropout < 1, "[MultiHeadAttention] dropout ", config.dropout,
             ", expected 0 <= p < 1");
  return config;
}

// Attends by run(summary) and hands the probe its summaries, and the weights that it wants. input() is what is attended
// to, with q and k.
template <class Run, class Input>
Tensor watched(const Context& context, const Run& run, const Input& input) {
  if (!context.is_watched()) return run(static_cast<AttentionSummary*>(nullptr));
  AttentionSummary summary;
  const Tensor attended = run(&summary);
  const AttentionInput seen = input();
  for (std::int64_t b = 0; b < seen.queries.sequences(); ++b) {
    for (std::int64_t head = 0; head < seen.q.size(1); ++head) {
      context.tap_weights(b, head,
                          [&] { return attention_rows(seen, summary.log_sum, b, head, 0, seen.queries.length(b)); });
    }
  }
  context.tap(Tap::Kind::entropy, summary.entropy);
  context.tap(Tap::Kind::maximum, summary.maximum);
  context.tap(Tap::Kind::link_keys, summary.link_keys);
  context.tap(Tap::Kind::link_weights, summary.link_weights);
  return attended;
}

}  // namespace

RotaryTable rotary_table(const RotaryOptions& options, std::int64_t head_dim, const Offsets& offsets,
                         const KeyValueCache* cache, DType dtype) {
  // A cache that is empty gets its sequences with this step.
  const bool begun = cache && cache->sequences() > 0;
  const Tensor positions = begun ? position_ids(offsets, cache->lengths()) : position_ids(offsets);
  std::vector<std::int64_t> lengths;
  if (options.scaling.depends_on_length()) {
    for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
      const std::int64_t length = (begun ? cache->length(b) : 0) + offsets.length(b);
      lengths.insert(lengths.end(), static_cast<std::size_t>(offsets.length(b)), length);
    }
  }
  return rotary_table(positions, head_dim, options, dtype, lengths);
}

MultiHeadAttention::MultiHeadAttention(std::int64_t hidden_size, const AttentionConfig& config)
    : hidden_size_(hidden_size),
      config_(completed(config, hidden_size)),
      output_(config_.heads * config_.head_dim, hidden_size, config_.output_bias) {
  const std::int64_t queries = config_.heads * config_.head_dim, keys = config_.key_heads * config_.head_dim;
  if (config_.fused) {
    query_key_value_.emplace(hidden_size, queries + 2 * keys, config_.query_bias);
  } else {
    query_.emplace(hidden_size, queries, config_.query_bias);
    key_.emplace(config_.memory_size, keys, config_.key_bias);
    value_.emplace(config_.memory_size, keys, config_.value_bias);
  }
  if (config_.query_key_norm) {
    query_norm_.emplace(config_.head_dim, *config_.query_key_norm);
    key_norm_.emplace(config_.head_dim, *config_.query_key_norm);
  }
  if (config_.transformer_xl) {
    position_.emplace(hidden_size, queries, false);
    content_bias_ = Tensor::zeros({config_.heads, config_.head_dim});
    position_bias_ = Tensor::zeros({config_.heads, config_.head_dim});
  }
  if (config_.relative_reach > 0) distance_ = Tensor::zeros({2 * config_.relative_reach + 1, config_.head_dim});
}

void MultiHeadAttention::add_relative_terms(std::vector<Term>& terms, const Tensor& q, const Tensor& k) const {
  if (!distance_.defined()) return;
  terms.push_back(relative_key_term(q, distance_));
  if (config_.relative_queries) terms.push_back(relative_query_term(k, distance_));
}

Tensor MultiHeadAttention::split_heads(const Tensor& x, std::int64_t heads) const {
  return reshape(x, {x.size(0), heads, config_.head_dim});
}

Tensor MultiHeadAttention::project_out(const Tensor& attended, const Context& context, const Tensor& residual) const {
  const Tensor joined = reshape(attended, {attended.size(0), config_.heads * config_.head_dim});
  const Tensor y = output_.forward(joined, Activation::none, residual);
  context.tap(Tap::Kind::attention_output, y);
  return y;
}

std::optional<AttentionDropout> MultiHeadAttention::weight_dropout(const Context& context) const {
  if (!context.is_training() || config_.dropout == 0) return {};
  return AttentionDropout{config_.dropout, context.child("weights").dropout_key()};
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
  AttentionInput input{
      .queries = x.offsets, .keys = x.offsets, .scale = config_.scale, .mask = call.mask, .terms = call.terms};
  const bool in_place =
      config_.fused && !call.cache && !config_.rotary && !query_norm_ && !position_ && !distance_.defined();
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
    const std::int64_t queries = config_.heads * config_.head_dim, keys = config_.key_heads * config_.head_dim;
    const auto parts = split(query_key_value_->forward(x.values), 1, std::vector<std::int64_t>{queries, keys, keys});
    input.q = parts[0], input.k = parts[1], input.v = parts[2];
  } else {
    HEED_CHECK(config_.memory_size == hidden_size_, "[MultiHeadAttention] self-attention over tokens of size ",
               hidden_size_, ", keys are projected from ", config_.memory_size);
    input.q = query_->forward(x.values), input.k = key_->forward(x.values), input.v = value_->forward(x.values);
  }
  const RotaryTable table =
      config_.rotary && !call.rotary.cosines.defined()
          ? rotary_table(*config_.rotary, config_.head_dim, x.offsets, call.cache, x.values.dtype())
          : call.rotary;
  input.q = turned(normalized(split_heads(input.q, config_.heads), query_norm_), table);
  input.k = turned(normalized(split_heads(input.k, config_.key_heads), key_norm_), table);
  input.v = split_heads(input.v, config_.key_heads);
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
  return {normalized(split_heads(key_->forward(memory.values), config_.key_heads), key_norm_),
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
  HEED_CHECK(!config_.rotary, "[MultiHeadAttention] rotary positions are for self-attention");
  return attended({.q = normalized(split_heads(query_->forward(x.values), config_.heads), query_norm_),
                   .k = memory.keys,
                   .v = memory.values,
                   .queries = x.offsets,
                   .keys = memory.offsets,
                   .scale = config_.scale,
                   .mask = call.mask,
                   .terms = call.terms},
                  context, residual);
}

void MultiHeadAttention::visit(Visitor& visitor) const {
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
  if (query_norm_) {
    visitor.child("query_norm", *query_norm_);
    visitor.child("key_norm", *key_norm_);
  }
  visitor.child("output", output_);
}

}  // namespace heed
