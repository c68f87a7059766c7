// What a run does where its config leaves it open: learning rate, batch, epochs and patience, by the size of the data
// and of the model. Rules and reasons are in docs/training.md; a pure function, so that a resumed run has the same.
#pragma once

#include "heed/train/config.h"

namespace heed {

struct RunSize {
  std::int64_t samples = 0, tokens = 0, longest = 0;  // of data.train; the longest sample, in tokens
  std::int64_t hidden_size = 0, layers = 0;           // of the model
  double trained_share = 1;  // of all parameters: small for low-rank additions and a head alone
  bool judged = true;        // there is dev data; without it there is nothing to have patience with
};

// Fills in the fields that are to be chosen (optimizer.learning_rate, batch.tokens and epochs that are 0,
// evaluate.patience that is -1), each by itself: those that are given stay, and the others follow them.
// Returns what was chosen, in words ("optimizer.learning_rate 0.0002, batch.tokens 512"); empty if nothing was.
std::string choose_recipe(TrainConfig& config, const RunSize& size);

}  // namespace heed
