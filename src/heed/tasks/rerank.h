// Texts by what a cross-encoder (a classifier with one label) makes of (query, text).
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/loaded_model.h"

namespace heed {

struct RankedText {
  std::size_t index = 0;  // in the list that was given
  float score = 0;
};

// Best first.
std::vector<RankedText> rerank(const LoadedModel& model, const std::string& query,
                               const std::vector<std::string>& texts);

const Task& rerank_task();

}  // namespace heed
