// What the numbers of a classifier's head mean, for every task that reads them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/tasks/classify.h"
#include "heed/tasks/task.h"

namespace heed {

// How config.json names the kinds of a classifier's answers.
inline constexpr const char* kProblemTypes[] = {"single_label_classification", "multi_label_classification",
                                                "regression"};
// What config.json calls the kind of a classifier's answers, "" if it does not.
std::string problem_type(const TaskSetup& setup);
// The score of each label, in their order, from their logits.
std::vector<double> label_scores(std::string_view problem_type, std::span<const float> logits);
// [{"label", "score"}, ...]
Json to_json(const std::vector<LabelScore>& scores);

Row row_of(const TextInput& input);

}  // namespace heed
