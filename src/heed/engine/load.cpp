#include "heed/engine/load.h"

#include "heed/io/hub.h"

namespace heed {

LoadedModel load(const std::filesystem::path& directory, std::size_t token_budget) {
  return {find_model(directory.string()), token_budget};
}

}  // namespace heed
