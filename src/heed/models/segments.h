// Texts that are read in segments: what was read before is remembered.
#pragma once

#include "heed/models/model.h"

namespace heed {

// The last hidden states [N, C] of inputs of which Inputs::remembered tokens were read in an earlier segment. Their
// states are computed first, without gradients; the others see them as the backbone's memory. So the memory of a
// segment is a function of the text and the weights: nothing is carried from one batch to the next.
Tensor encode_remembered(const Backbone& backbone, const Inputs& inputs, const Context& context);

}  // namespace heed
