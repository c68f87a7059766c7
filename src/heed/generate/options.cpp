#include "heed/generate/options.h"

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

constexpr double kAny = 1e30, kAbove0 = 1e-30;
constexpr std::int64_t kMostSequences = 1000, kMostTokens = std::int64_t{1} << 40;

bool is_ids(const Json& list) {
  return list.is_array() && !list.empty() && std::ranges::all_of(list, [](const Json& id) {
           return id.is_number_integer() && id >= 0 && id <= std::numeric_limits<std::int32_t>::max();
         });
}

bool is_bias(const Json& item) {
  return item.is_array() && item.size() == 2 && is_ids(item[0]) && item[1].is_number() && item[1] > -kAny &&
         item[1] < kAny;
}

Field ids_field(std::string name, std::vector<std::int64_t>& place, std::string help) {
  const auto valid = [&place] {
    return std::ranges::all_of(place, [](std::int64_t id) { return id >= 0 && id <= INT32_MAX; });
  };
  return Field(std::move(name), place, std::move(help)).where(valid, "ids of tokens");
}

Field number_field(std::string name, double& place, std::string help, double low, double high, std::string expected) {
  const auto valid = [&place, low, high] { return place >= low && place <= high; };
  return Field(std::move(name), place, std::move(help)).where(valid, std::move(expected));
}

Fields length_fields(GenerateOptions& o) {
  return {Field("max_new_tokens", o.max_new_tokens, "most tokens to generate").at_least(0),
          Field("max_length", o.max_length, "most tokens of prompt and answer together").at_least(1),
          Field("min_new_tokens", o.min_new_tokens, "fewest tokens to generate before the end").at_least(0),
          Field("min_length", o.min_length, "fewest tokens before the end, the prompt included").at_least(0),
          Field("max_time", o.max_time, "most seconds to generate").at_least(0),
          Field("stop_strings", o.stop_strings, "texts that end the answer and are not part of it")
              .where([&o] { return std::ranges::none_of(o.stop_strings, &std::string::empty); }, "texts")
              .also("stop"),
          ids_field("eos_token_id", o.eos_token_id, "ids of tokens that end the answer")};
}

Fields search_fields(GenerateOptions& o) {
  const auto early = [&o] { return o.early_stopping.is_boolean() || o.early_stopping == "never"; };
  return {
      Field("do_sample", o.do_sample, "sample tokens by their probability instead of taking the likeliest"),
      Field("num_beams", o.num_beams, "number of beams; 1: no beam search").at_least(1),
      Field("num_beam_groups", o.num_beam_groups, "number of groups of beams that should differ").at_least(1),
      Field("num_return_sequences", o.num_return_sequences, "number of answers per prompt").at_least(1).also("n"),
      Field("early_stopping", o.early_stopping,
            "end a beam search at num_beams answers: true; unless better ones are likely: false; possible: \"never\"")
          .where(early, "true, false or \"never\""),
      number_field("length_penalty", o.length_penalty,
                   "exponent of the length in the score of beams; above 0 favours longer answers", -kAny, kAny,
                   "a number"),
      number_field("diversity_penalty", o.diversity_penalty, "penalty for tokens that earlier groups of beams chose", 0,
                   kAny, "0 or more")};
}

Fields shape_fields(GenerateOptions& o) {
  const auto share = [](const std::optional<double>& value, double low) {
    return [&value, low] { return !value || (*value >= low && *value <= 1); };
  };
  return {number_field("temperature", o.temperature,
                       "temperature of sampling: above 1 more random, below 1 less; 0: the likeliest token", 0, kAny,
                       "0 or more"),
          number_field("top_p", o.top_p, "sample from the smallest set of tokens whose probability reaches this", 0, 1,
                       "between 0 and 1"),
          number_field("typical_p", o.typical_p, "sample from the most typical tokens whose probability reaches this",
                       kAbove0, 1, "above 0, 1 at most"),
          number_field("epsilon_cutoff", o.epsilon_cutoff, "drop tokens with a probability below this", 0, 1,
                       "between 0 and 1"),
          number_field("eta_cutoff", o.eta_cutoff,
                       "drop tokens with a probability below this, or lower if the entropy is high", 0, 1,
                       "between 0 and 1"),
          Field("top_k", o.top_k, "sample from the k most likely tokens; 0: all").at_least(0),
          Field("min_p", o.min_p, "drop tokens whose probability is below this share of the likeliest one's")
              .where(share(o.min_p, 0), "between 0 and 1"),
          Field("top_h", o.top_h, "sample from the most likely tokens that have this share of the entropy")
              .where(share(o.top_h, kAbove0), "above 0, 1 at most"),
          number_field("top_n_sigma", o.top_n_sigma,
                       "sample from scores within n standard deviations of the best; 0: off", 0, kAny, "0 or more"),
          number_field("xtc_probability", o.xtc_probability, "probability of excluding the top choices", 0, 1,
                       "between 0 and 1"),
          number_field("xtc_threshold", o.xtc_threshold, "probability above which a token is a top choice", 0, 1,
                       "between 0 and 1")};
}

