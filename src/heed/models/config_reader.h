// Reads the fields of a config.json and keeps count: what nobody asked for and nobody knows is refused in the end.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "heed/base/join.h"
#include "heed/base/json.h"
#include "heed/base/types.h"

namespace heed {

class ConfigReader {
 public:
  ConfigReader(const Json& config, std::string where) : config_(config), where_(std::move(where)) {}

  template <class T>
  T get(const std::string& field, T fallback) {
    known_.insert(field);
    return json_optional<T>(config_, field, std::move(fallback), where_);
  }
  // The field is there and null; what is absent is not. HuggingFace gives the default to absent fields alone.
  bool is_null(const std::string& field) const;
  // low <= value <= high.
  std::int64_t size(const std::string& field, std::int64_t fallback, std::int64_t low = 1,
                    std::int64_t high = std::int64_t{1} << 24);
  double probability(const std::string& field, double fallback);  // 0 <= p < 1
  double positive(const std::string& field, double fallback);     // finite, > 0
  // A number of parts of something that has `whole`, by the field that says so.
  std::int64_t divisor(const std::string& field, std::int64_t fallback, const char* whole_field, std::int64_t whole);
  Activation activation(const std::string& field, const std::string& fallback);
  // One of several words.
  template <class T>
  T choice(const std::string& field, const std::string& fallback, const std::map<std::string, T>& choices) {
    const auto name = get<std::string>(field, fallback);
    const auto found = choices.find(name);
    if (found != choices.end()) return found->second;
    const std::string known = join(choices, ", ", [](const auto& choice) { return choice.first; });
    refuse(field, "\"" + name + "\"", "one of " + known);
  }
  std::vector<std::string> labels();
  // A field that changes the result and has one value that is supported; another is refused.
  void only(const std::string& field, const Json& value);
  // Fields that do not change what the model computes.
  void harmless(std::initializer_list<const char*> fields) { known_.insert(fields.begin(), fields.end()); }
  // Refuses by name every field that is set and that nobody has read.
  void finish();

  [[noreturn]] void refuse(const std::string& field, const std::string& found, const std::string& expected) const;

 private:
  const Json& config_;
  std::string where_;
  std::set<std::string> known_;
};

}  // namespace heed
