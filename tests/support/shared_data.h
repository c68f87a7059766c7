// Public data sets, checkpoints and conformance suites that live outside the project: in the folder that the
// environment variable HEED_SHARED names, else in `shared` next to the checkout. Tests that need a file skip without
// it.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace heed::test {

// Where `relative` would be; the caller asks exists() and skips with the path as the reason.
inline std::filesystem::path shared_data(const std::filesystem::path& relative) {
  const char* named = std::getenv("HEED_SHARED");
  return std::filesystem::path(named ? named : HEED_DEFAULT_SHARED) / relative;
}

}  // namespace heed::test
