#include "heed/tasks/label_scores.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/tasks/run_task.h"

namespace heed {

Row row_of(const TextInput& input) {
  return {.text = input.text, .pair = input.pair};
}

std::string problem_type(const TaskSetup& setup) {
  if (setup.head == HeadKind::next_sentence) return kProblemTypes[0];
  const std::string where = setup.name + ": config.json";
  const auto type = json_optional<std::string>(setup.config, "problem_type", "", where);
  HEED_CHECK_AS(bad_format, type.empty() || std::ranges::find(kProblemTypes, type) != std::end(kProblemTypes), where,
                ": problem_type is \"", type,
                "\", expected single_label_classification, multi_label_classification or regression");
  // A cross-encoder may say it in the words of sentence-transformers.
  const bool raw =
      type.empty() && setup.labels.size() == 1 && cross_encoder_activation(setup.config, where) == Activation::none;
  return raw ? kProblemTypes[2] : type;
}

std::vector<double> label_scores(std::string_view problem_type, std::span<const float> logits) {
  std::vector<double> values(logits.begin(), logits.end());
  if (problem_type == "regression") return values;
  // HuggingFace's rule for its text-classification pipeline.
  if (problem_type == "multi_label_classification" || logits.size() == 1) {
    for (double& value : values) value = 1 / (1 + std::exp(-value));
  } else {
    softmax_in_place(values);
  }
  return values;
}

Json to_json(const std::vector<LabelScore>& scores) {
  Json list = Json::array();
  for (const LabelScore& each : scores) list.push_back({{"label", each.label}, {"score", each.score}});
  return list;
}

}  // namespace heed
