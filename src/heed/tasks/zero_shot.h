// Labels that no training named: a model of natural-language inference says whether "This example is {label}." follows
// from the text. The rules are those of HuggingFace's zero-shot-classification pipeline.
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/classify.h"

namespace heed {

struct ZeroShotOptions {
  std::string hypothesis = "This example is {}.";  // the field "template", a word that C++ keeps for itself
  bool multi_label = false;                        // several labels may be right: each has a score of its own
  Fields fields();
};

// For each text all labels, best first. Scores add up to 1 (softmax of what speaks for entailment) unless several
// labels may be right, or there is only one: then entailment against contradiction, label by label.
std::vector<std::vector<LabelScore>> zero_shot(const LoadedModel& model, const std::vector<std::string>& texts,
                                               const std::vector<std::string>& labels,
                                               const ZeroShotOptions& options = {});

const Task& zero_shot_task();

}  // namespace heed
