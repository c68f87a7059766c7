// The Transformer that BART, Marian, T5 and their relatives have in common: an encoder reads a source, a decoder
// attends to what it made of it. Families differ by the fields here, and by the names of their tensors.
#pragma once

#include <optional>

#include "heed/models/config_reader.h"
#include "heed/models/model.h"

namespace heed {

struct Seq2SeqConfig {
  StackConfig encoder{}, decoder{};  // the decoder's blocks have cross-attention
  std::int64_t source_vocab_size = 0, vocab_size = 0;
  bool share_words = true;  // the encoder's table of words is the decoder's
  // Waves are computed, sines first and then cosines. Those of fairseq are longer: their last one has the full length.
  std::optional<std::int64_t> padding_id{};  // no gradient flows into its row where it is read
  enum class Positions { none, trained, waves, fairseq_waves } positions = Positions::none;
  std::int64_t position_rows = 0, position_offset = 0;  // of a table, and the row of the first position
  std::int64_t max_tokens = 0;                          // the longest sequence, of a source too
  double embedding_scale = 1;                           // word vectors are multiplied by it
  double embedding_dropout = 0, output_dropout = 0;     // the latter after the last norm
  bool embedding_norm = false;
  bool decoder_norm_first = false;  // in the decoder that norm stands before the positions (Blenderbot Small)
  bool tie_word_embeddings = true;
  double output_scale = 1;   // of hidden states before the head
  bool logits_bias = false;  // one that is not trained
  double initializer_range = 0.02;

  std::int64_t hidden_size() const { return decoder.block.hidden_size; }
};

// One of the two: word vectors to hidden states.
class Seq2SeqHalf : public Module {
 public:
  Seq2SeqHalf(const Seq2SeqConfig& config, const StackConfig& stack, bool norm_first);
  Tensor forward(const Packed& words, StackCall call, const Context& context) const;  // [N, C] to [N, C]
  const Stack& stack() const { return stack_; }
  void visit(Visitor& visitor) const override;

 private:
  double scale_;
  bool norm_first_;
  std::int64_t position_offset_;
  std::optional<Embedding> position_;
  Tensor waves_;  // [rows, C]
  std::optional<Norm> embedding_norm_;
  Dropout embedding_dropout_, output_dropout_;
  Stack stack_;
};

class Seq2SeqBackbone : public Backbone, public Encodes, public Decodes, public Reads {
 public:
  explicit Seq2SeqBackbone(const Seq2SeqConfig& config);

  // The decoder's hidden states, of whole sequences and their sources.
  Tensor encode(const Inputs& inputs, const Context& context, std::vector<Tensor>* hidden) const override;
  DecodeState start() const override { return decoder_.stack().start(); }
  Tensor decode(const Inputs& inputs, DecodeState& state, const Context& context) const override;
  Tensor finish(const Tensor& hidden) const override { return decoder_.stack().finish(hidden); }
  Tensor read(const Packed& source, const Context& context, std::vector<Tensor>* hidden) const override;
  void join(const Packed& sources, DecodeState& state, const Context& context) const override;
  const Encodes* encodes() const override { return this; }
  const Decodes* decodes() const override { return this; }
  const Reads* reads() const override { return this; }
  ParameterPlace place(std::string_view parameter) const override;
  double operations(const Offsets& offsets) const override;
  const Embedding& words() const override { return decoder_word_ ? *decoder_word_ : word_; }  // the decoder's
  void visit(Visitor& visitor) const override;

 private:
  Tensor vectors_of(const Embedding& words, const Tensor& ids) const;
  Tensor write(const Inputs& inputs, StackCall call, const Context& context) const;
  void check(const Packed& ids, const char* what, const DecodeState* state = nullptr) const;

  Seq2SeqConfig config_;
  Embedding word_;
  std::optional<Embedding> decoder_word_;
  Seq2SeqHalf encoder_, decoder_;
};

// Fills in a model that is made of `seq2seq`, with the head that writes. `names` are those of "encoder. ...",
// "decoder. ...", with "layer.#.feed_forward.down" in each; tables of words are added. `fields` are what config.json
// calls its sizes.
struct Seq2SeqSizeFields {
  std::string hidden_size = "d_model", encoder_layers = "encoder_layers", decoder_layers = "decoder_layers",
              encoder_intermediate_size = "encoder_ffn_dim", decoder_intermediate_size = "decoder_ffn_dim",
              source_vocab_size = "vocab_size", vocab_size = "vocab_size", positions = "max_position_embeddings";
};
void describe(ModelConfig& config, const Seq2SeqConfig& seq2seq, std::vector<PublishedName> names,
              const Seq2SeqSizeFields& fields = {});

}  // namespace heed
