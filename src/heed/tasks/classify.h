// Labels of whole texts, or of pairs: sentiment, inference, the next sentence. One label of several, any number of
// them, or a number (regression).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/tasks/loaded_model.h"

namespace heed {

// One text, or two that the model reads as a pair.
struct TextInput {
  TextInput(std::string first) : text(std::move(first)) {}  // NOLINT: a text is an input
  TextInput(const char* first) : text(first) {}             // NOLINT
  TextInput(std::string first, std::string second) : text(std::move(first)), pair(std::move(second)) {}

  std::string text;
  std::optional<std::string> pair{};
};
Row row_of(const TextInput& input);

struct ClassifyOptions {
  std::string kind = "one";
  double label_smoothing = 0;
  std::int64_t digits = 4;
  Fields fields();
};

struct LabelScore {
  std::string label;
  float score = 0;
};

// For each input all labels, best first. Scores are by config.json's problem_type: softmax for one label of several,
// sigmoid for labels that stand side by side (and for a single label), the raw number for regression.
std::vector<std::vector<LabelScore>> classify(const LoadedModel& model, const std::vector<TextInput>& inputs);

// [{"label", "score"}, ...]
Json to_json(const std::vector<LabelScore>& scores);

// What config.json calls the kind of a classifier's answers, "" if it does not.
std::string problem_type(const TaskSetup& setup);
// The score of each label, in their order, from their logits.
std::vector<double> label_scores(std::string_view problem_type, std::span<const float> logits);

const Task& classify_task();

}  // namespace heed
