// The rules that a request's options ask for, in HuggingFace's order. Rules that would do nothing are not made.
#pragma once

#include "heed/generate/options.h"
#include "heed/generate/rule.h"

namespace heed {

// First `before`, then the row's constraint if it has one, then `after`.
//   before: sequence_bias, diversity_penalty, encoder_repetition_penalty, repetition_penalty, presence and frequency
//           penalty, dry, no_repeat_ngram_size, encoder_no_repeat_ngram_size, bad_words_ids, min_length,
//           min_new_tokens, allowed tokens, forced_bos_token_id, forced_eos_token_id, remove_invalid_values,
//           exponential_decay_length_penalty, suppress_tokens, begin_suppress_tokens
//   after:  if sampled: temperature, top_n_sigma, top_h, top_k, top_p, min_p, typical_p, epsilon_cutoff, eta_cutoff,
//   xtc;
//           and always last: renormalize_logits
struct RuleList {
  std::vector<Rule> before, after;
};

struct RuleSetup {
  std::int64_t vocabulary = 0;
  std::int64_t prompt_length = 0;
  std::int64_t length_limit = 0;  // of the whole sequence
  bool has_encoder = false;
  AllowedTokens allowed_tokens{};
};

// Throws invalid_argument for ids outside the vocabulary where they could not be meant.
RuleList make_rules(const GenerateOptions& options, const RuleSetup& setup);

std::vector<TokenId> token_ids(const std::vector<std::int64_t>& ids);

}  // namespace heed
