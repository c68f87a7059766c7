// What may stand in the place of a mask token.
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/text_model.h"

namespace heed {

struct FilledMask {
  std::int32_t token = 0;
  std::string token_text;
  float score = 0;
  std::string sequence;  // the text with the token in place
};

// For each text, for each mask in it, the top_k most probable tokens, best first. Throws invalid_argument for a text
// without a mask.
std::vector<std::vector<std::vector<FilledMask>>> fill_mask(const TextModel& model,
                                                            const std::vector<std::string>& texts,
                                                            std::size_t top_k = 5);

// [{"token_str", "token", "score", "sequence"}, ...]; a list of such lists where a text has several masks.
Json to_json(const std::vector<std::vector<FilledMask>>& masks);

}  // namespace heed
