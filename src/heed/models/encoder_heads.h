// What turns hidden states into answers. All heads of the encoders are one shape:
//   [dropout] dense, activation, norm (all three optional)  dropout  output
#pragma once

#include <optional>

#include "heed/models/encoder_family.h"
#include "heed/nn/layers.h"

namespace heed {

class EncoderHead : public Module {
 public:
  // `word_table` [V, embedding width] becomes the weight of the output where it is tied.
  EncoderHead(const EncoderConfig& config, const HeadDescription& description, const Embedding& word_table);
  // [rows, C] to [rows, outputs]: rows are tokens, or one a sequence (first token, or pooled).
  Tensor forward(const Tensor& x, const Context& context) const;
  HeadDescription::Input input() const { return input_; }
  void visit(Visitor& visitor) override;

 private:
  HeadDescription::Input input_;
  std::optional<Linear> dense_;
  Activation activation_;
  std::optional<Norm> norm_;
  bool dropout_before_dense_;
  Dropout dropout_;
  Linear output_;
};

}  // namespace heed
