// How to generate: HuggingFace's names, meaning and defaults (GenerationConfig), and what OpenAI and llama.cpp add.
// docs/generation.md explains them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/fields.h"

namespace heed {

struct GenerateOptions {
  // Length. With neither max_new_tokens nor max_length: 20 new tokens.
  std::optional<std::int64_t> max_new_tokens{}, max_length{}, min_new_tokens{};
  std::int64_t min_length = 0;
  std::optional<double> max_time{};
  std::vector<std::string> stop_strings{};
  std::vector<std::int64_t> eos_token_id{};
  // Search
  bool do_sample = false;
  std::int64_t num_beams = 1, num_beam_groups = 1, num_return_sequences = 1;
  Json early_stopping = false;  // or true, or "never"
  double length_penalty = 1, diversity_penalty = 0;
  // The shape of the distribution, if sampled
  double temperature = 1, top_p = 1, typical_p = 1, epsilon_cutoff = 0, eta_cutoff = 0;
  std::int64_t top_k = 50;
  std::optional<double> min_p{}, top_h{};
  double top_n_sigma = 0, xtc_probability = 0, xtc_threshold = 0.1;
  // Penalties and bans
  double repetition_penalty = 1, encoder_repetition_penalty = 1, presence_penalty = 0, frequency_penalty = 0;
  std::int64_t prompt_ignore_length = 0;
  std::int64_t no_repeat_ngram_size = 0, encoder_no_repeat_ngram_size = 0;
  double dry_multiplier = 0, dry_base = 1.75;
  std::int64_t dry_allowed_length = 2, dry_penalty_last_n = -1;
  std::vector<std::int64_t> dry_sequence_breaker_ids{};
  Json bad_words_ids = Json::array();  // [[1], [2, 3]]
  Json sequence_bias = Json::array();  // [[[2, 3], -1.5], ...]
  std::vector<std::int64_t> suppress_tokens{}, begin_suppress_tokens{}, forced_eos_token_id{};
  std::optional<std::int64_t> forced_bos_token_id{};
  Json exponential_decay_length_penalty = Json::array();  // [start, factor]
  bool remove_invalid_values = false, renormalize_logits = false;

  Fields fields();
  // What no field says alone: beams and groups that do not fit, several answers of a greedy search. Throws
  // invalid_argument.
  void check() const;
  // Of the whole sequence, for a prompt of this many tokens.
  std::int64_t length_limit(std::int64_t prompt_length) const;
};

// generation_config.json. Every field of HuggingFace's is honoured, known not to change what is generated here, or
// refused by its name if it is set to do something: bad_format with `where`.
GenerateOptions read_generation_config(const Json& config, const std::string& where);

// What a model's folder says of how to generate, as a generation_config.json: that file itself, or if it is null what
// config.json has of its fields, where they stood before there was such a file.
Json generation_settings(const Json& generation_config, const Json& config);

// What the decoder of a model that reads a source begins with, by such settings: decoder_start_token_id, or
// bos_token_id. Throws bad_format if there is none.
std::int32_t decoder_start(const Json& settings, const std::string& where);

}  // namespace heed
