// Masked language modelling (Devlin et al. 2019): what may stand in the place of a mask token. Of the tokens chosen for
// training, 80 % become the mask, 10 % a random token, 10 % stay; the model is to say what they were.
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/loaded_model.h"

namespace heed {

struct MlmOptions {
  std::int64_t top_k = 5;
  double probability = 0.15;
  bool whole_words = false;
  Fields fields();
};

struct FilledMask {
  std::int32_t token = 0;
  std::string token_text;
  float score = 0;
  std::string sequence;  // the text with the token in place
};

struct FilledText {
  std::vector<std::vector<FilledMask>> masks{};  // for each mask the top_k most probable tokens, best first
};

// Throws invalid_argument for a text without a mask.
std::vector<FilledText> fill_mask(const LoadedModel& model, const std::vector<std::string>& texts,
                                  std::int64_t top_k = 5);

const Task& mlm_task();

}  // namespace heed
