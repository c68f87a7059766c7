// Files that tests read: those of tests/, and public data sets, checkpoints and conformance suites that live outside
// the project, in the folder that the environment variable HEED_SHARED names, else in `shared` next to the checkout.
// HEED_SUITES names another folder for what is below suites/ there. Tests that need a file skip without it.
#pragma once

#include <filesystem>

namespace heed::test {

std::filesystem::path tests_folder();
// Where `relative`, which is not empty, would be; the caller asks exists() and skips with the path as the reason.
std::filesystem::path shared_data(const std::filesystem::path& relative);

}  // namespace heed::test
