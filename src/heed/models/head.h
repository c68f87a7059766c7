// What turns hidden states into answers, of every kind of model.
#pragma once

#include <optional>

#include "heed/models/model_config.h"
#include "heed/nn/context.h"
#include "heed/nn/layers.h"

namespace heed {

class Head : public Module {
 public:
  // `words` [V, E] becomes the weight of the output where it is tied; `adaptive` is what an adaptive softmax belongs
  // to.
  Head(const ModelConfig& model, const HeadConfig& config, const Embedding& words,
       const AdaptiveEmbedding* adaptive = nullptr);
  // [rows, C] to [rows, outputs]: rows are tokens, or one per sequence (first token, or pooled).
  Tensor forward(const Tensor& x, const Context& context) const;
  HeadConfig::Input input() const { return config_.input; }
  // Multiplications and additions of forward().
  double operations(std::int64_t rows) const;
  bool reads_itself() const { return config_.reads_itself; }
  void visit(Visitor& visitor) const override;

 private:
  HeadConfig config_;
  std::optional<Linear> dense_;
  std::optional<Norm> norm_;
  Dropout dropout_;
  std::optional<Linear> output_;
  Tensor logits_bias_;
  std::optional<AdaptiveSoftmax> adaptive_;
};

// Heads of many families. One linear layer over every token:
HeadConfig token_head(HeadKind kind, std::string theirs, double dropout);
// What RoBERTa introduced: a classifier over the first token with a layer of its own, and a language head "lm_head".
HeadConfig dense_classifier(Activation activation, std::int64_t hidden_size, double dropout);
HeadConfig lm_head(HeadKind kind, std::int64_t hidden_size, NormConfig norm, bool tied);

}  // namespace heed
