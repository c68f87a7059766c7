// Which tokens of a tokenizer play a part of their own: "mask_token", "pad_token" ... as HuggingFace's settings call
// them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "heed/text/tokenizer.h"

namespace heed::text {

class SpecialTokens {
 public:
  // By the usual spellings: [MASK] or <mask>, and so on.
  explicit SpecialTokens(const Tokenizer& tokenizer) : SpecialTokens(tokenizer, Json::object(), Json::object()) {}
  // By what tokenizer_config.json and special_tokens_map.json say, then by the usual spellings.
  SpecialTokens(const Tokenizer& tokenizer, const Json& tokenizer_config, const Json& special_tokens_map);

  std::optional<std::int32_t> id(const std::string& role) const;
  // Its text, "" if there is none.
  std::string text(const std::string& role) const;
  // What HuggingFace wants to know about a tokenizer beside tokenizer.json.
  Json settings(std::size_t max_tokens) const;

 private:
  struct Token {
    std::string role, text;
    std::int32_t id;
  };
  std::vector<Token> tokens_;
};

// The object of a settings file of a model folder; empty where there is no such file.
Json read_settings(const std::filesystem::path& file);

}  // namespace heed::text
