// attend() by its definition. Slow, and holds whole matrices: tests compare with it, and it has every variant.
#pragma once

#include "heed/attention/attend.h"

namespace heed {

// The definition: one whole matrix of scores per sequence, in plain differentiable ops. `weights`, if given, receives
// the attention of each sequence, [H, queries, keys].
Tensor attend_reference(const AttentionInput& input, std::vector<Tensor>* weights = nullptr);

}  // namespace heed
