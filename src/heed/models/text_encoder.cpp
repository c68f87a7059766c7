#include "heed/models/text_encoder.h"

#include "heed/attention/positions.h"
#include "heed/attention/relative_terms.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/normalize.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

BlockConfig block_of(const EncoderConfig& config) {
  const bool relative =
      config.position_kind == TextPositions::relative_key || config.position_kind == TextPositions::relative_key_query;
  return {.width = config.width,
          .heads = config.heads,
          .inner = config.inner,
          .pre_norm = false,
          .epsilon = config.epsilon,
          .activation = config.activation,
          .dropout = config.dropout,
          .attention_dropout = config.attention_dropout,
          .relative_reach = relative ? config.positions - 1 : 0,
          .relative_queries = config.position_kind == TextPositions::relative_key_query};
}

}  // namespace

TextEncoder::TextEncoder(const EncoderConfig& config, bool with_pooler)
    : config_(config),
      word_(config.vocabulary, config.embedding_width, Initializer::normal(config.initializer_deviation)),
      position_(config.positions, config.embedding_width, Initializer::normal(config.initializer_deviation)),
      embedding_norm_(config.embedding_width, NormKind::layer, config.epsilon),
      dropout_(config.dropout) {
  const auto initializer = Initializer::normal(config.initializer_deviation);
  if (config.types > 0) token_type_.emplace(config.types, config.embedding_width, initializer);
  if (config.embedding_width != config.width || config.always_projected) {
    projection_.emplace(config.embedding_width, config.width, true, initializer);
  }
  if (config.distance_buckets > 0) distance_bias_ = Tensor::zeros({config.distance_buckets, config.heads});
  for (std::int64_t i = 0; i < config.groups * config.blocks_per_group; ++i) blocks_.emplace_back(block_of(config));
  if (with_pooler) pooler_.emplace(config.width, config.width, true, initializer);
}

void TextEncoder::check(const EncoderInput& input) const {
  HEED_CHECK(input.ids.values.defined() && input.ids.values.rank() == 1, "[TextEncoder] ids ", input.ids.values.shape(),
             ", expected [N]");
  HEED_CHECK(!input.type_ids.defined() || input.type_ids.shape() == input.ids.values.shape(), "[TextEncoder] type ids ",
             input.type_ids.shape(), " for ids ", input.ids.values.shape());
  HEED_CHECK(!input.word_vectors.defined() ||
                 input.word_vectors.shape() == Shape({input.ids.values.size(0), config_.embedding_width}),
             "[TextEncoder] word vectors ", input.word_vectors.shape(), " for ids ", input.ids.values.shape(),
             ", expected width ", config_.embedding_width);
  const Offsets& offsets = input.ids.offsets;
  for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
    HEED_CHECK(offsets.length(b) <= config_.max_tokens(), "[TextEncoder] sequence ", b, " has ", offsets.length(b),
               " tokens, the model takes at most ", config_.max_tokens());
  }
}

Tensor TextEncoder::positions(const Packed& ids) const {
  if (!config_.padding_id) return position_ids(ids.offsets);
  // RoBERTa's rule: tokens are numbered from padding_id + 1 on, a padding token among them has padding_id and does not
  // count.
  Tensor result = Tensor::empty({ids.offsets.tokens()}, DType::i64);
  const Tensor flat = ids.values.contiguous();
  visit_index("TextEncoder", flat.dtype(), [&](auto index) {
    const auto* id = flat.data<decltype(index)>();
    auto* position = result.mutable_data<std::int64_t>();
    for (std::int64_t b = 0; b < ids.offsets.sequences(); ++b) {
      std::int64_t next = *config_.padding_id;
      for (std::int64_t t = ids.offsets.begin(b); t < ids.offsets.end(b); ++t) {
        position[t] = static_cast<std::int64_t>(id[t]) == *config_.padding_id ? *config_.padding_id : ++next;
      }
    }
  });
  return result;
}

Tensor TextEncoder::embed(const EncoderInput& input, const Context& context) const {
  Tensor x = input.word_vectors.defined() ? input.word_vectors : word_vectors(input.ids.values);
  if (token_type_) {
    // Type 0 everywhere is one row for all tokens.
    const Tensor types = input.type_ids.defined() ? token_type_->forward(input.type_ids)
                                                  : embedding(token_type_->weight, Tensor::zeros({1}, DType::i64));
    x = add(x, types);
  } else {
    HEED_CHECK(!input.type_ids.defined(), "[TextEncoder] type ids for a model that has no token types");
  }
  const bool absolute =
      config_.position_kind == TextPositions::absolute || config_.position_kind == TextPositions::absolute_and_bias;
  const Tensor normalized = absolute
                                ? add_layer_norm(x, position_.forward(positions(input.ids)), embedding_norm_.weight,
                                                 embedding_norm_.bias, embedding_norm_.epsilon)
                                      .normalized
                                : embedding_norm_.forward(x);
  const Tensor y = dropout_.forward(normalized, context);
  return projection_ ? projection_->forward(y) : y;
}

Tensor TextEncoder::forward(const EncoderInput& input, const Context& context, std::vector<Tensor>* states) const {
  check(input);
  const Offsets& offsets = input.ids.offsets;
  Tensor x = embed(input, context.child("embeddings"));
  context.tap("embeddings", x);
  if (states) *states = {x};
  AttentionCall call;
  if (distance_bias_.defined()) call.terms.push_back(bucket_bias_term(distance_bias_));
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    const std::int64_t first = i * config_.groups / config_.layers * config_.blocks_per_group;
    const Context layer = context.child("layer", static_cast<std::uint64_t>(i));
    for (std::int64_t j = 0; j < config_.blocks_per_group; ++j) {
      const Context block = config_.blocks_per_group == 1 ? layer : layer.child("block", static_cast<std::uint64_t>(j));
      const Block& part = blocks_[static_cast<std::size_t>(first + j)];
      const auto run = [&part, offsets, call, block](std::span<const Tensor> inputs) {
        return part.forward(Packed(inputs[0], offsets), call, block);
      };
      x = context.recomputes() ? checkpoint(run, {x}) : run(std::span(&x, 1));
    }
    if (states) states->push_back(x);
  }
  return x;
}

Tensor TextEncoder::pooled(const Tensor& hidden, const Offsets& offsets) const {
  HEED_CHECK(pooler_, "[TextEncoder] has no pooler");
  return pooler_->forward(first_tokens(hidden, offsets), Activation::tanh);
}

void TextEncoder::visit(Visitor& visitor) {
  visitor.child("word", word_);
  visitor.child("position", position_);
  if (token_type_) visitor.child("token_type", *token_type_);
  visitor.child("embedding_norm", embedding_norm_);
  if (projection_) visitor.child("projection", *projection_);
  visitor.parameter("distance_bias", distance_bias_, Initializer::normal(config_.initializer_deviation));
  for (std::size_t i = 0; i < blocks_.size(); ++i) visitor.child("layer", i, blocks_[i]);
  if (pooler_) visitor.child("pooler", *pooler_);
}

Tensor first_tokens(const Tensor& hidden, const Offsets& offsets) {
  Tensor rows = Tensor::empty({offsets.sequences()}, DType::i64);
  auto* row = rows.mutable_data<std::int64_t>();
  for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
    HEED_CHECK(offsets.length(b) > 0, "[first_tokens] sequence ", b, " is empty");
    row[b] = offsets.begin(b);
  }
  return embedding(hidden, rows);
}

}  // namespace heed
