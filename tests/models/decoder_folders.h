// Folders of models that others wrote, sorted into those that a test runs and those that are others' business. Tests
// are listed before any of them runs, so nothing here throws, whatever stands in a folder: what cannot be read is run,
// and fails there.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/base/json.h"

namespace heed::test {

inline Json json_file(const std::filesystem::path& file) {
  return parse_json(read_file(file, 1 << 26), file.string());
}

struct DecoderFolder {
  std::filesystem::path path;
  std::string test;  // letters, digits and underscores, as gtest wants them, and no other test's
};

inline void PrintTo(const DecoderFolder& folder, std::ostream* out) {
  *out << folder.path;
}

struct DecoderFolders {
  std::vector<DecoderFolder> run{};
  std::vector<std::string> left{};  // "x: has no generations"

  // Says which were left to others, so that none is forgotten.
  void report() const {
    for (const std::string& each : left) std::cout << "not run here: " << each << "\n";
  }
};

// "" for a folder that is to be run, else the reason why it is not.
using WhyNot = std::function<std::string(const std::filesystem::path& folder)>;

// All that stand in one of the parents, except hidden ones.
inline DecoderFolders decoder_folders(const std::vector<std::filesystem::path>& parents, const WhyNot& why_not) {
  namespace fs = std::filesystem;
  std::vector<fs::path> all;
  for (const fs::path& parent : parents) {
    std::error_code none;
    for (fs::directory_iterator at(parent, none), end; !none && at != end; at.increment(none)) {
      std::error_code broken_link;
      const bool hidden = at->path().filename().string().starts_with(".");
      if (!hidden && fs::is_directory(at->path(), broken_link)) all.push_back(at->path());
    }
  }
  std::ranges::sort(all);
  DecoderFolders folders;
  std::set<std::string> taken;
  for (const fs::path& path : all) {
    std::string why;
    try {
      why = why_not(path);
    } catch (const std::exception&) {
      why = "";
    }
    if (!why.empty()) {
      folders.left.push_back(path.filename().string() + ": " + why);
      continue;
    }
    std::string name = path.filename().string();
    std::ranges::replace_if(
        name, [](unsigned char c) { return !std::isalnum(c); }, '_');
    std::string test = name;
    for (int i = 2; !taken.insert(test).second; ++i) test = name + "_" + std::to_string(i);
    folders.run.push_back({path, test});
  }
  return folders;
}

inline std::string test_of(const testing::TestParamInfo<DecoderFolder>& each) {
  return each.param.test;
}

}  // namespace heed::test
