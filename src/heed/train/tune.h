// A short search for the learning rate and the number of epochs: ordinary runs in OUTPUT/tune/1, 2 ..., judged on dev
// alone. The first is the config as it is; the others have its learning rate and epochs times some factors. Killed and
// called again with the same config, it goes on with the runs that are not finished.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/train/trainer.h"

namespace heed {

inline constexpr std::int64_t kMostTrials = 10;

struct TuneTrial {
  double learning_rate = 0;
  std::int64_t epochs = 0;
  std::optional<double> score{};  // the best on dev; none if the loss or all scores were not finite
};

struct TuneResult {
  TrainEnd end = TrainEnd::finished;
  std::string metric{};
  std::vector<TuneTrial> trials{};  // that are finished
  std::size_t best = 0;
};

// The best one's model becomes that of config.output, with its results on data.test, as if it had been run there.
// Throws invalid_argument for a number of trials outside of 2 to kMostTrials, for a config without anything to judge
// by, and for an output folder that holds something else than this search, unless that is to be overwritten.
TuneResult tune(const TrainConfig& config, std::int64_t trials, TrainEvents& events, bool overwrite = false);

}  // namespace heed
