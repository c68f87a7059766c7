// Training from C++, as `heed train` does it:
//   const heed::TrainResult result = heed::train("sst2.json", {.settings = {"epochs=2"}});
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace heed {

enum class TrainEnd { finished, stopped_early, interrupted };

struct TrainProgress {
  std::int64_t step = 0, steps = 0;  // done, of all
  double loss = 0, learning_rate = 0;
};

struct TrainCall {
  std::vector<std::string> settings{};                  // "name=value", over those of the file
  bool resume = false;                                  // go on from the newest checkpoint of the output folder
  bool overwrite = false;                               // the output folder may hold an earlier run
  std::function<void(const TrainProgress&)> on_step{};  // after each step
  std::function<void(const std::string&)> on_note{};    // what a person should know: phases, odd data
};

struct TrainResult {
  TrainEnd end = TrainEnd::finished;
  std::int64_t steps = 0;
  std::filesystem::path folder{};               // the model, as HuggingFace has it
  std::map<std::string, double> dev{}, test{};  // the metrics of the model that was kept, by name
};

// `config` is the file that `heed train` takes (docs/training.md). Throws what reading the config and the data throws.
// When the thread is to stop (base/stop.h, StopScope), a checkpoint is saved, from which `resume` goes on.
TrainResult train(const std::filesystem::path& config, const TrainCall& call = {});

}  // namespace heed
