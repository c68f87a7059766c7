#include "heed/models/head.h"

#include "heed/base/error.h"
#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"

namespace heed {
namespace {

std::int64_t outputs(const ModelConfig& model, HeadKind kind) {
  switch (kind) {
    case HeadKind::sequence_classification:
    case HeadKind::token_classification: return static_cast<std::int64_t>(model.labels.size());
    case HeadKind::masked_lm:
    case HeadKind::causal_lm:
    case HeadKind::seq2seq_lm: return model.info.vocab_size;
    case HeadKind::question_answering:
    case HeadKind::next_sentence: return 2;
    case HeadKind::replaced_token: return 1;
    case HeadKind::none: break;
  }
  fail(ErrorKind::internal, "[Head] a head that is none");
}

// The elements of all matrices: each is multiplied by every row, shared or not.
class MatrixSizes : public Visitor {
 public:
  void parameter(std::string_view, const Tensor&, const Initializer&) override {}
  void weight(std::string_view, const Weight& weight, const Initializer&) override {
    all += static_cast<double>(weight.in() * weight.out());
  }
  void child(std::string_view, const Module& module) override { module.visit(*this); }

  double all = 0;
};

std::int64_t last_size(const ModelConfig& model, const HeadConfig& config) {
  return config.dense_size > 0 ? config.dense_size : model.info.vector_size();
}

}  // namespace

Head::Head(const ModelConfig& model, const HeadConfig& config, const Embedding& words,
           const AdaptiveEmbedding* adaptive)
    : config_(config), dropout_(config.dropout) {
  if (config.dense_size > 0) {
    dense_.emplace(model.info.hidden_size, config.dense_size, true, Initializer::normal(model.initializer_range));
  }
  if (config.norm) norm_.emplace(last_size(model, config), *config.norm);
  if (config.adaptive) {
    HEED_CHECK_AS(internal, adaptive, "[Head] an adaptive softmax without an adaptive embedding");
    adaptive_.emplace(*config.adaptive, *adaptive);
    return;
  }
  output_.emplace(last_size(model, config), outputs(model, config.kind), config.bias,
                  Initializer::normal(model.initializer_range));
  if (config.tied) output_->tie(words);
  if (config.logits_bias) logits_bias_ = Tensor::zeros({1, outputs(model, config.kind)});
}

Tensor Head::forward(const Tensor& x, const Context& context) const {
  Tensor y = config_.input_scale == 1 ? x : scale(x, config_.input_scale);
  if (dense_) {
    if (config_.dropout_before_dense) y = dropout_.forward(y, context.child("input"));
    y = dense_->forward(y, config_.activation);
  }
  if (norm_) y = norm_->forward(y);
  y = dropout_.forward(y, context);
  if (adaptive_) return adaptive_->forward(y);
  y = output_->forward(y);
  if (logits_bias_.defined()) y = add(y, logits_bias_);
  return config_.soft_cap > 0 ? scale(tanh(scale(y, 1 / config_.soft_cap)), config_.soft_cap) : y;
}

double Head::operations(std::int64_t rows) const {
  MatrixSizes sizes;
  visit(sizes);
  return 2 * static_cast<double>(rows) * sizes.all;
}

void Head::visit(Visitor& visitor) const {
  if (dense_) visitor.child("dense", *dense_);
  if (norm_) visitor.child("norm", *norm_);
  if (output_) visitor.child("output", *output_);
  if (adaptive_) visitor.child("output", *adaptive_);
  visitor.buffer("logits_bias", logits_bias_);
}

HeadConfig token_head(HeadKind kind, std::string theirs, double dropout) {
  return {.kind = kind, .dropout = dropout, .names = {{"output", std::move(theirs)}}};
}

HeadConfig dense_classifier(Activation activation, std::int64_t hidden_size, double dropout) {
  return {.kind = HeadKind::sequence_classification,
          .input = HeadConfig::Input::first_token,
          .dense_size = hidden_size,
          .activation = activation,
          .dropout = dropout,
          .dropout_before_dense = true,
          .names = {{"dense", "classifier.dense"}, {"output", "classifier.out_proj"}}};
}

HeadConfig lm_head(HeadKind kind, std::int64_t hidden_size, NormConfig norm, bool tied) {
  return {.kind = kind,
          .dense_size = hidden_size,
          .activation = Activation::gelu,
          .norm = norm,
          .tied = tied,
          .names = {{"dense", "lm_head.dense"},
                    {"norm", "lm_head.layer_norm"},
                    {"output.weight", "lm_head.decoder.weight"},
                    {"output.bias", "lm_head.bias"}},
          .copies = {{"", "lm_head.decoder.weight"}, {"lm_head.bias", "lm_head.decoder.bias"}}};
}

}  // namespace heed
