// What a run leaves to read: log.jsonl, one JSON a line (Weights & Biases and pandas read it), and tensorboard/ with
// event files. A resumed run cuts off, or declares void, what the killed one wrote after its last checkpoint.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "heed/base/json.h"
#include "heed/io/tensorboard.h"

namespace heed {

class RunLog {
 public:
  // Keeps the lines of the file up to and with this step, but not of its evaluation if that is due again.
  RunLog(const std::filesystem::path& folder, std::int64_t step, bool evaluation_due, bool tensorboard);
  // Appends {"step": step, ...fields}; numbers become scalars of TensorBoard.
  void write(std::int64_t step, const Json& fields);
  // For what lines of JSON cannot hold; null if it is not wanted.
  EventFile* events() { return events_ ? &*events_ : nullptr; }

 private:
  std::filesystem::path path_;
  std::optional<EventFile> events_;
};

}  // namespace heed
