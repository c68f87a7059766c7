#include "heed/nn/attention.h"

#include <algorithm>

#include "heed/attention/positions.h"
#include "heed/attention/scores.h"
#include "heed/base/error.h"
#include "heed/ops/gather.h"
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
  HEED_CHECK(config.position_reach >= 0 && config.empty_memory >= 0, "[MultiHeadAttention] position_reach ",
             config.position_reach, " and empty_memory ", config.empty_memory, ", expected at least 0");
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
                         const KeyValueCache* cache, DType dtype, std::span<const std::int64_t> lengths_to_come) {
  // A cache that is empty gets its sequences with this step.
  const bool begun = cache && cache->sequences() > 0;
  const Tensor positions = begun ? position_ids(offsets, cache->lengths()) : position_ids(offsets);
  std::vector<std::int64_t> lengths;
  if (options.scaling.depends_on_length()) {
    for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
      const std::int64_t to_come = b < std::ssize(lengths_to_come) ? lengths_to_come[static_cast<std::size_t>(b)] : 0;
      const std::int64_t length = std::max((begun ? cache->length(b) : 0) + offsets.length(b), to_come);
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
  if (config_.distance_buckets > 0) distance_bias_ = Tensor::zeros({config_.distance_buckets, config_.heads});
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

Tensor MultiHeadAttention::position_table(const Tensor& codes) const {
  HEED_CHECK(position_, "[MultiHeadAttention] has no positions of Transformer-XL");
  return distance_table(codes, position_->weight, config_.heads);
}

void MultiHeadAttention::tie_position_biases(const MultiHeadAttention& other) {
  const auto shape = [](const Tensor& bias) { return bias.defined() ? bias.shape() : Shape({0}); };
  const bool alike = shape(content_bias_) == shape(other.content_bias_) &&
                     shape(distance_bias_) == shape(other.distance_bias_) &&
                     (content_bias_.defined() || distance_bias_.defined());
  HEED_CHECK(alike, "[MultiHeadAttention] position biases ", shape(content_bias_), " and ", shape(distance_bias_),
             " tied to ", shape(other.content_bias_), " and ", shape(other.distance_bias_));
  content_bias_ = other.content_bias_;
  position_bias_ = other.position_bias_;
  distance_bias_ = other.distance_bias_;
}

Tensor MultiHeadAttention::attended(AttentionInput input, const AttentionCall& call, const Context& context,
                                    const Tensor& residual) const {
  input.dropout = weight_dropout(context);
  if (position_) {
    Tensor table = call.position_table;
    if (!table.defined()) {
      const bool given = call.codes.defined();
      const std::int64_t reach = config_.reach(input.keys.longest());
      table = position_table(given ? call.codes : distance_codes(reach, hidden_size_, input.q.dtype()));
    }
    input = with_transformer_xl_positions(std::move(input), {table, content_bias_, position_bias_});
  }
  return project_out(
      watched(
          context, [&](AttentionSummary* summary) { return attend(input, summary); }, [&] { return input; }),
      context, residual);
}

MultiHeadAttention::KeyTokens MultiHeadAttention::key_tokens(const Packed& x, const AttentionCall& call) const {
  const bool has_before = call.before.values.defined();
  HEED_CHECK(!has_before || (!call.cache && call.before.offsets.sequences() == x.offsets.sequences()),
             "[MultiHeadAttention] ", call.before.offsets.sequences(), " sequences of earlier states for ",
             x.offsets.sequences(), call.cache ? ", beside a cache" : "");
  HEED_CHECK(!config_.rotary, "[MultiHeadAttention] rotary positions and earlier states");
  std::vector<Tensor> parts;
  if (config_.empty_memory > 0) {
    const bool given = call.empty_state.defined();
    parts.push_back(given ? call.empty_state : Tensor::zeros({1, hidden_size_}, x.values.dtype()));
  }
  const std::int64_t first_before = std::ssize(parts);
  if (has_before) parts.push_back(call.before.values);
  parts.push_back(x.values);
  const std::int64_t first_x = first_before + (has_before ? call.before.values.size(0) : 0);
  std::vector<std::int64_t> rows, lengths;
  for (std::int64_t b = 0; b < x.offsets.sequences(); ++b) {
    const std::size_t begin = rows.size();
    const bool begun = call.cache && call.cache->sequences() > 0 && call.cache->length(b) > 0;
    const std::int64_t remembered = has_before ? call.before.offsets.length(b) : 0;
    const std::int64_t empty = begun ? 0 : std::max<std::int64_t>(0, config_.empty_memory - remembered);
    rows.insert(rows.end(), static_cast<std::size_t>(empty), 0);
    for (std::int64_t i = 0; i < remembered; ++i) rows.push_back(first_before + call.before.offsets.begin(b) + i);
    for (std::int64_t i = x.offsets.begin(b); i < x.offsets.end(b); ++i) rows.push_back(first_x + i);
    lengths.push_back(static_cast<std::int64_t>(rows.size() - begin));
  }
  return {concat(parts, 0), Tensor::from(rows, {std::ssize(rows)}), Offsets(lengths)};
}

void MultiHeadAttention::project_tokens(AttentionInput& input, const Packed& x, const AttentionCall& call) const {
  const bool remembers = config_.empty_memory > 0 || call.before.values.defined();
  const KeyTokens keys = remembers ? key_tokens(x, call) : KeyTokens{x.values, Tensor(), x.offsets};
  input.keys = keys.offsets;
  if (config_.fused) {
    const std::int64_t queries = config_.heads * config_.head_dim, each = config_.key_heads * config_.head_dim;
    const auto parts = split(query_key_value_->forward(keys.values), 1, std::vector<std::int64_t>{queries, each, each});
    const std::int64_t tokens = keys.values.size(0);
    input.q = remembers ? slice(parts[0], 0, tokens - x.values.size(0), tokens) : parts[0];
    input.k = parts[1], input.v = parts[2];
  } else {
    HEED_CHECK(config_.memory_size == hidden_size_, "[MultiHeadAttention] self-attention over tokens of size ",
               hidden_size_, ", keys are projected from ", config_.memory_size);
    input.q = query_->forward(x.values), input.k = key_->forward(keys.values), input.v = value_->forward(keys.values);
  }
  if (!remembers) return;
  input.k = take_rows(input.k, keys.rows);
  input.v = take_rows(input.v, keys.rows);
}

Tensor MultiHeadAttention::forward(const Packed& x, const AttentionCall& call, const Context& context,
                                   const Tensor& residual) const {
  AttentionInput input{.queries = x.offsets,
                       .keys = x.offsets,
                       .scale = call.scale ? call.scale : config_.scale,
                       .mask = call.mask,
                       .terms = call.terms};
  if (distance_bias_.defined()) input.terms.push_back(bucket_bias_term(distance_bias_, config_.bucket_options));
  const bool in_place = config_.fused && !call.cache && !config_.rotary && !query_norm_ && !position_ &&
                        !distance_.defined() && config_.empty_memory == 0 && !call.before.values.defined();
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
  project_tokens(input, x, call);
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
    call.cache->append(input.k, input.v, input.keys);
    // Relative queries need all keys as a tensor; everything else reads them in place.
    add_relative_terms(input.terms, input.q, config_.relative_queries ? call.cache->keys() : Tensor());
    input.cache = call.cache, input.keys = call.cache->offsets();
    input.k = input.v = Tensor();
  } else {
    add_relative_terms(input.terms, input.q, input.k);
  }
  return attended(std::move(input), call, context, residual);
}

KeysValues MultiHeadAttention::project(const Packed& memory) const {
  HEED_CHECK(!config_.fused, "[MultiHeadAttention] cross-attention needs separate projections (fused = false)");
  return {normalized(split_heads(key_->forward(memory.values), config_.key_heads), key_norm_),
          split_heads(value_->forward(memory.values), config_.key_heads)};
}

AttentionInput MultiHeadAttention::queries_of(const Packed& x, const AttentionCall& call) const {
  HEED_CHECK(!config_.fused, "[MultiHeadAttention] cross-attention needs separate projections (fused = false)");
  HEED_CHECK(!call.cache, "[MultiHeadAttention] a cache of its own tokens is for self-attention");
  HEED_CHECK(!config_.rotary && !distance_bias_.defined(), "[MultiHeadAttention] positions are for self-attention");
  return {.q = normalized(split_heads(query_->forward(x.values), config_.heads), query_norm_),
          .queries = x.offsets,
          .scale = call.scale ? call.scale : config_.scale,
          .mask = call.mask,
          .terms = call.terms};
}

Tensor MultiHeadAttention::forward(const Packed& x, const Packed& memory, const AttentionCall& call,
                                   const Context& context, const Tensor& residual) const {
  AttentionInput input = queries_of(x, call);
  const KeysValues projected = project(memory);
  input.k = projected.keys, input.v = projected.values, input.keys = memory.offsets;
  return attended(std::move(input), call, context, residual);
}

Tensor MultiHeadAttention::forward(const Packed& x, const KeyValueCache& memory, const AttentionCall& call,
                                   const Context& context, const Tensor& residual) const {
  AttentionInput input = queries_of(x, call);
  input.cache = &memory, input.keys = memory.offsets();
  return attended(std::move(input), call, context, residual);
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
  visitor.parameter("distance_bias", distance_bias_, Initializer::normal(0.02));
  if (query_norm_) {
    visitor.child("query_norm", *query_norm_);
    visitor.child("key_norm", *key_norm_);
  }
  visitor.child("output", output_);
}

}  // namespace heed
