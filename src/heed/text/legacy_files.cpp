#include "heed/text/legacy_files.h"

#include <algorithm>
#include <map>
#include <utility>

#include "heed/base/file.h"
#include "heed/base/join.h"
#include "heed/text/pipelines.h"

namespace heed::text {
namespace {

namespace fs = std::filesystem;

std::optional<std::int32_t> find_id(const Json& model, const std::string& token) {
  try {
    return id_in_model(model, token, "");
  } catch (const Error&) {
    return std::nullopt;
  }
}

Json read_json_if_there(const fs::path& path) {
  return fs::exists(path) ? parse_json(read_file(path, kMostLegacyBytes), path.string()) : Json::object();
}

}  // namespace

LegacyFiles::LegacyFiles(fs::path directory)
    : directory_(std::move(directory)),
      config_file_((directory_ / "tokenizer_config.json").string()),
      config_(read_json_if_there(config_file_)),
      special_map_(read_json_if_there(directory_ / "special_tokens_map.json")) {
  HEED_CHECK_AS(bad_format, config_.is_object() && special_map_.is_object(), config_file_,
                ": it or special_tokens_map.json is not an object");
}

Json LegacyFiles::json_file(const char* name) const {
  return read_json_if_there(directory_ / name);
}

std::string LegacyFiles::family() const {
  auto name = setting<std::string>("tokenizer_class", "");
  if (name.empty()) {
    name = json_optional<std::string>(json_file("config.json"), "tokenizer_class", "",
                                      (directory_ / "config.json").string());
  }
  for (const std::string_view ending : {"Fast", "Tokenizer"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  if (name == "MT5") return "T5";
  if (!name.empty() && name != "PreTrained") return name;
  static const std::map<std::string, std::string> kFamilies = {{"bart", "Bart"},
                                                               {"bert", "Bert"},
                                                               {"blenderbot-small", "BlenderbotSmall"},
                                                               {"distilbert", "DistilBert"},
                                                               {"electra", "Electra"},
                                                               {"gpt2", "GPT2"},
                                                               {"m2m_100", "M2M100"},
                                                               {"marian", "Marian"},
                                                               {"mbart", "MBart"},
                                                               {"mt5", "T5"},
                                                               {"pegasus", "Pegasus"},
                                                               {"t5", "T5"},
                                                               {"umt5", "T5"},
                                                               {"roberta", "Roberta"},
                                                               {"xlm-roberta", "XLMRoberta"},
                                                               {"albert", "Albert"},
                                                               {"mpnet", "MPNet"},
                                                               {"llama", "Llama"}};
  const auto found = kFamilies.find(model_type());
  return found == kFamilies.end() ? "" : found->second;
}

std::string LegacyFiles::model_type() const {
  return json_optional<std::string>(json_file("config.json"), "model_type", "", (directory_ / "config.json").string());
}

void LegacyFiles::expect_family(std::initializer_list<std::string_view> known, const std::string& file) const {
  const std::string found = family();
  if (found.empty() || std::ranges::find(known, found) != known.end()) return;
  fail(ErrorKind::bad_format, file, ": the tokenizer is of the family ", found, ", expected one of ",
       join(known, ", "));
}

SpecialToken LegacyFiles::special(const std::string& role, const std::string& fallback) const {
  for (const Json* source : {&config_, &special_map_}) {
    const auto found = source->find(role);
    if (found == source->end() || found->is_null()) continue;
    if (found->is_string()) return {found->get<std::string>()};
    return {json_required<std::string>(*found, "content", config_file_ + ": " + role),
            json_optional(*found, "lstrip", false, config_file_ + ": " + role)};
  }
  return {fallback};
}

void LegacyFiles::add_tokens(Json& tokenizer, const std::vector<SpecialToken>& specials,
                             const std::string& file) const {
  std::map<std::int32_t, Json> added;
  const Json& vocab = tokenizer["model"]["vocab"];
  std::int32_t next = 0;
  if (vocab.is_object()) {
    for (const auto& item : vocab.items()) next = std::max(next, json_as<std::int32_t>(item.value(), "id", file) + 1);
  } else {
    next = static_cast<std::int32_t>(vocab.size());
  }
  for (const Json& old : tokenizer["added_tokens"]) added[old.at("id").get<std::int32_t>()] = old;
  const auto listed = setting("added_tokens_decoder", Json::object());
  HEED_CHECK_AS(bad_format, listed.is_object(), config_file_, ": added_tokens_decoder is not an object");
  for (const auto& item : listed.items()) {
    const std::string context = config_file_ + ": added_tokens_decoder." + item.key();
    const auto id = json_as<std::int32_t>(parse_json(item.key(), context), "id", context);
    Json token = added_token(json_required<std::string>(item.value(), "content", context), id, false);
    for (const char* key : {"single_word", "lstrip", "rstrip", "normalized", "special"}) {
      token[key] = json_optional(item.value(), key, token[key].get<bool>(), context);
    }
    std::erase_if(added, [&](const auto& entry) { return entry.second["content"] == token["content"]; });
    added[id] = std::move(token);
  }
  const std::string path = (directory_ / "added_tokens.json").string();
  const Json more = json_file("added_tokens.json");
  HEED_CHECK_AS(bad_format, more.is_object(), path, ": is not an object");
  for (const auto& item : more.items()) {
    const auto id = json_as<std::int32_t>(item.value(), item.key(), path);
    if (!added.contains(id)) added[id] = added_token(item.key(), id, false);
  }
  for (const SpecialToken& token : specials) {
    const auto same = [&](const auto& entry) { return entry.second["content"] == token.content; };
    if (const auto found = std::ranges::find_if(added, same); found != added.end()) {
      if (listed.empty()) found->second["special"] = true;
      continue;
    }
    const std::optional<std::int32_t> known = find_id(tokenizer["model"], token.content);
    if (!added.empty()) next = std::max(next, added.rbegin()->first + 1);
    const std::int32_t id = known ? *known : next++;
    added[id] = added_token(token.content, id, true);
    added[id]["lstrip"] = token.lstrip;
  }
  tokenizer["added_tokens"] = Json::array();
  for (auto& [id, token] : added) tokenizer["added_tokens"].push_back(std::move(token));
}

std::function<std::int32_t(const std::string&)> ids_of(const Json& tokenizer, const std::string& file) {
  return [&tokenizer, file](const std::string& token) {
    for (const Json& added : tokenizer["added_tokens"]) {
      if (added["content"] == token) return added["id"].get<std::int32_t>();
    }
    return id_in_model(tokenizer["model"], token, file);
  };
}

}  // namespace heed::text
