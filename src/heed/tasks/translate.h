// Translation: texts of one language to another, by a model that reads the one and writes the other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/tasks/loaded_model.h"

namespace heed {

struct Translation {
  std::string text{};
  double score = 0;  // what beams are ranked by, or the sum of log-probabilities
};

// The translations of each text, the best first: num_return_sequences of them; none of a blank text. `options` are the
// fields of docs/tasks.md as a JSON object, over those of the model's generation_config.json.
std::vector<std::vector<Translation>> translate(const LoadedModel& model, const std::vector<std::string>& texts,
                                                std::string_view options = "{}");

const Task& translate_task();

}  // namespace heed
