// What a config.json says of a model, in one form for all families: sizes, heads, the names of its published tensors,
// and how to make it. Behaviour follows these fields, never the model's name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"
#include "heed/nn/adaptive.h"
#include "heed/nn/layers.h"

namespace heed {

class Backbone;
class ConfigReader;

// What stands after the backbone. Shapes of the logits: B sequences, N tokens, L labels, V vocabulary.
enum class HeadKind {
  none,
  sequence_classification,  // [B, L]
  token_classification,     // [N, L]
  masked_lm,                // [N, V]
  causal_lm,                // [N, V]: the next token
  seq2seq_lm,               // [N, V]: the next token of what is written about a source
  question_answering,       // [N, 2]: start and end
  next_sentence,            // [B, 2]
  replaced_token,           // [N, 1]: ELECTRA's discriminator
};
std::string_view to_string(HeadKind kind);

// One of our parameters, or a module with all its parameters, and what published files call it. In `theirs` # is the
// number of the layer, or with @, the group's number, that of the block in its group; {a,b,c} are tensors that we hold
// one below the other.
struct PublishedName {
  std::string ours, theirs;
  enum class Layout {
    same,
    reversed,    // rows are in the opposite order
    transposed,  // matrices are [in, out]
    by_head,     // a fused projection has query, key and value rows of the first head, then of the second ...
  } layout = Layout::same;
  std::vector<std::int64_t> shares{};  // of the rows, that {a,b,c} have; empty: equal ones
};

// All heads are one shape:  [dropout] dense, activation, norm (all three optional)  dropout  output
struct HeadConfig {
  HeadKind kind = HeadKind::none;
  enum class Input { tokens, first_token, last_token, pooler } input = Input::tokens;
  // The model has an encoder, which reads the very text that the decoder reads too, one place later.
  bool reads_itself = false;
  std::int64_t dense_size = 0;               // of a layer before the output; 0: there is none
  Activation activation = Activation::none;  // after dense
  std::optional<NormConfig> norm{};
  double dropout = 0;
  bool dropout_before_dense = false;
  bool tied = false;         // the output's weight is the table of words
  bool bias = true;          // of the output
  double input_scale = 1;    // hidden states are multiplied by it first
  bool logits_bias = false;  // one that is not trained, [1, V]
  double soft_cap = 0;       // logits become cap * tanh(logits / cap); 0: they are left
  // The output is an adaptive softmax, whose logits are log-probabilities, over a backbone's adaptive_words().
  std::optional<AdaptiveConfig> adaptive{};
  std::vector<PublishedName> names{};  // ours: dense, norm, output, logits_bias
  // Names under which files may hold a tied tensor once more, and which it is: "" for the table of words.
  std::vector<PublishedName> copies{};
};

// A size that tensors of the files must agree with before memory of the configured size is asked for.
struct SizeCheck {
  std::string tensor;  // published, without the family's prefix
  std::size_t axis;
  std::int64_t size;
  std::string field;     // of config.json that says so
  std::string reason{};  // why there must be such a tensor; "" if every model has it
};

// For people, and for code that feeds the model.
struct ModelInfo {
  std::string model_type{};
  std::int64_t vocab_size = 0, embedding_size = 0, hidden_size = 0, intermediate_size = 0;
  std::int64_t output_size = 0;  // of the last hidden states; 0: hidden_size
  std::int64_t layers = 0, heads = 0;
  std::int64_t head_dim = 0, key_heads = 0;  // by default hidden_size / heads, and heads
  std::int64_t attention_layers = 0;         // how often a forward pass attends
  bool shared_layers = false;
  std::int64_t type_vocab_size = 0;  // kinds of tokens that it tells apart; 0: none
  std::int64_t position_rows = 0;    // of a table of positions; 0: there is none
  std::int64_t max_tokens = 0;       // the longest sequence; kAnyLength: there is no limit
  std::int64_t memory = 0;           // tokens of earlier segments that it remembers; 0: it does not read in segments
  std::string positions{};           // "absolute"

  // Of a model whose decoder attends to what its encoder made of a source: the encoder. The rest is the decoder's, but
  // for `layers` and `attention_layers`, which are those of both.
  struct Encoder {
    std::int64_t vocab_size = 0, intermediate_size = 0, layers = 0, heads = 0, max_tokens = 0;
  };
  std::optional<Encoder> encoder{};

  std::int64_t vector_size() const { return output_size > 0 ? output_size : hidden_size; }  // of the last hidden states
};
inline constexpr std::int64_t kAnyLength = std::int64_t{1} << 20;

struct ModelFamily {
  std::string model_type, class_name;  // "bert", "Bert": BertModel, BertForMaskedLM ...
  std::string prefix;                  // of the backbone's tensors in files that hold a head too: "bert."
  void (*read)(ConfigReader& reader, struct ModelConfig& config) = nullptr;
  // Names that files may have and no model here uses: # is a number, and what ends with a dot is the beginning of more.
  std::vector<std::string> unused{};
  std::string lm_class{};     // of the head that writes: "GPT2LMHeadModel"; "": class_name + "ForCausalLM", say
  std::string bare_prefix{};  // the end of prefix that tensors keep where there is no head: OPT's "decoder."
};

struct ModelConfig {
  const ModelFamily* family = nullptr;
  Json source{};  // config.json itself, which saving writes again
  std::vector<std::string> labels{};

  // The rest is read by the family.
  ModelInfo info{};
  double initializer_range = 0.02;
  std::vector<PublishedName> names{};  // of the backbone, without the family's prefix
  std::int64_t blocks_per_group = 1;   // of layers that share weights
  std::vector<SizeCheck> sizes{};
  std::int64_t decoder_start = 0;   // the decoder's first token, for a head that reads_itself
  std::string head_table = "word";  // in `names`: the table of words that heads may be tied to
  // Names under which files may hold a tensor once more, or instead: {its name, the other}, as `theirs` in `names`.
  std::vector<std::pair<std::string, std::string>> copies{};
  // Tensors that files have although they follow from the fields: written, not read. Names as in `names`.
  std::vector<std::pair<std::string, Tensor>> constants{};
  std::string labels_field = "id2label";
  std::vector<HeadConfig> heads{};
  std::function<std::shared_ptr<Backbone>()> make{};  // parameters start as zeros

  // Throws invalid_argument when the family has no such head.
  const HeadConfig& head_config(HeadKind kind) const;
  // The same model with other labels, here and in the source.
  void set_labels(std::vector<std::string> given);
};

// "BertForMaskedLM"
std::string architecture_name(const ModelFamily& family, HeadKind head);

// The family that a config.json's model_type names. Throws bad_format if registry.h has none.
const ModelFamily& model_family(const Json& config, const std::string& where);

// config.json of any model_type of registry.h. `where` is the file's name for errors: bad_format that names the field
// for everything absent, contradictory, absurd or not known.
ModelConfig parse_model_config(const Json& config, const std::string& where);

// What sentence-transformers applies to the logits of a cross-encoder by this config.json: sigmoid, none (the logits
// themselves), or nothing where it does not say. Throws bad_format for any other.
std::optional<Activation> cross_encoder_activation(const Json& config, const std::string& where);

// The head that "architectures" names: BertForMaskedLM -> masked_lm, BertModel or nothing -> none.
HeadKind head_of(const ModelConfig& config, const std::string& where);

}  // namespace heed
