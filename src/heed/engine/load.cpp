#include "heed/engine/load.h"

namespace heed {

LoadedModel load(const std::filesystem::path& directory, std::size_t token_budget) {
  return {directory, token_budget};
}

}  // namespace heed
