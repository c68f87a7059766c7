// The encoder that BERT, RoBERTa, ELECTRA, DistilBERT, ALBERT and MPNet have in common: word, position and type
// vectors, norm, post-norm blocks, and perhaps a pooler. Legend: B sequences, N tokens in all, C width.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "heed/models/encoder_config.h"
#include "heed/nn/block.h"
#include "heed/tensor/packed.h"

namespace heed {

struct EncoderInput {
  Packed ids;         // [N], i32 or i64
  Tensor type_ids{};  // [N], or undefined: all 0
  // [N, embedding width] instead of the ids' rows of the table of words, or undefined; ids still decide positions.
  Tensor word_vectors{};
};

class TextEncoder : public Module {
 public:
  TextEncoder(const EncoderConfig& config, bool with_pooler);

  // The last hidden states [N, C]. `states` receives what goes into the first layer and what comes out of each, layers
  // + 1 tensors. Same bits for a sequence alone or among others.
  Tensor forward(const EncoderInput& input, const Context& context, std::vector<Tensor>* states = nullptr) const;
  // tanh(W x + b) of each sequence's first token: [B, C].
  Tensor pooled(const Tensor& hidden, const Offsets& offsets) const;
  bool has_pooler() const { return pooler_.has_value(); }
  // Rows of the table of words: ids [N] to [N, embedding width].
  Tensor word_vectors(const Tensor& ids) const { return word_.forward(ids); }
  // The table of words, [V, embedding width], which heads may share.
  const Embedding& word_table() const { return word_; }
  void visit(Visitor& visitor) override;

 private:
  void check(const EncoderInput& input) const;
  Tensor positions(const Packed& ids) const;
  Tensor embed(const EncoderInput& input, const Context& context) const;

  EncoderConfig config_;
  Embedding word_, position_;
  std::optional<Embedding> token_type_;
  Norm embedding_norm_;
  Dropout dropout_;
  std::optional<Linear> projection_;
  Tensor distance_bias_;      // [buckets, heads]
  std::deque<Block> blocks_;  // groups * blocks_per_group
  std::optional<Linear> pooler_;
};

// Row of each sequence's first token, [B, C]; an empty sequence is an error.
Tensor first_tokens(const Tensor& hidden, const Offsets& offsets);

}  // namespace heed
