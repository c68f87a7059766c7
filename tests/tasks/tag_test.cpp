#include "heed/tasks/tag.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/engine/load.h"
#include "heed/models/load.h"
#include "heed/tasks/classify.h"
#include "heed/tasks/run_task.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

const std::vector<std::string> kLabels = {"O", "B-PER", "I-PER", "B-LOC", "I-LOC"};

// As WordPiece joins.
std::string join(std::vector<std::string> tokens) {
  std::string text;
  for (const std::string& token : tokens) {
    const bool continues = token.starts_with("##") && !text.empty();
    text += continues ? token.substr(2) : (text.empty() ? "" : " ") + token;
  }
  return text;
}

// "Wolfgang Am Rhein sah Bonn Köln", where the tokens of a word disagree.
const std::vector<TagToken> kTokens = {
    {"Wolf", 0, 0, 4, 1, {0.1f, 0.6f, 0.1f, 0.1f, 0.1f}}, {"##gang", 0, 4, 8, 2, {0, 0, 0.1f, 0.1f, 0.8f}},
    {"Am", 1, 9, 11, 3, {0.1f, 0, 0.8f, 0.1f, 0}},        {"Rhein", 2, 12, 17, 4, {0, 0, 0.7f, 0.3f, 0}},
    {"sah", 3, 18, 21, 5, {0.9f, 0.1f, 0, 0, 0}},         {"Bonn", 4, 22, 26, 6, {0, 0, 0, 0.9f, 0.1f}},
    {"Kö", 5, 27, 29, 7, {0, 0, 0, 0.7f, 0.3f}},          {"##ln", 5, 29, 31, 8, {0, 0, 0, 0.1f, 0.9f}},
};

struct Expected {
  std::string label, word;
  double score;
  std::int64_t start, end;
};

void expect(Aggregation aggregation, const std::vector<Expected>& expected) {
  const auto found = aggregate(kTokens, kLabels, aggregation, join);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(found[i].label, expected[i].label);
    EXPECT_EQ(found[i].word, expected[i].word);
    EXPECT_NEAR(found[i].score, expected[i].score, 1e-6);
    EXPECT_EQ(found[i].start, expected[i].start);
    EXPECT_EQ(found[i].end, expected[i].end);
    EXPECT_EQ(found[i].index.has_value(), aggregation == Aggregation::none);
  }
}

// Expected values by hand from the rules of HuggingFace's pipeline.
TEST(Tag, AggregatesAsHuggingFaceDoes) {
  expect(Aggregation::none, {{"B-PER", "Wolf", 0.6, 0, 4},
                             {"I-LOC", "##gang", 0.8, 4, 8},
                             {"I-PER", "Am", 0.8, 9, 11},
                             {"I-PER", "Rhein", 0.7, 12, 17},
                             {"O", "sah", 0.9, 18, 21},
                             {"B-LOC", "Bonn", 0.9, 22, 26},
                             {"B-LOC", "Kö", 0.7, 27, 29},
                             {"I-LOC", "##ln", 0.9, 29, 31}});
  expect(Aggregation::simple, {{"PER", "Wolf", 0.6, 0, 4},
                               {"LOC", "##gang", 0.8, 4, 8},
                               {"PER", "Am Rhein", 0.75, 9, 17},
                               {"O", "sah", 0.9, 18, 21},
                               {"LOC", "Bonn", 0.9, 22, 26},
                               {"LOC", "Köln", 0.8, 27, 31}});
  expect(Aggregation::first, {{"PER", "Wolfgang Am Rhein", (0.6 + 0.8 + 0.7) / 3, 0, 17},
                              {"O", "sah", 0.9, 18, 21},
                              {"LOC", "Bonn", 0.9, 22, 26},
                              {"LOC", "Köln", 0.7, 27, 31}});
  expect(Aggregation::max, {{"LOC", "Wolfgang", 0.8, 0, 8},
                            {"PER", "Am Rhein", 0.75, 9, 17},
                            {"O", "sah", 0.9, 18, 21},
                            {"LOC", "Bonn Köln", 0.9, 22, 31}});
  expect(Aggregation::average, {{"LOC", "Wolfgang", 0.45, 0, 8},
                                {"PER", "Am Rhein", 0.75, 9, 17},
                                {"O", "sah", 0.9, 18, 21},
                                {"LOC", "Bonn Köln", (0.9 + 0.6) / 2, 22, 31}});
}

