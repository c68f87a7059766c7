// From right answers and predictions to metrics: one function per kind of answer, for the trainer and for `heed eval`.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/metrics/answers.h"
#include "heed/metrics/classify.h"
#include "heed/metrics/entities.h"

namespace heed {

struct Evaluation {
  std::map<std::string, double> metrics{};
  std::string report{};           // a text for people, where there is more to say than the metrics
  Json details = Json::object();  // what the report is made of
};
// The details, with the metrics beside them.
Json to_json(const Evaluation& evaluation);
// The report, and a line for each of the metrics.
std::string text_of(const Evaluation& evaluation, int digits);

// `digits` are those of the report. All throw invalid_argument for lists of different lengths.

// accuracy, f1_macro, f1_weighted, matthews. The report pictures the confusion of up to 100 labels.
Evaluation evaluate_labels(const Labels& expected, const Labels& found, int digits = 4);
// Any number of labels per text: f1_micro, f1_macro.
Evaluation evaluate_label_sets(const std::vector<Labels>& expected, const std::vector<Labels>& found, int digits = 4);
// pearson, spearman; of at least two numbers.
Evaluation evaluate_numbers(std::span<const double> expected, std::span<const double> found);
// accuracy of words and, if the tags spell entities, their precision, recall and f1.
Evaluation evaluate_tags(const std::vector<Tags>& expected, const std::vector<Tags>& found,
                         const std::optional<EntityOptions>& entities, int digits = 4);
// exact, f1; `right` are all answers that count as such.
Evaluation evaluate_answers(const std::vector<std::string>& found, const std::vector<std::vector<std::string>>& right,
                            AnswerRule rule = AnswerRule::words);

}  // namespace heed
