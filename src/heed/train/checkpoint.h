// All that a run needs to go on, in one file that is there whole or not at all: weights, optimizer, moving average and
// place, with a checksum. The newest one that is sound is the one to resume from.
#pragma once

#include <filesystem>
#include <optional>

#include "heed/base/json.h"
#include "heed/tensor/tensor_map.h"

namespace heed {

struct Checkpoint {
  std::int64_t step = 0;
  Json state = Json::object();  // whatever the trainer wants back
  TensorMap tensors{};
};

// Writes folder/step-00000123.safetensors, durably, then removes all but the newest `keep`.
std::filesystem::path save_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint, int keep);

// Throws bad_format for a file that is damaged or none of ours.
Checkpoint load_checkpoint(const std::filesystem::path& file);

// The newest sound one of the folder; damaged ones are passed over, and named in `damaged`.
std::optional<Checkpoint> newest_checkpoint(const std::filesystem::path& folder, std::vector<std::string>& damaged);

}  // namespace heed
