#include "support/shared_data.h"

#include <cstdlib>

namespace heed::test {

std::filesystem::path tests_folder() {
  return HEED_TESTS_FOLDER;
}

std::filesystem::path shared_data(const std::filesystem::path& relative) {
  const char* named = std::getenv("HEED_SHARED");
  return (named ? std::filesystem::path(named) : tests_folder() / "../../shared") / relative;
}

std::filesystem::path suite_data(const std::filesystem::path& relative) {
  const char* named = std::getenv("HEED_SUITES");
  return (named ? std::filesystem::path(named) : shared_data("suites")) / relative;
}

}  // namespace heed::test
