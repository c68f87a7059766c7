// Event files of TensorBoard as a reader of another language sees them (tests/io/event_file.py).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "heed/base/file.h"
#include "support/torch.h"

namespace heed::test {

inline constexpr const char* kNoPython = "there is no /usr/bin/python3 to read event files";
inline bool has_python() {
  return std::filesystem::exists(kPython);
}

// Events in the order of the file, {"step", "tag", "value" ...}; fails the test where the file is not as it should be.
inline Json read_events(const std::filesystem::path& file) {
  const TempFolder folder;
  const auto answer = folder.path() / "answer.json";
  const int status = run_python("io/event_file.py " + file.string() + " " + answer.string());
  EXPECT_EQ(status, 0);
  if (status != 0) return Json::array();
  return parse_json(read_file(answer, 1 << 28), "answer.json");
}

// The event files of a folder in the order of their names.
inline std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

}  // namespace heed::test
