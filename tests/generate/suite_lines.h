// Lines of JSON of a conformance suite, without the first, which tells where they come from.
#pragma once

#include <cmath>
#include <filesystem>
#include <sstream>
#include <vector>

#include "heed/base/file.h"
#include "heed/base/json.h"

namespace heed::test {

inline std::vector<Json> suite_lines(const std::filesystem::path& file) {
  std::istringstream text(read_file(file, 1 << 26));
  std::vector<Json> lines;
  for (std::string line; std::getline(text, line);) {
    Json json = parse_json(line, file.filename().string() + ":" + std::to_string(lines.size() + 1));
    if (!json.contains("meta")) lines.push_back(std::move(json));
  }
  return lines;
}

// A number, or "-inf", "inf", "nan".
inline float suite_number(const Json& value) {
  if (value.is_number()) return value.get<float>();
  if (value == "nan") return NAN;
  return value == "inf" ? INFINITY : -INFINITY;
}

}  // namespace heed::test
