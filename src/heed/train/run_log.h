// What a run leaves to read: log.jsonl, one JSON a line (Weights & Biases and pandas read it), and TensorBoard's event
// file. A resumed run cuts off what the killed one wrote behind its last checkpoint.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "heed/base/json.h"

namespace heed {

class RunLog {
 public:
  // Keeps the lines of the file up to and with this step.
  RunLog(const std::filesystem::path& folder, std::int64_t step);
  // Appends {"step": step, ...fields}.
  void write(std::int64_t step, const Json& fields);

 private:
  std::filesystem::path path_;
};

}  // namespace heed