TEST(Tag, OfOverlappingEntitiesTheLongestThenTheSurestStays) {
  const auto merged = merge_windows({{"PER", 0.5f, "a", 0, 4, {}},
                                     {"LOC", 0.9f, "d", 10, 12, {}},
                                     {"LOC", 0.4f, "b", 2, 9, {}},
                                     {"ORG", 0.95f, "e", 10, 12, {}},
                                     {"PER", 0.9f, "f", 12, 13, {}}});
  std::string words;
  for (const Entity& entity : merged) words += entity.word;
  EXPECT_EQ(words, "bef");
}

class RandomTagger : public ::testing::Test {
 protected:
  RandomTagger() { test::write_random_model(folder_.path(), HeadKind::token_classification, kLabels); }
  test::TempFolder folder_;
};

TEST_F(RandomTagger, GivesTheLabelsOfTheLogits) {
  const LoadedModel model = load(folder_.path());
  const std::string text = "Ünder the dog, in Berlin";
  const auto entities = tag(model, {text}, {.aggregation = "none", .ignored = {}})[0];
  // u ##n ##d ##e ##r the dog , in berlin
  ASSERT_EQ(entities.size(), 10u);
  EXPECT_EQ(entities[1].word, "##n");
  EXPECT_EQ(entities.back().word, "berlin");
  EXPECT_EQ(entities.back().start, 18);  // characters, not bytes
  EXPECT_EQ(entities.back().end, 24);

  const auto plain = load_model(folder_.path());
  const auto encoding = model.tokenizer().encode(text);
  const auto n = static_cast<std::int64_t>(encoding.size());
  const Tensor logits = plain->forward({Packed(Tensor::from(encoding.ids, {n}), Offsets({n}))}, Context()).logits;
  for (std::int64_t t = 1; t + 1 < n; ++t) {
    std::int64_t best = 0;
    double sum = 0;
    for (std::int64_t label = 0; label < 5; ++label) {
      if (logits.at({t, label}) > logits.at({t, best})) best = label;
      sum += std::exp(logits.at({t, label}));
    }
    const Entity& entity = entities[static_cast<std::size_t>(t - 1)];
    EXPECT_EQ(entity.label, kLabels[static_cast<std::size_t>(best)]) << t;
    EXPECT_NEAR(entity.score, std::exp(logits.at({t, best})) / sum, 1e-6) << t;
    EXPECT_EQ(entity.index, static_cast<std::size_t>(t));
  }
}

TEST_F(RandomTagger, WindowsCoverLongTexts) {
  const LoadedModel model = load(folder_.path());
  std::string text;
  for (int i = 0; i < 60; ++i) text += "fox ";
  const auto entities = tag(model, {text, "fox"}, {.aggregation = "none", .ignored = {}});
  ASSERT_EQ(entities[0].size(), 60u);
  ASSERT_EQ(entities[1].size(), 1u);
  for (std::size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(entities[0][i].start, static_cast<std::int64_t>(4 * i));
    EXPECT_EQ(entities[0][i].index, i + 1);
  }
}

TEST_F(RandomTagger, RefusesOtherTasks) {
  const LoadedModel model = load(folder_.path());
  const std::string message = test::error_of(ErrorKind::invalid_argument, [&] { classify(model, {"a"}); });
  EXPECT_NE(message.find("[classify]"), std::string::npos) << message;
  EXPECT_NE(message.find(folder_.path().string()), std::string::npos) << message;
  test::error_of(ErrorKind::invalid_argument, [] { aggregation_named("mean"); });
}

}  // namespace
}  // namespace heed
