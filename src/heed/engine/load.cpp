#include "heed/engine/load.h"

#include "heed/base/error.h"

namespace heed {

TextPipeline load(const std::filesystem::path& directory, std::size_t token_budget) {
  HEED_CHECK(token_budget > 0, "[load] token_budget is 0, expected at least 1");
  return TextPipeline(std::make_shared<const TextModel>(directory, token_budget));
}

}  // namespace heed
