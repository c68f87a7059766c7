// Rules change the scores of the next token before one is chosen. They have HuggingFace's names and meaning
// (transformers v5.12), and those of llama.cpp where HuggingFace has none.
//
// A rule holds no state: what it does follows from the row alone, so that rows may be forked, dropped and computed in
// any order. A token that may not come gets -inf.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace heed {

using TokenId = std::int32_t;

// What a rule sees of the sequence whose next token is to be chosen.
struct RuleRow {
  std::span<const TokenId> ids;  // so far, the prompt included
  std::int64_t prompt_length = 0;
  std::span<const TokenId> encoder_ids{};   // what an encoder read, if there is one
  std::span<const TokenId> group_tokens{};  // that earlier groups of beams chose for this position
  // Random numbers are a function of (seed, stream, ids.size()).
  std::uint64_t seed = 0, stream = 0;
};

class LogitsRule {
 public:
  virtual ~LogitsRule() = default;
  virtual void apply(const RuleRow& row, std::span<float> scores) const = 0;  // [V]
};
using Rule = std::unique_ptr<const LogitsRule>;

// Something that allows tokens by what came before and keeps its own state: a grammar, say. Every row has one of its
// own; a fork clones it.
class RowConstraint {
 public:
  virtual ~RowConstraint() = default;
  virtual std::unique_ptr<RowConstraint> clone() const = 0;
  // -inf for what may not come next, where at most `left` tokens more may, this one included. End ids are not its
  // business: can_end() decides about them.
  virtual void apply(std::span<float> scores, std::int64_t left) const = 0;
  virtual void accept(TokenId id) = 0;
  virtual bool can_end() const = 0;
};

// Penalties (rules_penalty.cpp). Seen tokens: scores below 0 times `penalty`, others divided by it. The first
// `ignored` tokens do not count.
Rule repetition_penalty(double penalty, std::int64_t ignored = 0);
// The opposite for what the encoder read: above 1 makes it likelier.
Rule encoder_repetition_penalty(double penalty);
// OpenAI's: subtracted from tokens generated before, once, or times how often.
Rule presence_frequency_penalty(double presence, double frequency);
// What earlier groups chose, times how often (HammingDiversity).
Rule diversity_penalty(double penalty);
// A bias for the last token of a sequence where the others stand before it.
using SequenceBias = std::vector<std::pair<std::vector<TokenId>, double>>;
Rule sequence_bias(SequenceBias biases);
// From prompt + start on, end ids gain |score| (factor ^ tokens since - 1).
Rule exponential_decay_length_penalty(std::int64_t start, double factor, std::vector<TokenId> end_ids);
// llama.cpp's "do not repeat yourself": a token that would prolong a repetition of `allowed_length` tokens or more
// loses multiplier * base ^ (length - allowed_length). Looks at the last `last_n` tokens (-1: all); repetitions do not
// cross a breaker.
struct DryOptions {
  double multiplier = 0, base = 1.75;
  std::int64_t allowed_length = 2, last_n = -1;
  std::vector<TokenId> breakers{};
};
Rule dry(DryOptions options);

// Bans (rules_ban.cpp).
Rule no_repeat_ngram(std::int64_t size);
Rule encoder_no_repeat_ngram(std::int64_t size);
// Sequences that may not be completed; end ids alone do not count.
Rule bad_words(const std::vector<std::vector<TokenId>>& words, std::span<const TokenId> end_ids);
Rule suppress_tokens(std::vector<TokenId> tokens);
// Only where exactly `length` tokens stand before.
Rule suppress_tokens_at(std::vector<TokenId> tokens, std::int64_t length);
// No end before there are `length` tokens, the prompt included; or as many new ones.
Rule min_length(std::int64_t length, std::vector<TokenId> end_ids);
Rule min_new_tokens(std::int64_t count, std::vector<TokenId> end_ids);
// After exactly `length` tokens only these, with equal scores.
Rule forced_tokens(std::vector<TokenId> tokens, std::int64_t length);
// What a function of the ids so far allows; to allow nothing is an error.
using AllowedTokens = std::function<std::vector<TokenId>(std::span<const TokenId> ids)>;
Rule prefix_allowed_tokens(AllowedTokens allowed);

// The shape of the distribution (rules_shape.cpp). `keep`: at least this many of the best stay.
Rule temperature(double value);  // 0: only the best stays
Rule top_k(std::int64_t count, std::int64_t keep = 1);
Rule top_p(double mass, std::int64_t keep = 1);
Rule min_p(double share, std::int64_t keep = 1);
Rule typical_p(double mass, std::int64_t keep = 1);
Rule epsilon_cutoff(double epsilon, std::int64_t keep = 1);
Rule eta_cutoff(double epsilon, std::int64_t keep = 1);
Rule top_h(double share);
// llama.cpp's: what lies within n standard deviations of the best score.
Rule top_n_sigma(double n);
// llama.cpp's "exclude top choices": with this probability, of the tokens above the threshold only the least stays.
Rule xtc(double probability, double threshold);
// NaN to 0, infinities to the largest and least float.
Rule remove_invalid_values();
// log softmax
Rule renormalize_logits();

}  // namespace heed
