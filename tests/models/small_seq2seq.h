// Configurations of small models with an encoder and a decoder, of every family, whose halves differ in all they may.
#pragma once

#include <string>
#include <vector>

#include "heed/base/json.h"

namespace heed::test {

inline constexpr std::int64_t kSeq2SeqVocabulary = 61;

inline Json small_seq2seq(const std::string& model_type, const Json& more = Json::object()) {
  Json config = {{"model_type", model_type}, {"vocab_size", kSeq2SeqVocabulary}, {"d_model", 32}};
  if (model_type.ends_with("t5")) {
    config.update({{"d_kv", 6},
                   {"d_ff", 48},
                   {"num_heads", 4},
                   {"num_layers", 2},
                   {"num_decoder_layers", 3},
                   {"relative_attention_num_buckets", 8},
                   {"relative_attention_max_distance", 20}});
  } else {
    config.update({{"encoder_layers", 2},
                   {"decoder_layers", 3},
                   {"encoder_attention_heads", 4},
                   {"decoder_attention_heads", 2},
                   {"encoder_ffn_dim", 48},
                   {"decoder_ffn_dim", 40},
                   {"max_position_embeddings", 200},
                   {"init_std", 0.3}});
  }
  config.update(more);
  return config;
}

inline std::vector<Json> small_seq2seqs() {
  return {small_seq2seq("bart"),
          small_seq2seq("mbart", {{"scale_embedding", true}}),
          small_seq2seq("pegasus", {{"tie_word_embeddings", false}}),
          small_seq2seq("m2m_100"),
          small_seq2seq("blenderbot-small"),
          small_seq2seq("marian"),
          small_seq2seq("marian", {{"share_encoder_decoder_embeddings", false}, {"decoder_vocab_size", 47}}),
          small_seq2seq("t5"),
          small_seq2seq("t5", {{"feed_forward_proj", "gated-gelu"}, {"tie_word_embeddings", false}}),
          small_seq2seq("mt5"),
          small_seq2seq("umt5")};
}

}  // namespace heed::test
