// The small files of a tokenizer before tokenizer.json, and what all converters of them need (legacy.h).
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"

namespace heed::text {

inline constexpr std::size_t kMostLegacyBytes = std::size_t{1} << 30;

struct SpecialToken {
  std::string content;
  bool lstrip = false;
};

class LegacyFiles {
 public:
  // Reads tokenizer_config.json and special_tokens_map.json, if they are there.
  explicit LegacyFiles(std::filesystem::path directory);

  const std::filesystem::path& directory() const { return directory_; }
  bool has(const char* name) const { return std::filesystem::exists(directory_ / name); }
  // "Bert" for BertTokenizer and BertTokenizerFast, or by config.json's model_type; "" when nothing says.
  std::string family() const;
  // Of config.json; "" when nothing says.
  std::string model_type() const;
  void expect_family(std::initializer_list<std::string_view> known, const std::string& file) const;

  // A field of tokenizer_config.json.
  template <class T>
  T setting(const std::string& key, T fallback) const {
    return json_optional<T>(config_, key, std::move(fallback), config_file_);
  }
  bool flag(const std::string& key, bool fallback) const { return setting(key, fallback); }
  const std::string& config_file() const { return config_file_; }
  // "cls_token" and the like: a string, or an object with its content.
  SpecialToken special(const std::string& role, const std::string& fallback) const;
  // A file of the directory; an empty object if there is none.
  Json json_file(const char* name) const;

  // All tokens that are matched before the model sees the text: those listed with their ids, or the special ones.
  void add_tokens(Json& tokenizer, const std::vector<SpecialToken>& specials, const std::string& file) const;

 private:
  std::filesystem::path directory_;
  std::string config_file_;
  Json config_, special_map_;
};

// Ids of added tokens and of the model's; `tokenizer` must live as long as the function.
std::function<std::int32_t(const std::string&)> ids_of(const Json& tokenizer, const std::string& file);

}  // namespace heed::text
