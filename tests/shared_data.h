// Published test data that is not part of this repository: $HEED_SHARED, else a folder "shared" next to the source
// tree.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace heed {

// The file or folder if it is there. A test that needs it says GTEST_SKIP() with the name otherwise.
inline std::optional<std::filesystem::path> shared_path(std::string_view relative) {
  const char* root = std::getenv("HEED_SHARED");
  const auto path = std::filesystem::path(root ? root : HEED_SOURCE_DIR "/../shared") / relative;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

}  // namespace heed
