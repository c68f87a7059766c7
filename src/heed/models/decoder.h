// The decoder that GPT-2, LLaMA and their relatives have in common: word vectors, perhaps position vectors, blocks in
// which every token sees those before it, a norm. Families differ by the fields here, and by the names of their
// tensors.
#pragma once

#include <optional>

#include "heed/models/config_reader.h"
#include "heed/models/model.h"

namespace heed {

struct DecoderConfig {
  StackConfig stack{};
  std::int64_t vocab_size = 0;
  std::int64_t embedding_size = 0;   // of the table of words, if it is not the hidden size: then projected (OPT)
  std::int64_t position_rows = 0;    // of a table of positions; 0: there is none
  std::int64_t position_offset = 0;  // the row of the first position (OPT)
  std::int64_t max_tokens = 0;       // the longest sequence
  double embedding_scale = 1;        // word vectors are multiplied by it (Gemma)
  double embedding_dropout = 0;
  std::optional<NormConfig> embedding_norm{};  // of word vectors (BLOOM)
  double score_cap = 0;                        // scores become cap * tanh(score / cap) (Gemma 2); 0: they are left
  bool alibi = false;                          // scores fall with the distance (BLOOM)
  bool tie_word_embeddings = true;
  double initializer_range = 0.02;

  std::int64_t hidden_size() const { return stack.block.hidden_size; }
  std::int64_t word_size() const { return embedding_size > 0 ? embedding_size : hidden_size(); }
};

class DecoderBackbone : public Backbone, public Encodes, public Decodes {
 public:
  explicit DecoderBackbone(const DecoderConfig& config);

  Tensor encode(const Inputs& inputs, const Context& context, std::vector<Tensor>* hidden) const override;
  DecodeState start() const override { return stack_.start(); }
  Tensor decode(const Inputs& inputs, DecodeState& state, const Context& context) const override;
  Tensor finish(const Tensor& hidden) const override;
  const Encodes* encodes() const override { return this; }
  const Decodes* decodes() const override { return this; }
  ParameterPlace place(std::string_view parameter) const override;
  double operations(const Offsets& offsets) const override { return config_.stack.operations(offsets); }
  const Embedding& words() const override { return word_; }
  void visit(Visitor& visitor) const override;

 private:
  Tensor forward(const Inputs& inputs, StackCall call, const Context& context) const;
  Tensor decode_again(const Inputs& inputs, const std::vector<bool>& again, DecodeState& state,
                      const Context& context) const;
  void check(const Inputs& inputs, const DecodeState* state) const;

  DecoderConfig config_;
  Embedding word_;
  std::optional<Embedding> position_;
  std::optional<Norm> embedding_norm_;
  std::optional<Linear> projection_in_, projection_out_;
  Dropout dropout_;
  Stack stack_;
};

// Fills in a model that is made of `decoder` and has tensors of these names, which include "word" and
// "layer.#.feed_forward.down", with heads that predict the next token and that label sequences by their last token.
// `fields` are what config.json calls its sizes.
struct DecoderSizeFields {
  std::string hidden_size = "hidden_size", intermediate_size = "intermediate_size", layers = "num_hidden_layers",
              positions = "max_position_embeddings";
};
void describe(ModelConfig& config, const DecoderConfig& decoder, std::vector<PublishedName> names,
              const DecoderSizeFields& fields = {}, double logit_cap = 0);

}  // namespace heed
