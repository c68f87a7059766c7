#include "heed/text/special_tokens.h"

#include <algorithm>

#include "heed/base/file.h"
#include "heed/text/token_roles.h"

namespace heed::text {
namespace {

// "[MASK]", or {"content": "[MASK]", ...}
std::string spelling(const Json& settings, const char* role) {
  const auto found = settings.find(role);
  if (found == settings.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_object() ? found->value("content", "") : "";
}

}  // namespace

SpecialTokens::SpecialTokens(const Tokenizer& tokenizer, const Json& tokenizer_config, const Json& special_tokens_map) {
  for (const TokenRole& role : kTokenRoles) {
    std::vector<std::string> spellings = {spelling(special_tokens_map, role.name),
                                          spelling(tokenizer_config, role.name)};
    spellings.insert(spellings.end(), role.spellings.begin(), role.spellings.end());
    for (const std::string& each : spellings) {
      const auto id = each.empty() ? std::nullopt : tokenizer.token_to_id(each);
      if (!id) continue;
      tokens_.push_back({role.name, each, *id});
      break;
    }
  }
}

std::optional<std::int32_t> SpecialTokens::id(const std::string& role) const {
  const auto found = std::ranges::find(tokens_, role, &Token::role);
  return found == tokens_.end() ? std::nullopt : std::optional(found->id);
}

std::string SpecialTokens::text(const std::string& role) const {
  const auto found = std::ranges::find(tokens_, role, &Token::role);
  return found == tokens_.end() ? "" : found->text;
}

Json SpecialTokens::settings(std::size_t max_tokens) const {
  Json settings = {{"tokenizer_class", "PreTrainedTokenizerFast"}, {"model_max_length", max_tokens}};
  for (const Token& token : tokens_) settings[token.role] = token.text;
  return settings;
}

Json read_settings(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return Json::object();
  constexpr std::size_t kMostBytes = 64'000'000;
  Json value = parse_json(read_file(file, kMostBytes), file.string());
  HEED_CHECK_AS(bad_format, value.is_object(), file.string(), ": is ", detail::json_kind(value),
                ", expected an object");
  return value;
}

}  // namespace heed::text
