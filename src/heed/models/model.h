// A model: a backbone that turns inputs into hidden states, and perhaps a head that turns those into answers. What a
// backbone can do it says by its capabilities. Several models may share one backbone, each with a head of its own.
//
// Legend: B sequences, N tokens in all, M of their sources, C hidden size, E embedding size, L labels, V vocabulary.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/models/head.h"
#include "heed/models/model_config.h"
#include "heed/nn/stack.h"

namespace heed {

// What a model reads: sequences end to end.
struct Inputs {
  Packed ids;         // [N], i32 or i64
  Tensor type_ids{};  // [N], or undefined: all 0
  // [N, E] instead of the ids' rows of the table of words, or undefined; ids still decide positions.
  Tensor vectors{};
  // Per sequence, how many of its first tokens were read in earlier segments: they are remembered, and no gradients
  // flow through them. Empty: none; for models that Recur.
  std::vector<std::int64_t> remembered{};
  // For models that Read: ids [M] of a source for each sequence. In a state the sources of its sequences are read
  // already.
  Packed source{};
};

// Which part of a model a parameter belongs to, and how deep: 0 for the embeddings, 1 and up for the layers, one more
// than there are layers for what follows them.
struct ParameterPlace {
  enum class Part { embeddings, layers, pooler, head } part = Part::embeddings;
  std::int64_t depth = 0;

  // Whether it is what people call "embeddings", "layers", "pooler" or "head", or the layer "layers.0", "layers.1" ...
  bool is(std::string_view name) const;
};
std::string_view to_string(ParameterPlace::Part part);

// Hidden states of whole sequences. The same bits for a sequence alone or among others.
class Encodes {
 public:
  virtual ~Encodes() = default;
  // The last hidden states [N, C]. `hidden` receives what enters the first layer and what comes out of each.
  virtual Tensor encode(const Inputs& inputs, const Context& context, std::vector<Tensor>* hidden = nullptr) const = 0;
};

// Hidden states token by token: every token sees those before it.
class Decodes {
 public:
  virtual ~Decodes() = default;
  virtual DecodeState start() const = 0;
  // The last hidden states [N, C] of the new tokens of each sequence, which are added to the state.
  virtual Tensor decode(const Inputs& inputs, DecodeState& state, const Context& context) const = 0;
  // What follows the last layer, for hidden states of any layer: the last norm, say.
  virtual Tensor finish(const Tensor& hidden) const = 0;
};

// An encoder reads a source, and the decoder attends to what it made of it.
class Reads {
 public:
  virtual ~Reads() = default;
  // The encoder's last hidden states [M, C]. `hidden` receives what enters its first layer and what comes out of each.
  virtual Tensor read(const Packed& source, const Context& context, std::vector<Tensor>* hidden = nullptr) const = 0;
  // Sequences join a state of Decodes, each with a source, which is read here and kept. If it throws the state is what
  // it was.
  virtual void join(const Packed& sources, DecodeState& state, const Context& context) const = 0;
};

// Hidden states segment by segment: every token sees what is remembered of the segments before its own.
class Recurs {
 public:
  virtual ~Recurs() = default;
  virtual SegmentMemory remember() const = 0;  // of no segment yet
  // The last hidden states [N, C] of the next segment of each sequence, which is remembered then.
  virtual Tensor read(const Inputs& segment, SegmentMemory& memory, const Context& context) const = 0;
};

class Backbone : public Module {
 public:
  // By the parameter's name in this module.
  virtual ParameterPlace place(std::string_view parameter) const = 0;
  // Multiplications and additions of a forward pass over these sequences.
  virtual double operations(const Offsets& offsets) const = 0;
  // The table of words [V, E], which heads may share; the first, if there are several.
  virtual const Embedding& words() const = 0;
  virtual const AdaptiveEmbedding* adaptive_words() const { return nullptr; }
  // Ids [N] to what Inputs::vectors takes.
  virtual Tensor word_vectors(const Tensor& ids) const { return words().forward(ids); }
  // Null for what it cannot do.
  virtual const Encodes* encodes() const { return nullptr; }
  virtual const Decodes* decodes() const { return nullptr; }
  virtual const Reads* reads() const { return nullptr; }
  virtual const Recurs* recurs() const { return nullptr; }
};

struct ModelOutput {
  Tensor hidden;                 // [N, C], the last layer's
  std::vector<Tensor> states{};  // layers + 1 of [N, C], if asked for
  Tensor pooled{};               // [B, C], if the model has a pooler
  Tensor logits{};               // if the model has a head; shapes at HeadKind
};

class Model : public Module {
 public:
  // With the backbone that the config describes, or a given one of the same config. A head that reads a pooler has
  // one; else it is there if `with_pooler`. All parameters start as zeros.
  explicit Model(ModelConfig config, HeadKind head = HeadKind::none, bool with_pooler = false,
                 std::shared_ptr<Backbone> backbone = nullptr);

  ModelOutput forward(const Inputs& inputs, const Context& context, bool with_states = false) const;
  // The parts of forward(), for callers that need the logits of some rows only: those of masked words, say.
  Tensor encode(const Inputs& inputs, const Context& context) const;
  // Hidden states [N, C] to the logits of every token, or of every sequence, as the head has it.
  Tensor logits(const Tensor& hidden, const Offsets& offsets, const Context& context) const;
  // The logits of these rows [rows, C], which are tokens (or pooled sequences, if the head reads those).
  Tensor logits_of_rows(const Tensor& rows, const Context& context) const;
  // tanh(W x + b) of each sequence's first token: [B, C].
  Tensor pooled(const Tensor& hidden, const Offsets& offsets) const;
  bool has_pooler() const { return pooler_.has_value(); }
  // Multiplications and additions of forward() over these sequences.
  double operations(const Offsets& offsets) const;
  // Of the logits of this many rows, and of the pooler where they read it; 0 without a head.
  double head_operations(std::int64_t rows) const;

  const ModelConfig& config() const { return config_; }
  const ModelInfo& info() const { return config_.info; }
  HeadKind head() const { return head_kind_; }
  std::string architecture() const { return architecture_name(*config_.family, head_kind_); }  // "BertForMaskedLM"
  const std::shared_ptr<Backbone>& backbone() const { return backbone_; }
  ParameterPlace place(std::string_view parameter) const;
  // The backbone's parameters are named "encoder. ...", the head's "head. ...".
  void visit(Visitor& visitor) const override;

 private:
  // What the backbone gets of it: its own source, if the head reads_itself. Throws for what the backbone cannot take.
  Inputs completed(const Inputs& inputs) const;

  ModelConfig config_;
  HeadKind head_kind_;
  std::shared_ptr<Backbone> backbone_;
  std::optional<Linear> pooler_;
  std::optional<Head> head_;
};

// All parameters of a model with their places.
struct PlacedParameter : NamedParameter {
  ParameterPlace place{};
  bool is_weight = false;  // of a Weight: a matrix or a table
};
std::vector<PlacedParameter> placed_parameters(Model& model);

// The row of each sequence's first or last token, [B, C]; an empty sequence is an error.
Tensor first_tokens(const Tensor& hidden, const Offsets& offsets);
Tensor last_tokens(const Tensor& hidden, const Offsets& offsets);

}  // namespace heed