Fields penalty_fields(GenerateOptions& o) {
  const auto pair = [&o] {
    const Json& value = o.exponential_decay_length_penalty;
    return value.is_array() && (value.empty() || (value.size() == 2 && value[0].is_number_integer() && value[0] >= 0 &&
                                                  value[0] <= kMostTokens && value[1].is_number() && value[1] > 0));
  };
  const auto words = [&o] { return o.bad_words_ids.is_array() && std::ranges::all_of(o.bad_words_ids, is_ids); };
  const auto biases = [&o] { return o.sequence_bias.is_array() && std::ranges::all_of(o.sequence_bias, is_bias); };
  return {
      number_field("repetition_penalty", o.repetition_penalty,
                   "penalty for repeated tokens: above 1 fewer, below 1 more", kAbove0, kAny, "above 0"),
      number_field("encoder_repetition_penalty", o.encoder_repetition_penalty,
                   "above 1: favour tokens that the encoder read", kAbove0, kAny, "above 0"),
      number_field("presence_penalty", o.presence_penalty, "penalty for tokens that were generated already", -kAny,
                   kAny, "a number"),
      number_field("frequency_penalty", o.frequency_penalty,
                   "penalty for tokens that were generated already, per occurrence", -kAny, kAny, "a number"),
      Field("prompt_ignore_length", o.prompt_ignore_length, "number of first tokens that repetition_penalty ignores")
          .at_least(0),
      Field("no_repeat_ngram_size", o.no_repeat_ngram_size, "size of n-grams that may not occur twice; 0: off")
          .at_least(0),
      Field("encoder_no_repeat_ngram_size", o.encoder_no_repeat_ngram_size,
            "size of n-grams of the encoder's input that may not occur; 0: off")
          .at_least(0),
      number_field("dry_multiplier", o.dry_multiplier, "penalty for tokens that prolong a repetition; 0: off", 0, kAny,
                   "0 or more"),
      number_field("dry_base", o.dry_base, "base of the growth of that penalty with the repetition's length", 1, kAny,
                   "at least 1"),
      Field("dry_allowed_length", o.dry_allowed_length, "longest repetition without that penalty, in tokens")
          .at_least(0),
      Field("dry_penalty_last_n", o.dry_penalty_last_n,
            "number of last tokens in which to look for repetitions; -1: all")
          .at_least(-1),
      ids_field("dry_sequence_breaker_ids", o.dry_sequence_breaker_ids, "ids of tokens that end a repetition"),
      Field("bad_words_ids", o.bad_words_ids, "sequences of ids that may not occur")
          .where(words, "lists of ids of tokens"),
      Field("sequence_bias", o.sequence_bias, "sequences of ids, each with a number to add to its score")
          .where(biases, "a list of [ids of tokens, number]"),
      ids_field("suppress_tokens", o.suppress_tokens, "ids of tokens that may not occur"),
      ids_field("begin_suppress_tokens", o.begin_suppress_tokens, "ids of tokens that may not come first"),
      ids_field("forced_eos_token_id", o.forced_eos_token_id,
                "id of the last token if the answer reaches its greatest length"),
      Field("forced_bos_token_id", o.forced_bos_token_id, "id of the token that follows a prompt of one token")
          .at_least(0),
      Field("exponential_decay_length_penalty", o.exponential_decay_length_penalty,
            "number of tokens after which the end grows likelier, and by which factor per token")
          .where(pair, "[tokens, factor above 0]"),
      Field("remove_invalid_values", o.remove_invalid_values, "continue if the model gives NaN or infinite scores"),
      Field("renormalize_logits", o.renormalize_logits, "normalize the scores again after all rules")};
}

}  // namespace

Fields GenerateOptions::fields() {
  Fields list;
  for (auto* part : {length_fields, search_fields, shape_fields, penalty_fields}) {
    for (Field& field : part(*this)) list.push_back(std::move(field));
  }
  return list;
}

void GenerateOptions::check() const {
  HEED_CHECK(num_beams <= kMostSequences && num_return_sequences <= kMostSequences, "[generate] num_beams is ",
             num_beams, " and num_return_sequences ", num_return_sequences, ", expected ", kMostSequences, " at most");
  HEED_CHECK(num_beams > 1 || do_sample || num_return_sequences == 1, "[generate] num_return_sequences is ",
             num_return_sequences, ", but a greedy search has one answer: set do_sample or num_beams");
  HEED_CHECK(num_beams == 1 || num_return_sequences <= num_beams, "[generate] num_return_sequences is ",
             num_return_sequences, ", more than num_beams ", num_beams);
  HEED_CHECK(num_beams % num_beam_groups == 0, "[generate] num_beams ", num_beams, " is not a multiple of ",
             num_beam_groups, " num_beam_groups");
  HEED_CHECK(num_beam_groups == 1 || !do_sample, "[generate] groups of beams are not sampled: do_sample is set");
  HEED_CHECK(num_beam_groups > 1 || diversity_penalty == 0,
             "[generate] diversity_penalty needs num_beam_groups above 1");
}

std::int64_t GenerateOptions::length_limit(std::int64_t prompt_length) const {
  if (max_new_tokens) return prompt_length + std::min(*max_new_tokens, kMostTokens);
  return max_length ? *max_length : prompt_length + 20;
}

}  // namespace heed
