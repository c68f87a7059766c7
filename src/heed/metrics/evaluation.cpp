#include "heed/metrics/evaluation.h"

#include <algorithm>

#include "heed/metrics/fixed.h"
#include "heed/metrics/ranking.h"

namespace heed {
namespace {

// Wider pictures help nobody.
constexpr std::size_t kMostPictured = 100;

// An empty line, the name and the value.
std::string line_below(const char* name, double value, int digits) {
  return std::string("\n").append(name) + " " + fixed(value, digits) + "\n";
}

// All in one list: each word counts by itself.
Labels concatenated(const std::vector<Tags>& sequences) {
  Labels all;
  for (const Tags& tags : sequences) std::ranges::copy(tags, std::back_inserter(all));
  return all;
}

}  // namespace

Json to_json(const Evaluation& evaluation) {
  Json result = evaluation.details;
  for (const auto& [name, value] : evaluation.metrics) result[name] = value;
  return result;
}

std::string text_of(const Evaluation& evaluation, int digits) {
  std::size_t width = 0;
  for (const auto& [name, value] : evaluation.metrics) width = std::max(width, name.size());
  std::string text = evaluation.report;
  for (const auto& [name, value] : evaluation.metrics) {
    text += name + std::string(width - name.size() + 1, ' ') + fixed(value, digits) + "\n";
  }
  return text;
}

Evaluation evaluate_labels(const Labels& expected, const Labels& found, int digits) {
  const ScoreReport report = classification_report(expected, found);
  const ConfusionMatrix confusion = confusion_matrix(expected, found);
  Evaluation result{.metrics = {{"accuracy", confusion.accuracy()},
                                {"f1_macro", report.average("macro").f1},
                                {"f1_weighted", report.average("weighted").f1},
                                {"matthews", confusion.matthews()}},
                    .report = report.text(digits) + line_below("Matthews", confusion.matthews(), digits),
                    .details = to_json(report)};
  result.details["confusion"] = to_json(confusion);
  if (confusion.labels.size() <= kMostPictured) {
    result.report.append("\nexpected, how many, what was found:\n").append(confusion.picture());
  }
  return result;
}

Evaluation evaluate_label_sets(const std::vector<Labels>& expected, const std::vector<Labels>& found, int digits) {
  const ScoreReport report = classification_report(expected, found);
  return {.metrics = {{"f1_micro", report.average("micro").f1}, {"f1_macro", report.average("macro").f1}},
          .report = report.text(digits),
          .details = to_json(report)};
}

Evaluation evaluate_numbers(std::span<const double> expected, std::span<const double> found) {
  return {.metrics = {{"pearson", pearson(expected, found)}, {"spearman", spearman(expected, found)}}};
}

Evaluation evaluate_tags(const std::vector<Tags>& expected, const std::vector<Tags>& found,
                         const std::optional<EntityOptions>& entities, int digits) {
  const ScoreReport report = entities ? entity_report(expected, found, *entities)
                                      : classification_report(concatenated(expected), concatenated(found));
  const double accuracy = tag_accuracy(expected, found);
  Evaluation result{.metrics = {{"accuracy", accuracy}},
                    .report = report.text(digits) + line_below("accuracy of words", accuracy, digits),
                    .details = to_json(report)};
  if (entities) {
    const Scores& micro = report.average("micro");
    result.metrics.insert({{"f1", micro.f1}, {"precision", micro.precision}, {"recall", micro.recall}});
  }
  return result;
}

Evaluation evaluate_answers(const std::vector<std::string>& found, const std::vector<std::vector<std::string>>& right,
                            AnswerRule rule) {
  const AnswerReport report = answer_report(found, right, rule);
  return {.metrics = {{"exact", report.exact}, {"f1", report.f1}}, .details = to_json(report)};
}

}  // namespace heed
