// Searches over tables instead of models.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "generate/suite_lines.h"
#include "heed/generate/search.h"
#include "support/error_of.h"
#include "support/shared_data.h"

namespace heed {
namespace {

using Ids = std::vector<TokenId>;
using Row = std::vector<float>;
using Table = std::function<Row(const Ids& ids)>;

std::vector<Generation> run(SearchSetup setup, const Table& table) {
  const auto search = make_search(setup);
  std::vector<Ids> rows = {setup.prompt};
  while (!search->done()) {
    std::vector<float> logits;
    for (const Ids& ids : rows) {
      const Row row = table(ids);
      logits.insert(logits.end(), row.begin(), row.end());
    }
    search->advance(logits);
    std::vector<Ids> next;
    for (const Feed& feed : search->next()) {
      next.push_back(rows.at(static_cast<std::size_t>(feed.source)));
      next.back().push_back(feed.token);
    }
    rows = std::move(next);
  }
  return search->results();
}

// logits = A[last] + B[second last] + S[tokens - 1], as the suite's first line says.
Table table_of(const Json& recorded) {
  const auto a = recorded["A"].get<std::vector<Row>>(), b = recorded["B"].get<std::vector<Row>>(),
             s = recorded["S"].get<std::vector<Row>>();
  return [=](const Ids& ids) {
    const auto last = static_cast<std::size_t>(ids.back()),
               before = static_cast<std::size_t>(ids.size() > 1 ? ids[ids.size() - 2] : ids.back());
    Row row = a[last];
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += b[before][i] + s[(ids.size() - 1) % s.size()][i];
    return row;
  };
}

TEST(BeamSearchSuite, EveryCaseOfHuggingFace) {
  const auto file = test::shared_data("suites/beam-search/hf-generate.jsonl");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  int cases = 0;
  for (const Json& recorded : test::suite_lines(file)) {
    SCOPED_TRACE(recorded["id"].get<std::string>() + " " + recorded["params"].dump());
    std::size_t place = 0;
    for (const Json& prompt : recorded["input_ids"]) {
      const GenerateOptions options = read_generation_config(recorded["params"], "params");
      const std::vector<Generation> found =
          run({.prompt = prompt.get<Ids>(), .options = options, .vocabulary = recorded["vocab"]}, table_of(recorded));
      ASSERT_EQ(std::ssize(found), options.num_return_sequences);
      for (const Generation& each : found) {
        Ids ids = prompt.get<Ids>();
        for (const TokenId id : each.ids()) ids.push_back(id);
        EXPECT_EQ(ids, recorded["trimmed"].at(place).get<Ids>()) << place;
        const Json& scores = recorded["sequences_scores"];
        if (!scores.is_null()) {
          EXPECT_NEAR(each.score, scores.at(place).get<double>(), 1e-4) << place;
        }
        ++place;
      }
    }
    EXPECT_EQ(place, recorded["trimmed"].size());
    ++cases;
  }
  EXPECT_GT(cases, 0);
  RecordProperty("cases", cases);
}

// Probabilities per prefix of words; token 0 ends, the prompt is one token more.
TEST(BeamSearchSuite, EveryCaseOfFairseq) {
  const auto file = test::shared_data("suites/beam-search/fairseq.jsonl");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  int cases = 0;
  for (const Json& recorded : test::suite_lines(file)) {
    SCOPED_TRACE(recorded["id"].get<std::string>());
    const auto vocabulary = recorded["vocab"].get<std::vector<std::string>>();
    const Table table = [&](const Ids& ids) {
      std::string prefix;
      for (std::size_t i = 1; i < ids.size(); ++i) {
        prefix += (i > 1 ? " " : "") + vocabulary[static_cast<std::size_t>(ids[i])];
      }
      Row row(vocabulary.size(), -INFINITY);
      if (!recorded["prefix_probs"].contains(prefix))
        row[0] = 0;
      else
        for (std::size_t i = 0; i < row.size(); ++i)
          row[i] = std::log(recorded["prefix_probs"][prefix][i].get<float>());
      return row;
    };
    const Json& params = recorded["params"];
    GenerateOptions options;
    options.num_beams = options.num_return_sequences = recorded["beam_size"];
    options.eos_token_id = {0};
    options.length_penalty = params["normalize"] == true ? params["len_penalty"].get<double>() : 0;
    options.early_stopping = true;  // fairseq stops when it has as many as beams
    const std::int64_t words = params.value("max_len", 20);
    options.max_new_tokens = words + 1;
    // At the greatest length only the end may come, with its own probability.
    const AllowedTokens allowed = [&](std::span<const TokenId> ids) {
      return std::ssize(ids) > words ? Ids{0} : Ids{0, 1, 2, 3};
    };
    const std::vector<Generation> found = run(
        {.prompt = {1}, .options = options, .vocabulary = std::ssize(vocabulary), .allowed_tokens = allowed}, table);
    ASSERT_EQ(found.size(), recorded["expected"].size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Json& expected = recorded["expected"][i];
      std::vector<std::string> tokens;
      double score = 0;
      for (const TokenId id : found[i].ids()) tokens.push_back(vocabulary[static_cast<std::size_t>(id)]);
      EXPECT_EQ(tokens, expected["tokens"].get<std::vector<std::string>>());
      for (const Json& p : expected["positional_probs"]) score += std::log(p.get<double>());
      EXPECT_NEAR(found[i].score, score / std::pow(tokens.size(), options.length_penalty), 1e-4);
    }
    ++cases;
  }
  EXPECT_GT(cases, 0);
}

// logits of a small table, of no suite
Row wavy(const Ids& ids) {
  Row row;
  for (int i = 0; i < 9; ++i)
    row.push_back(std::sin(static_cast<float>(i * 5 + ids.back() * 3) + 0.7f * static_cast<float>(std::ssize(ids))));
  return row;
}

std::vector<Ids> answers(const GenerateOptions& options, std::uint64_t seed = 0) {
  std::vector<Ids> list;
  for (const Generation& each : run({.prompt = {1}, .options = options, .vocabulary = 9, .seed = seed}, wavy)) {
    list.push_back(each.ids());
  }
  return list;
}

// Without a penalty all groups find the same; with one they begin differently.
TEST(BeamSearch, GroupsDifferByTheirPenalty) {
  GenerateOptions options;
  options.eos_token_id = {0};
  options.max_new_tokens = 6;
  options.num_beams = options.num_return_sequences = 6;
  options.num_beam_groups = 3;
  const std::vector<Ids> same = answers(options);
  ASSERT_EQ(same.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(same[i], same[i / 3 * 3]) << i;
  options.diversity_penalty = 100;
  std::set<TokenId> first;
  for (const Ids& ids : answers(options)) first.insert(ids.front());
  EXPECT_GE(first.size(), 3u);
}

TEST(BeamSearch, SampledBeamsRepeatBySeed) {
  GenerateOptions options;
  options.eos_token_id = {0};
  options.max_new_tokens = 8;
  options.num_beams = options.num_return_sequences = 4;
  options.do_sample = true;
  EXPECT_EQ(answers(options, 1), answers(options, 1));
  EXPECT_NE(answers(options, 1), answers(options, 2));
}

TEST(BeamSearch, FailsWhereNothingMayCome) {
  GenerateOptions options;
  options.num_beams = 2;
  options.suppress_tokens = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_NE(test::error_of(ErrorKind::invalid_argument, [&] { answers(options); }).find("position 1"),
            std::string::npos);
  options.num_beams = 1;
  EXPECT_NE(test::error_of(ErrorKind::invalid_argument, [&] { answers(options); }).find("position 1"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
