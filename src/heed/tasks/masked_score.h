// How well a masked language model guesses hidden words: the loss behind its perplexity.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/tasks/text_model.h"

namespace heed {

struct MaskedScore {
  double loss = 0;         // the sum of -ln(probability of the right token)
  std::size_t tokens = 0;  // that were hidden
  std::size_t right = 0;   // whose right token was the most probable
};

// Hides `share` of each text's tokens, at least one, behind mask tokens and adds up the losses there. Which ones are
// hidden depends on the text and the seed alone. Long texts are cut into windows side by side.
MaskedScore masked_score(const TextModel& model, const std::vector<std::string>& texts, double share = 0.15,
                         std::uint64_t seed = 1);

}  // namespace heed
