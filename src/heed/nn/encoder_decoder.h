// The Transformer of 2017: an encoder, a decoder that reads what it made, sinusoidal positions. Translation models of
// models/ will be made of it.
#pragma once

#include "heed/nn/stack.h"

namespace heed {

struct EncoderDecoderConfig {
  std::int64_t source_vocabulary = 0, target_vocabulary = 0;
  StackConfig encoder{}, decoder{};  // decoder.block.cross is set for you
  bool share_embeddings = false;     // source and target use one table (equal vocabularies)
  bool tie_output = true;            // logits = hidden . target table^T
  bool share_layers = false;         // the decoder uses the encoder's self-attention, feed-forward and norms
};

// Embeddings are scaled by sqrt(hidden size); logits are over the target vocabulary.
class EncoderDecoder : public Module {
 public:
  explicit EncoderDecoder(const EncoderDecoderConfig& config);

  // ids [N] of packed sentences to encoded tokens.
  Packed encode(const Packed& source, const Context& context) const;
  // Logits [N, target vocabulary]; row t predicts the token after target token t. With a state `target` are only the
  // new tokens of each sequence. A memory that was projected once, by project(), gives the same bits.
  Tensor decode(const Packed& target, const Memory& memory, const Context& context, DecodeState* state = nullptr) const;
  Memory project(const Packed& memory) const { return decoder_.project({memory}); }
  DecodeState start() const { return decoder_.start(); }
  void visit(Visitor& visitor) const override;

 private:
  Tensor embed(const Embedding& table, const Packed& ids, const Tensor& positions) const;

  EncoderDecoderConfig config_;
  Embedding source_embedding_, target_embedding_;
  Stack encoder_, decoder_;
  Linear output_;
};

}  // namespace heed
