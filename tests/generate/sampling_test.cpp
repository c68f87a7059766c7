#include <gtest/gtest.h>

#include <algorithm>

#include "generate/suite_lines.h"
#include "heed/base/random.h"
#include "heed/generate/rule.h"
#include "heed/generate/sample.h"
#include "heed/generate/selection.h"
#include "support/shared_data.h"

namespace heed {
namespace {

// llama.cpp's samplers by its names.
std::vector<Rule> rules_of(const std::string& sampler, const Json& p) {
  std::vector<Rule> rules;
  if (sampler == "temp" || (sampler == "temp_ext" && p["delta"] == 0)) {
    rules.push_back(temperature(p["temperature"]));
  } else if (sampler == "top_k") {
    if (p["k"] > 0) rules.push_back(top_k(p["k"]));
  } else if (sampler == "top_p") {
    rules.push_back(top_p(p["p"]));
  } else if (sampler == "min_p") {
    rules.push_back(min_p(p["p"]));
  } else if (sampler == "xtc") {
    rules.push_back(xtc(p["probability"], p["threshold"]));
  } else if (sampler == "typical") {
    rules.push_back(typical_p(p["p"]));
  } else if (sampler == "penalties") {
    rules.push_back(repetition_penalty(p["repeat_penalty"]));
    rules.push_back(presence_frequency_penalty(p["presence"], p["frequency"]));
  } else if (sampler == "dry") {
    EXPECT_TRUE(p["seq_breakers"].empty());
    rules.push_back(dry({p["multiplier"], p["base"], p["allowed_length"], p["penalty_last_n"]}));
  } else if (sampler == "top_n_sigma") {
    if (p["n"] > 0) rules.push_back(top_n_sigma(p["n"]));
  } else {
    ADD_FAILURE() << "no sampler " << sampler;
  }
  return rules;
}

// What is left, as multisets: probabilities, normalised if the case has them so.
void check_sampler(const Json& recorded) {
  const auto last = recorded.value("last_tokens", std::vector<TokenId>());
  std::vector<float> scores;
  for (const Json& p : recorded["probs"]) scores.push_back(std::log(p.get<float>()));
  for (const Rule& rule : rules_of(recorded["sampler"], recorded["params"])) rule->apply({.ids = last}, scores);
  if (recorded["normalised"] == true) renormalize_logits()->apply({.ids = {}}, scores);
  std::vector<double> found, expected;
  for (const float score : scores) found.push_back(std::exp(score));
  for (const Json& p : recorded["expected"]) expected.push_back(p);
  expected.resize(found.size());  // llama.cpp drops tokens where heed gives them no chance
  std::ranges::sort(found);
  std::ranges::sort(expected);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], recorded["tolerance"]) << i;
}

void check_queue(const Json& recorded) {
  const auto vocabulary = recorded["n_vocab"].get<std::size_t>();
  std::vector<float> scores;
  for (std::size_t id = 0; id < vocabulary; ++id) scores.push_back(std::log(static_cast<float>(id)));
  for (const Json& step : recorded["expected"]) {
    const std::string sampler = step["sampler"];
    const Json p = {{"k", recorded["top_k"]}, {"p", sampler == "min_p" ? recorded["min_p"] : recorded["top_p"]}};
    for (const Rule& rule : rules_of(sampler, p)) rule->apply({.ids = {}}, scores);
    // Token 0 has no chance from the start; llama.cpp may still count it.
    const auto first = std::max(step["last_id"].get<std::size_t>(), std::size_t{1}),
               end = step["best_id"].get<std::size_t>() + 1;
    for (std::size_t id = 1; id < vocabulary; ++id) {
      ASSERT_EQ(scores[id] != kForbidden, id >= first && id < end) << sampler << " " << id;
    }
    const std::size_t kept = end - first, size = step["size"];
    EXPECT_TRUE(size == kept || (size == kept + 1 && size == vocabulary)) << sampler << " " << size;
  }
}

TEST(SamplingSuite, EveryCaseOfLlamaCpp) {
  const auto file = test::shared_data("suites/sampling-llamacpp/cases.jsonl");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  int cases = 0;
  for (const Json& recorded : test::suite_lines(file)) {
    SCOPED_TRACE(recorded.dump());
    recorded["kind"] == "queue" ? check_queue(recorded) : check_sampler(recorded);
    ++cases;
  }
  EXPECT_GT(cases, 0);
  RecordProperty("cases", cases);
}

TEST(Sample, IsTheInverseOfTheCumulativeDistribution) {
  const std::vector<float> scores = {std::log(0.25f), kForbidden, std::log(0.5f), std::log(0.25f), kForbidden};
  EXPECT_EQ(sample(scores, 0), 0);
  EXPECT_EQ(sample(scores, 0.2499), 0);
  EXPECT_EQ(sample(scores, 0.2501), 2);
  EXPECT_EQ(sample(scores, 0.7499), 2);
  EXPECT_EQ(sample(scores, 0.7501), 3);
  EXPECT_EQ(sample(scores, 1 - 0x1p-53), 3);
  EXPECT_EQ(sample(std::vector<float>{0, INFINITY, 3}, 0.5), 1);
}

TEST(Sample, DrawsEachTokenAsOftenAsItsProbability) {
  const std::vector<float> scores = {1, 2, kForbidden, 0.5f};
  std::vector<int> counts(4);
  constexpr int kDraws = 20000;
  for (std::uint64_t i = 0; i < kDraws; ++i)
    ++counts[static_cast<std::size_t>(sample(scores, uniform_double(1, 2, i)))];
  const double total = std::exp(1.0) + std::exp(2.0) + std::exp(0.5);
  EXPECT_NEAR(counts[0], kDraws * std::exp(1.0) / total, 300);
  EXPECT_NEAR(counts[1], kDraws * std::exp(2.0) / total, 300);
  EXPECT_EQ(counts[2], 0);
}

}  // namespace
}  // namespace heed
