// What metrics, report and details have in common; the numbers themselves are tested in metrics_test.cpp.
#include "heed/metrics/evaluation.h"

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace heed {
namespace {

TEST(Evaluation, LabelsHaveMetricsATableAndAConfusion) {
  const Evaluation result = evaluate_labels({"a", "a", "b", "c"}, {"a", "b", "b", "c"}, 3);
  EXPECT_DOUBLE_EQ(result.metrics.at("accuracy"), 0.75);
  EXPECT_NE(result.report.find("Matthews 0."), std::string::npos);
  EXPECT_NE(result.report.find("a      2  ▓▓·   50 %   most often taken for b (1)"), std::string::npos)
      << result.report;
  const Json json = to_json(result);
  EXPECT_EQ(json.at("accuracy"), 0.75);
  EXPECT_EQ(json.at("f1_macro"), json.at("averages").at("macro").at("f1"));
  EXPECT_EQ(json.at("confusion").at("counts").at(0), (std::vector<int>{1, 1, 0}));
  test::error_of(ErrorKind::invalid_argument, [] { evaluate_labels({"a"}, {}); });
}

TEST(Evaluation, ConfusionOfVeryManyLabelsIsNotPictured) {
  Labels labels;
  for (int i = 0; i < 101; ++i) labels.push_back(std::to_string(i));
  const Evaluation result = evaluate_labels(labels, labels);
  EXPECT_EQ(result.report.find("what was found"), std::string::npos);
  EXPECT_EQ(result.details.at("confusion").at("labels").size(), 101u);
}

TEST(Evaluation, LabelSets) {
  const Evaluation result = evaluate_label_sets({{"a", "b"}, {}}, {{"a"}, {}});
  EXPECT_DOUBLE_EQ(result.metrics.at("f1_micro"), 2.0 / 3);
  EXPECT_TRUE(to_json(result).at("averages").contains("samples"));
}

TEST(Evaluation, NumbersHaveNothingToSayBeyondTheirMetrics) {
  const std::vector<double> expected = {1, 2, 3}, found = {2, 4, 7};
  const Evaluation result = evaluate_numbers(expected, found);
  EXPECT_DOUBLE_EQ(result.metrics.at("spearman"), 1);
  EXPECT_EQ(result.report, "");
  EXPECT_EQ(to_json(result).size(), 2u);
}

TEST(Evaluation, TagsAreEntitiesOrLabelsOfWords) {
  const std::vector<Tags> expected = {{"B-A", "I-A", "O"}, {"B-B"}}, found = {{"B-A", "O", "O"}, {"B-B"}};
  const Evaluation entities = evaluate_tags(expected, found, EntityOptions{});
  EXPECT_DOUBLE_EQ(entities.metrics.at("f1"), 0.5);
  EXPECT_DOUBLE_EQ(entities.metrics.at("accuracy"), 0.75);
  EXPECT_TRUE(entities.report.ends_with("\naccuracy of words 0.7500\n"));
  const Evaluation words = evaluate_tags(expected, found, std::nullopt, 2);
  EXPECT_EQ(words.metrics.size(), 1u);
  EXPECT_TRUE(words.details.at("classes").contains("I-A"));
  test::error_of(ErrorKind::invalid_argument, [&] { evaluate_tags(expected, {}, std::nullopt); });
}

TEST(Evaluation, LabelsShowWhetherTheySpellEntities) {
  EXPECT_TRUE(spell_entities({"O", "B-PER", "I-PER"}));
  EXPECT_TRUE(spell_entities({"U-LOC", "L-LOC"}));
  EXPECT_FALSE(spell_entities({"O"}));
  EXPECT_FALSE(spell_entities({"NOUN", "X-RAY", "B-PER"}));
  EXPECT_FALSE(spell_entities({}));
}

TEST(Evaluation, Answers) {
  const Evaluation result = evaluate_answers({"the fox", ""}, {{"fox", "dog"}, {}});
  EXPECT_DOUBLE_EQ(result.metrics.at("exact"), 1);
  EXPECT_EQ(to_json(result).at("without_answer"), 1);
}

}  // namespace
}  // namespace heed
