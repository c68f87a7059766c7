// What a config.json says of an encoder (BERT and its relatives), in one form for all of them. Behaviour follows these
// fields, never the model's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/ops/activation.h"

namespace heed {

// What stands behind the encoder. Shapes of the logits: B sequences, N tokens, L labels, V vocabulary.
enum class Head {
  none,
  sequence_classification,  // [B, L]
  token_classification,     // [N, L]
  masked_lm,                // [N, V]
  question_answering,       // [N, 2]: start and end
  next_sentence,            // [B, 2]
  replaced_token,           // [N, 1]: ELECTRA's discriminator
};
std::string_view to_string(Head head);

enum class TextPositions {
  absolute,            // a trained vector for each position, added to the word's
  relative_key,        // trained vectors of distances, met by the queries
  relative_key_query,  // and by the keys
  absolute_and_bias,   // absolute, and a trained bias for each bucket of distances (MPNet)
};

struct EncoderConfig {
  std::string model_type{};
  Json source{};  // config.json itself, which saving writes again

  std::int64_t vocabulary = 0, width = 0, heads = 0, inner = 0;
  std::int64_t embedding_width = 0;          // of the tables; another than `width` is projected
  bool always_projected = false;             // has the projection even if the widths are equal (ALBERT)
  std::int64_t types = 0;                    // rows of the table of token types; 0: there is none
  std::int64_t positions = 0;                // rows of the table of positions
  std::optional<std::int64_t> padding_id{};  // positions count tokens other than this one, from padding_id + 1 on
  TextPositions position_kind = TextPositions::absolute;
  std::int64_t distance_buckets = 0;
  // Layer i applies the blocks_per_group blocks of group i * groups / layers. Without sharing groups = layers.
  std::int64_t layers = 0, groups = 0, blocks_per_group = 1;
  Activation activation = Activation::gelu;
  double epsilon = 1e-12;
  bool tie_word_embeddings = true;
  std::vector<std::string> labels{};

  // In training.
  double dropout = 0, attention_dropout = 0;
  double sequence_dropout = 0, token_dropout = 0, answer_dropout = 0;  // of the heads
  double initializer_deviation = 0.02;

  // The longest sequence the table of positions allows.
  std::int64_t max_tokens() const { return padding_id ? positions - *padding_id - 1 : positions; }
};

// config.json of any registered model_type. `where` is the file's name for errors: bad_format that names the field for
// everything absent, contradictory, absurd or not known.
EncoderConfig parse_encoder_config(const Json& config, const std::string& where);

// The head that "architectures" names: BertForMaskedLM -> masked_lm, BertModel or nothing -> none.
Head head_of(const EncoderConfig& config, const std::string& where);

// The same model with other labels, in the struct and in its source.
void set_labels(EncoderConfig& config, std::vector<std::string> labels);

}  // namespace heed
