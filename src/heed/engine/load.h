// A model folder, ready for use:
//   const heed::LoadedModel model = heed::load("path/to/folder");
//   for (const auto& scores : heed::classify(model, {"what a day"})) ...
#pragma once

#include <filesystem>

#include "heed/tasks/loaded_model.h"

namespace heed {

// Enough for the kernels to be busy, few enough for memory to stay flat.
inline constexpr std::size_t kTokenBudget = 4096;

// A folder of HuggingFace's or sentence-transformers', or the owner/name of a model that was pulled. Errors name the
// file and the field. Calls are safe from several threads at once; results are in the order of the inputs and the same
// bits whatever else is in the call (law 1). A task that the model is not made for throws invalid_argument;
// LoadedModel::supports() tells.
LoadedModel load(const std::filesystem::path& directory, std::size_t token_budget = kTokenBudget);

}  // namespace heed
