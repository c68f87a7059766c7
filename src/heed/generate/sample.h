// Drawing a token from scores.
#pragma once

#include <span>

#include "heed/generate/rule.h"

namespace heed {

// The token at `share` of [0, 1) of the cumulative distribution softmax(scores), ids in order, summed in double: the
// same for the same scores, whatever else runs. There is a score above -inf.
TokenId sample(std::span<const float> scores, double share);

}  // namespace heed
