#include "heed/tasks/evaluation.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "heed/tasks/metrics_ranking.h"

namespace heed {
namespace {

// Wider pictures help nobody.
constexpr std::size_t kMostPictured = 100;

// An empty line, the name and the value.
std::string line_below(const char* name, double value, int digits) {
  std::ostringstream line;
  line << '\n' << name << ' ' << std::fixed << std::setprecision(digits) << value << '\n';
  return line.str();
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
                         std::optional<TagScheme> scheme, int digits) {
  const ScoreReport report = scheme ? entity_report(expected, found, {.scheme = *scheme})
                                    : classification_report(concatenated(expected), concatenated(found));
  const double accuracy = tag_accuracy(expected, found);
  Evaluation result{.metrics = {{"accuracy", accuracy}},
                    .report = report.text(digits) + line_below("accuracy of words", accuracy, digits),
                    .details = to_json(report)};
  if (scheme) {
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
