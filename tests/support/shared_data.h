// Files that tests read: those of tests/, and public data sets, checkpoints and conformance suites that live outside
// the project, in the folder that the environment variable HEED_SHARED names, else in `shared` next to the checkout.
// Tests that need a file skip without it.
#pragma once

#include <filesystem>

namespace heed::test {

std::filesystem::path tests_folder();
// Where `relative` would be; the caller asks exists() and skips with the path as the reason.
std::filesystem::path shared_data(const std::filesystem::path& relative);
// The same below the folder of conformance suites: HEED_SUITES names another than suites of the shared data.
std::filesystem::path suite_data(const std::filesystem::path& relative);

}  // namespace heed::test
