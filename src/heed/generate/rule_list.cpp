#include "heed/generate/rule_list.h"

#include <algorithm>

namespace heed {
namespace {

void check_ids(const std::vector<TokenId>& ids, const char* field, std::int64_t vocabulary) {
  for (const TokenId id : ids) {
    HEED_CHECK(id >= 0 && id < vocabulary, "[generate] ", field, " has token ", id, ", the vocabulary has ",
               vocabulary);
  }
}

SequenceBias biases_of(const Json& list, std::int64_t vocabulary) {
  SequenceBias biases;
  for (const Json& item : list) {
    biases.emplace_back(item[0].get<std::vector<TokenId>>(), item[1].get<double>());
    check_ids(biases.back().first, "sequence_bias", vocabulary);
  }
  return biases;
}

std::vector<std::vector<TokenId>> words_of(const Json& list, std::int64_t vocabulary) {
  auto words = list.get<std::vector<std::vector<TokenId>>>();
  for (const std::vector<TokenId>& word : words) check_ids(word, "bad_words_ids", vocabulary);
  return words;
}

void add_penalties(const GenerateOptions& o, const RuleSetup& setup, std::vector<Rule>& rules) {
  if (!o.sequence_bias.empty()) rules.push_back(sequence_bias(biases_of(o.sequence_bias, setup.vocabulary)));
  if (o.diversity_penalty > 0) rules.push_back(diversity_penalty(o.diversity_penalty));
  if (o.encoder_repetition_penalty != 1 && setup.has_encoder) {
    rules.push_back(encoder_repetition_penalty(o.encoder_repetition_penalty));
  }
  if (o.repetition_penalty != 1) rules.push_back(repetition_penalty(o.repetition_penalty, o.prompt_ignore_length));
  if (o.presence_penalty != 0 || o.frequency_penalty != 0) {
    rules.push_back(presence_frequency_penalty(o.presence_penalty, o.frequency_penalty));
  }
  if (o.dry_multiplier > 0 && o.dry_penalty_last_n != 0) {
    rules.push_back(dry({.multiplier = o.dry_multiplier,
                         .base = o.dry_base,
                         .allowed_length = o.dry_allowed_length,
                         .last_n = o.dry_penalty_last_n,
                         .breakers = token_ids(o.dry_sequence_breaker_ids)}));
  }
}

void add_bans(const GenerateOptions& o, const RuleSetup& setup, std::vector<Rule>& rules) {
  const std::vector<TokenId> ends = token_ids(o.eos_token_id);
  if (o.no_repeat_ngram_size > 0) rules.push_back(no_repeat_ngram(o.no_repeat_ngram_size));
  if (o.encoder_no_repeat_ngram_size > 0 && setup.has_encoder) {
    rules.push_back(encoder_no_repeat_ngram(o.encoder_no_repeat_ngram_size));
  }
  if (!o.bad_words_ids.empty()) rules.push_back(bad_words(words_of(o.bad_words_ids, setup.vocabulary), ends));
  if (o.min_new_tokens) {  // which comes before min_length
    if (*o.min_new_tokens > 0 && !ends.empty()) rules.push_back(min_new_tokens(*o.min_new_tokens, ends));
  } else if (o.min_length > setup.prompt_length && !ends.empty()) {
    rules.push_back(min_length(o.min_length, ends));
  }
}

// Those that leave no choice, and what follows them.
void add_forced(const GenerateOptions& o, const RuleSetup& setup, std::vector<Rule>& rules) {
  if (setup.allowed_tokens) rules.push_back(prefix_allowed_tokens(setup.allowed_tokens));
  if (o.forced_bos_token_id && setup.prompt_length <= 1) {
    const std::vector<TokenId> begin = token_ids({*o.forced_bos_token_id});
    check_ids(begin, "forced_bos_token_id", setup.vocabulary);
    rules.push_back(forced_tokens(begin, 1));
  }
  if (!o.forced_eos_token_id.empty()) {
    const std::vector<TokenId> end = token_ids(o.forced_eos_token_id);
    check_ids(end, "forced_eos_token_id", setup.vocabulary);
    rules.push_back(forced_tokens(end, setup.length_limit - 1));
  }
  if (o.remove_invalid_values) rules.push_back(remove_invalid_values());
  const Json& decay = o.exponential_decay_length_penalty;
  if (!decay.empty() && !o.eos_token_id.empty()) {
    rules.push_back(exponential_decay_length_penalty(decay[0].get<std::int64_t>(), decay[1].get<double>(),
                                                     token_ids(o.eos_token_id)));
  }
  if (!o.suppress_tokens.empty()) rules.push_back(suppress_tokens(token_ids(o.suppress_tokens)));
  if (!o.begin_suppress_tokens.empty()) {
    const bool after_forced = setup.prompt_length <= 1 && o.forced_bos_token_id;
    rules.push_back(
        suppress_tokens_at(token_ids(o.begin_suppress_tokens), setup.prompt_length + (after_forced ? 1 : 0)));
  }
}

void add_shape(const GenerateOptions& o, std::vector<Rule>& rules) {
  // Beams need a token to go on with beside those that end them.
  const std::int64_t keep =
      o.num_beams > 1 ? static_cast<std::int64_t>(std::max<std::size_t>(o.eos_token_id.size(), 1)) + 1 : 1;
  if (o.temperature != 1) rules.push_back(temperature(o.temperature));
  if (o.top_n_sigma > 0) rules.push_back(top_n_sigma(o.top_n_sigma));
  if (o.top_h) rules.push_back(top_h(*o.top_h));
  if (o.top_k > 0) rules.push_back(top_k(o.top_k, keep));
  if (o.top_p < 1) rules.push_back(top_p(o.top_p, keep));
  if (o.min_p) rules.push_back(min_p(*o.min_p, keep));
  if (o.typical_p < 1) rules.push_back(typical_p(o.typical_p, keep));
  if (o.epsilon_cutoff > 0 && o.epsilon_cutoff < 1) rules.push_back(epsilon_cutoff(o.epsilon_cutoff, keep));
  if (o.eta_cutoff > 0 && o.eta_cutoff < 1) rules.push_back(eta_cutoff(o.eta_cutoff, keep));
  // With a threshold above a half there is one such token at most.
  if (o.xtc_probability > 0 && o.xtc_threshold <= 0.5) rules.push_back(xtc(o.xtc_probability, o.xtc_threshold));
}

}  // namespace

std::vector<TokenId> token_ids(const std::vector<std::int64_t>& ids) {
  std::vector<TokenId> narrow;
  for (const std::int64_t id : ids) {
    HEED_CHECK(id >= 0 && id <= std::numeric_limits<TokenId>::max(), "[generate] ", id, " is not the id of a token");
    narrow.push_back(static_cast<TokenId>(id));
  }
  return narrow;
}

RuleList make_rules(const GenerateOptions& options, const RuleSetup& setup) {
  RuleList rules;
  add_penalties(options, setup, rules.before);
  add_bans(options, setup, rules.before);
  add_forced(options, setup, rules.before);
  if (options.do_sample) add_shape(options, rules.after);
  if (options.renormalize_logits) rules.after.push_back(renormalize_logits());
  return rules;
}

}  // namespace heed
