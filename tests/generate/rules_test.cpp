#include "heed/generate/rule.h"

#include <gtest/gtest.h>

#include <map>

#include "generate/suite_lines.h"
#include "heed/generate/rule_list.h"
#include "heed/generate/selection.h"
#include "support/error_of.h"
#include "support/shared_data.h"

namespace heed {
namespace {

using Ids = std::vector<TokenId>;

Ids ids_of(const Json& value) {
  return value.is_array() ? value.get<Ids>() : Ids{value.get<TokenId>()};
}

SequenceBias biases_of(const Json& value) {
  SequenceBias biases;
  if (value.is_object()) {
    for (const auto& [key, bias] : value.items()) biases.emplace_back(Json::parse(key).get<Ids>(), bias.get<double>());
  } else {
    for (const Json& item : value) biases.emplace_back(item[0].get<Ids>(), item[1].get<double>());
  }
  return biases;
}

// A rule of the recorded class and parameters.
Rule rule_of(const std::string& name, const Json& p) {
  const auto keep = p.value("min_tokens_to_keep", std::int64_t{1});
  const auto ends = [&] { return ids_of(p["eos_token_id"]); };
  const std::map<std::string, std::function<Rule()>> classes = {
      {"SequenceBiasLogitsProcessor", [&] { return sequence_bias(biases_of(p["sequence_bias"])); }},
      {"EncoderNoRepeatNGramLogitsProcessor", [&] { return encoder_no_repeat_ngram(p["encoder_ngram_size"]); }},
      {"EncoderRepetitionPenaltyLogitsProcessor", [&] { return encoder_repetition_penalty(p["penalty"]); }},
      {"EpsilonLogitsWarper", [&] { return epsilon_cutoff(p["epsilon"], keep); }},
      {"EtaLogitsWarper", [&] { return eta_cutoff(p["epsilon"], keep); }},
      {"ExponentialDecayLengthPenalty",
       [&] {
         const Json& pair = p["exponential_decay_length_penalty"];
         return exponential_decay_length_penalty(pair[0], pair[1], ends());
       }},
      {"ForcedBOSTokenLogitsProcessor", [&] { return forced_tokens(ids_of(p["bos_token_id"]), 1); }},
      {"ForcedEOSTokenLogitsProcessor", [&] { return forced_tokens(ends(), p["max_length"].get<std::int64_t>() - 1); }},
      {"MinLengthLogitsProcessor", [&] { return min_length(p["min_length"], ends()); }},
      {"MinPLogitsWarper", [&] { return min_p(p["min_p"], keep); }},
      {"MinNewTokensLengthLogitsProcessor", [&] { return min_new_tokens(p["min_new_tokens"], ends()); }},
      {"NoRepeatNGramLogitsProcessor", [&] { return no_repeat_ngram(p["ngram_size"]); }},
      {"TemperatureLogitsWarper", [&] { return temperature(p["temperature"]); }},
      {"RepetitionPenaltyLogitsProcessor",
       [&] {
         const Json& ignored = p["prompt_ignore_length"];
         return repetition_penalty(p["penalty"], ignored.is_null() ? 0 : ignored.get<std::int64_t>());
       }},
      {"TopKLogitsWarper", [&] { return top_k(p["top_k"], keep); }},
      {"NoBadWordsLogitsProcessor", [&] { return bad_words(p["bad_words_ids"].get<std::vector<Ids>>(), ends()); }},
      {"InfNanRemoveLogitsProcessor", [&] { return remove_invalid_values(); }},
      {"TopHLogitsWarper", [&] { return top_h(p["top_h"]); }},
      {"TopPLogitsWarper", [&] { return top_p(p["top_p"], keep); }},
      {"TypicalLogitsWarper", [&] { return typical_p(p["mass"], keep); }},
      {"SuppressTokensLogitsProcessor", [&] { return suppress_tokens(ids_of(p["suppress_tokens"])); }},
      {"SuppressTokensAtBeginLogitsProcessor",
       [&] { return suppress_tokens_at(ids_of(p["begin_suppress_tokens"]), p["begin_index"]); }},
      {"LogitNormalization", [&] { return renormalize_logits(); }},
  };
  const auto found = classes.find(name);
  return found == classes.end() ? nullptr : found->second();
}

std::vector<float> numbers(const Json& list) {
  std::vector<float> values;
  for (const Json& value : list) values.push_back(test::suite_number(value));
  return values;
}

// What the encoder read for this row of scores. The ban of n-grams takes the beams of one encoder row to follow each
// other; the penalty, rows beyond the encoder's to have read nothing.
Ids encoder_row(const Json& encoder, std::size_t row, std::size_t rows, const std::string& processor) {
  if (encoder.empty() || !encoder[0].is_array()) return encoder.get<Ids>();
  if (processor == "EncoderNoRepeatNGramLogitsProcessor") return encoder[row * encoder.size() / rows].get<Ids>();
  return row < encoder.size() ? encoder[row].get<Ids>() : Ids();
}

TEST(RulesSuite, EveryRecordedCall) {
  const auto file = test::shared_data("suites/logits-processors/processors.jsonl");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  int calls = 0;
  for (const Json& recorded : test::suite_lines(file)) {
    SCOPED_TRACE(recorded.dump().substr(0, 600));
    const Json& p = recorded["params"];
    const Rule rule = rule_of(recorded["processor"], p);
    ASSERT_TRUE(rule) << "no rule of this name";
    const float filter = p.contains("filter_value") ? test::suite_number(p["filter_value"]) : kForbidden;
    const std::size_t rows = recorded["scores"].size();
    for (std::size_t r = 0; r < rows; ++r) {
      const Json &ids = recorded["input_ids"], encoder = p.value("encoder_input_ids", Json::array());
      const Ids row_ids = ids.is_null() ? Ids() : ids[r].get<Ids>();
      const Ids encoder_ids = encoder_row(encoder, r, rows, recorded["processor"]);
      const std::int64_t prompt = p.value("prompt_length_to_skip", p.value("input_ids_seq_length", std::int64_t{0}));
      std::vector<float> scores = numbers(recorded["scores"][r]);
      const std::vector<float> before = scores, expected = numbers(recorded["expected"][r]);
      rule->apply({.ids = row_ids, .prompt_length = prompt, .encoder_ids = encoder_ids}, scores);
      for (std::size_t i = 0; i < scores.size(); ++i) {
        // heed has one value for what may not come.
        if (scores[i] == kForbidden && before[i] != kForbidden) scores[i] = filter;
        if (std::isinf(expected[i])) {
          EXPECT_EQ(scores[i], expected[i]) << "row " << r << " token " << i;
        } else {
          EXPECT_NEAR(scores[i], expected[i], 1e-5 * std::max(1.0f, std::abs(expected[i])))
              << "row " << r << " token " << i;
        }
      }
    }
    ++calls;
  }
  EXPECT_GT(calls, 0);
  RecordProperty("calls", calls);
}

TEST(Rules, PresenceAndFrequencyCountGeneratedTokensOnly) {
  std::vector<float> scores = {1, 1, 1, 1};
  const Ids ids = {3, 3, 0, 1, 1};
  presence_frequency_penalty(0.5, 0.25)->apply({.ids = ids, .prompt_length = 2}, scores);
  EXPECT_EQ(scores, (std::vector<float>{0.25f, 0, 1, 1}));
}

TEST(Rules, DiversityCountsEarlierGroups) {
  std::vector<float> scores = {1, 1, 1};
  const Ids chosen = {2, 0, 2};
  diversity_penalty(0.5)->apply({.ids = {}, .group_tokens = chosen}, scores);
  EXPECT_EQ(scores, (std::vector<float>{0.5f, 1, 0}));
}

TEST(Rules, DryDoesNotCrossBreakers) {
  const Ids ids = {1, 2, 3, 4, 1, 2};
  std::vector<float> free(5, 0), broken(5, 0);
  dry({.multiplier = 1, .base = 2, .allowed_length = 1})->apply({.ids = ids}, free);
  EXPECT_EQ(free, (std::vector<float>{0, 0, 0, -2, 0}));  // 1 2 | 3: two tokens, one allowed
  dry({.multiplier = 1, .base = 2, .allowed_length = 1, .breakers = {1}})->apply({.ids = ids}, broken);
  EXPECT_EQ(broken, (std::vector<float>{0, 0, 0, -1, 0}));
}

TEST(Rules, XtcKeepsTheLeastOfTheLikely) {
  std::vector<float> scores = {std::log(0.4f), std::log(0.3f), std::log(0.2f), std::log(0.1f)};
  const std::vector<float> before = scores;
  xtc(1, 0.15)->apply({.ids = {}}, scores);
  EXPECT_EQ(scores, (std::vector<float>{kForbidden, kForbidden, before[2], before[3]}));
  int drawn = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    std::vector<float> each = before;
    xtc(0.3, 0.15)->apply({.ids = {}, .seed = seed}, each);
    drawn += each != before;
  }
  EXPECT_NEAR(drawn, 300, 60);
}

TEST(Rules, PrefixAllowedTokens) {
  const Rule rule = prefix_allowed_tokens([](std::span<const TokenId> ids) {
    return ids.empty() ? Ids() : ids.back() == 9 ? Ids{-1} : Ids{ids.back(), 2};
  });
  const Ids ids = {1};
  std::vector<float> scores = {1, 2, 3, 4};
  rule->apply({.ids = ids}, scores);
  EXPECT_EQ(scores, (std::vector<float>{kForbidden, 2, 3, kForbidden}));
  test::error_of(ErrorKind::invalid_argument, [&] { rule->apply({.ids = {}}, scores); });
  const Ids outside = {9};
  test::error_of(ErrorKind::invalid_argument, [&] { rule->apply({.ids = outside}, scores); });
}

// Where nothing is left, rules leave nothing and do not fall over.
TEST(Rules, BearScoresOfNothing) {
  for (const Rule& rule :
       {temperature(0), temperature(2), top_k(1), top_p(0.5), min_p(0.5), typical_p(0.5), epsilon_cutoff(0.5),
        eta_cutoff(0.5), top_h(0.5), top_n_sigma(1), xtc(1, 0.1), renormalize_logits()}) {
    std::vector<float> scores(5, kForbidden);
    rule->apply({.ids = {}}, scores);
    EXPECT_EQ(scores, std::vector<float>(5, kForbidden));
  }
}

// Selection without sorting gives what a sort gives.
TEST(Rules, TopPOfManyEqualsAPlainSort) {
  std::vector<float> scores(5000);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<float>((i * 7919) % 5003) * 2e-3f;
  std::vector<float> sorted = scores;
  std::ranges::sort(sorted, std::greater<>());
  for (const double mass : {0.0, 0.1, 0.5, 0.99}) {
    double total = 0, sum = 0;
    for (const float score : sorted) total += std::exp(static_cast<double>(score));
    std::size_t kept = 0;
    while (kept == 0 || sum / total < mass) sum += std::exp(static_cast<double>(sorted[kept++]));
    std::vector<float> filtered = scores;
    top_p(mass)->apply({.ids = {}}, filtered);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      EXPECT_EQ(filtered[i], scores[i] >= sorted[kept - 1] ? scores[i] : kForbidden) << i;
    }
  }
}

TEST(RuleList, MakesOnlyWhatIsAskedFor) {
  const RuleSetup setup{.vocabulary = 10, .prompt_length = 3, .length_limit = 20};
  GenerateOptions options;
  EXPECT_TRUE(make_rules(options, setup).before.empty() && make_rules(options, setup).after.empty());
  options.do_sample = true;
  EXPECT_EQ(make_rules(options, setup).after.size(), 1u);  // top_k 50
  options.bad_words_ids = Json::parse("[[1, 10]]");
  EXPECT_NE(test::error_of(ErrorKind::invalid_argument, [&] { make_rules(options, setup); }).find("bad_words_ids"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
