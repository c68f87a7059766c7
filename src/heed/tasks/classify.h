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

struct LabelScore {
  std::string label;
  float score = 0;
};

// For each input all labels, best first. Scores are by config.json's problem_type: softmax for one label of several,
// sigmoid for labels that stand side by side (and for a single label), the raw number for regression.
std::vector<std::vector<LabelScore>> classify(const LoadedModel& model, const std::vector<TextInput>& inputs);

const Task& classify_task();

}  // namespace heed
