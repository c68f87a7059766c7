// The encoder that BERT, RoBERTa, ELECTRA, DistilBERT, ALBERT and MPNet have in common: word, position and type
// vectors, norm, and post-norm blocks. Families differ by the fields here, and by the names of their tensors. With
// is_decoder, which BERT, RoBERTa and ELECTRA may have, every token sees those before it, and the model writes.
#pragma once

#include <optional>

#include "heed/models/config_reader.h"
#include "heed/models/model.h"

namespace heed {

enum class TextPositions {
  absolute,            // a trained vector for each position, added to the word's
  relative_key,        // trained vectors of distances, met by the queries
  relative_key_query,  // and by the keys
  absolute_and_bias,   // absolute, and a trained bias for each bucket of distances (MPNet)
};

struct BertConfig {
  StackConfig stack{};
  std::int64_t vocab_size = 0;
  std::int64_t embedding_size = 0;           // of the tables; another than the hidden size is projected
  bool always_projected = false;             // has the projection even if the sizes are equal (ALBERT)
  std::int64_t type_vocab_size = 0;          // rows of the table of token types; 0: there is none
  std::int64_t position_rows = 0;            // rows of the table of positions
  std::optional<std::int64_t> padding_id{};  // positions count tokens other than this one, from padding_id + 1 on
  TextPositions positions = TextPositions::absolute;
  double initializer_range = 0.02;
  bool tie_word_embeddings = true;
  bool is_decoder = false;

  std::int64_t hidden_size() const { return stack.block.hidden_size; }
  double dropout() const { return stack.block.dropout; }
  Activation activation() const { return stack.block.feed_forward.activation; }
  HeadKind language_head() const { return is_decoder ? HeadKind::causal_lm : HeadKind::masked_lm; }
  // The longest sequence that the table of positions allows.
  std::int64_t max_tokens() const { return padding_id ? position_rows - *padding_id - 1 : position_rows; }
};

class BertBackbone : public Backbone, public Encodes, public Decodes {
 public:
  explicit BertBackbone(const BertConfig& config);

  Tensor encode(const Inputs& inputs, const Context& context, std::vector<Tensor>* hidden) const override;
  DecodeState start() const override { return stack_.start(); }
  Tensor finish(const Tensor& hidden) const override { return stack_.finish(hidden); }
  Tensor decode(const Inputs& inputs, DecodeState& state, const Context& context) const override;
  const Encodes* encodes() const override { return this; }
  const Decodes* decodes() const override { return config_.is_decoder ? this : nullptr; }
  ParameterPlace place(std::string_view parameter) const override;
  double operations(const Offsets& offsets) const override { return config_.stack.operations(offsets); }
  const Embedding& words() const override { return word_; }
  void visit(Visitor& visitor) const override;

 private:
  void check(const Inputs& inputs, const DecodeState* state) const;
  Tensor position_numbers(const Packed& ids, const DecodeState* state) const;
  Tensor embed(const Inputs& inputs, const DecodeState* state, const Context& context) const;
  Tensor forward(const Inputs& inputs, StackCall call, const Context& context) const;

  BertConfig config_;
  Embedding word_, position_;
  std::optional<Embedding> token_type_;
  Norm embedding_norm_;
  Dropout dropout_;
  std::optional<Linear> projection_;
  Stack stack_;
};

// What config.json calls the sizes that the tensors of a file must agree with.
struct SizeFields {
  std::string vocab_size = "vocab_size", embedding_size = "hidden_size", hidden_size = "hidden_size",
              intermediate_size = "intermediate_size", layers = "num_hidden_layers",
              positions = "max_position_embeddings", types = "type_vocab_size";
};

// The blocks of BERT with these sizes and what published configurations leave out.
BertConfig bert_defaults(std::int64_t vocab_size, std::int64_t hidden_size, std::int64_t heads,
                         std::int64_t intermediate_size, std::int64_t layers, double dropout);
// What BERT, RoBERTa, ELECTRA, ALBERT and MPNet call by the same names; `config` holds the defaults.
void read_common_fields(ConfigReader& reader, BertConfig& config);
// These, and what BERT, RoBERTa and ELECTRA share besides; returns the dropout of classifiers.
double read_bert_fields(ConfigReader& reader, BertConfig& config);
TextPositions read_positions(ConfigReader& reader);
// Names of BERT's own files.
std::vector<PublishedName> bert_names();
// Fills in a model that is made of `bert` and has tensors of these names. The names include "word", "position",
// "token_type" and "layer.#.feed_forward.up".
void describe(ModelConfig& config, ConfigReader& reader, const BertConfig& bert, std::vector<PublishedName> names,
              const SizeFields& fields = {});

}  // namespace heed
