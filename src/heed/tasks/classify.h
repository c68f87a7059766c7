// Labels of whole texts, or of pairs: sentiment, inference, the next sentence, the relevance of a text to a query.
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/text_model.h"

namespace heed {

struct LabelScore {
  std::string label;
  float score = 0;
};

// For each input all labels, best first. Scores are by config.json's problem_type: softmax for one label of several,
// sigmoid for labels that stand side by side (and for a single label), the raw number for regression.
std::vector<std::vector<LabelScore>> classify(const TextModel& model, const std::vector<TextInput>& inputs);

struct RankedText {
  std::size_t index = 0;  // in the list that was given
  float score = 0;
};

// The texts by what a cross-encoder (a classifier with one label) makes of (query, text), best first.
std::vector<RankedText> rerank(const TextModel& model, const std::string& query, const std::vector<std::string>& texts);

// [{"label", "score"}, ...]
Json to_json(const std::vector<LabelScore>& scores);
// [{"index", "score", "text"}, ...]
Json to_json(const std::vector<RankedText>& ranked, const std::vector<std::string>& texts);

}  // namespace heed
