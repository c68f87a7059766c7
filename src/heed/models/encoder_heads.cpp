#include "heed/models/encoder_heads.h"

#include "heed/base/error.h"

namespace heed {
namespace {

std::int64_t outputs(const EncoderConfig& config, Head head) {
  switch (head) {
    case Head::sequence_classification:
    case Head::token_classification: return static_cast<std::int64_t>(config.labels.size());
    case Head::masked_lm: return config.vocabulary;
    case Head::question_answering:
    case Head::next_sentence: return 2;
    case Head::replaced_token: return 1;
    case Head::none: break;
  }
  fail(ErrorKind::internal, "[EncoderHead] a head that is none");
}

double dropout_of(const EncoderConfig& config, Head head) {
  switch (head) {
    case Head::sequence_classification: return config.sequence_dropout;
    case Head::token_classification: return config.token_dropout;
    case Head::question_answering: return config.answer_dropout;
    default: return 0;
  }
}

std::int64_t inner_width(const EncoderConfig& config, const HeadDescription& description) {
  return description.to_embedding_width ? config.embedding_width : config.width;
}

}  // namespace

EncoderHead::EncoderHead(const EncoderConfig& config, const HeadDescription& description, const Embedding& word_table)
    : input_(description.input),
      activation_(description.hidden_activation ? config.activation : description.activation),
      dropout_before_dense_(description.dropout_before_dense),
      dropout_(dropout_of(config, description.head)),
      output_(inner_width(config, description), outputs(config, description.head), true,
              Initializer::normal(config.initializer_deviation)) {
  const std::int64_t inner = inner_width(config, description);
  if (description.dense) {
    dense_.emplace(config.width, inner, true, Initializer::normal(config.initializer_deviation));
  }
  if (description.norm) norm_.emplace(inner, NormKind::layer, config.epsilon);
  if (description.head == Head::masked_lm && config.tie_word_embeddings) output_.tie(word_table);
}

Tensor EncoderHead::forward(const Tensor& x, const Context& context) const {
  Tensor y = x;
  if (dense_) {
    if (dropout_before_dense_) y = dropout_.forward(y, context.child("input"));
    y = dense_->forward(y, activation_);
  }
  if (norm_) y = norm_->forward(y);
  return output_.forward(dropout_.forward(y, context));
}

void EncoderHead::visit(Visitor& visitor) {
  if (dense_) visitor.child("dense", *dense_);
  if (norm_) visitor.child("norm", *norm_);
  visitor.child("output", output_);
}

}  // namespace heed
