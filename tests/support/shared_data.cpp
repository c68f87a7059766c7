#include "support/shared_data.h"

#include <cstdlib>

namespace heed::test {

std::filesystem::path tests_folder() {
  return HEED_TESTS_FOLDER;
}

std::filesystem::path shared_data(const std::filesystem::path& relative) {
  const char* suites = std::getenv("HEED_SUITES");
  if (suites && *relative.begin() == "suites") {
    return std::filesystem::path(suites) / relative.lexically_relative("suites");
  }
  const char* named = std::getenv("HEED_SHARED");
  return (named ? std::filesystem::path(named) : tests_folder() / "../../shared") / relative;
}

}  // namespace heed::test
