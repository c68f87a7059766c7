#include <algorithm>

#include "heed/base/file.h"
#include "heed/chat/chat.h"
#include "heed/chat/limits.h"
#include "heed/text/token_roles.h"

namespace heed::chat {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSettingsBytes = 64'000'000;
constexpr std::size_t kMostTemplates = 100;

// The object of a settings file; empty where there is no such file.
OrderedJson read_object(const fs::path& file) {
  if (!fs::exists(file)) return OrderedJson::object();
  OrderedJson value = parse_ordered_json(read_file(file, kMostSettingsBytes), file.string());
  HEED_CHECK_AS(bad_format, value.is_object(), file.string(), ": expected an object");
  return value;
}

std::string text_of(const OrderedJson& value, const fs::path& file, std::string_view field) {
  HEED_CHECK_AS(bad_format, value.is_string(), file.string(), ": ", field, " is no text");
  return value.get<std::string>();
}

std::vector<ChatTemplate> from_jinja_files(const fs::path& folder) {
  std::vector<ChatTemplate> templates;
  const fs::path main = folder / "chat_template.jinja", others = folder / "additional_chat_templates";
  if (fs::exists(main)) templates.emplace_back(read_file(main, kMostTemplateBytes), "default");
  if (!fs::is_directory(others)) return templates;
  for (const auto& entry : fs::directory_iterator(others)) {
    if (entry.path().extension() != ".jinja") continue;
    HEED_CHECK_AS(bad_format, templates.size() < kMostTemplates, others.string(), ": more than ", kMostTemplates,
                  " templates");
    templates.emplace_back(read_file(entry.path(), kMostTemplateBytes), entry.path().stem().string());
  }
  return templates;
}

// A text, or a list of {"name", "template"}.
std::vector<ChatTemplate> from_settings(const OrderedJson& settings, const fs::path& file) {
  std::vector<ChatTemplate> templates;
  const auto found = settings.find("chat_template");
  if (found == settings.end() || found->is_null()) return templates;
  if (!found->is_array()) {
    templates.emplace_back(text_of(*found, file, "chat_template"), "default");
    return templates;
  }
  HEED_CHECK_AS(bad_format, found->size() <= kMostTemplates, file.string(), ": more than ", kMostTemplates,
                " chat templates");
  for (const OrderedJson& each : *found) {
    const bool is_pair = each.is_object() && each.contains("name") && each.contains("template");
    HEED_CHECK_AS(bad_format, is_pair, file.string(), ": chat_template needs objects with a name and a template");
    templates.emplace_back(text_of(each["template"], file, "a template of chat_template"),
                           text_of(each["name"], file, "a name of chat_template"));
  }
  return templates;
}

// "<s>", or {"content": "<s>", ...}
void take_token(OrderedJson& tokens, const OrderedJson& settings, const std::string& role) {
  const auto found = settings.find(role);
  if (found == settings.end()) return;
  if (found->is_string()) tokens[role] = *found;
  if (found->is_object() && found->contains("content") && (*found)["content"].is_string()) {
    tokens[role] = (*found)["content"];
  }
}

// As HuggingFace does, special_tokens_map.json counts where tokenizer_config.json does not list the tokens itself.
OrderedJson special_tokens_of(const OrderedJson& settings, const fs::path& folder) {
  const OrderedJson map = settings.contains("added_tokens_decoder") ? OrderedJson::object()
                                                                    : read_object(folder / "special_tokens_map.json");
  OrderedJson tokens = OrderedJson::object();
  for (const text::TokenRole& role : text::kTokenRoles) {
    take_token(tokens, settings, role.name);
    take_token(tokens, map, role.name);
  }
  for (const char* field : {"extra_special_tokens", "model_specific_special_tokens"}) {
    const auto extra = settings.find(field);
    if (extra == settings.end() || !extra->is_object()) continue;
    for (const auto& each : extra->items()) take_token(tokens, *extra, each.key());
  }
  return tokens;
}

}  // namespace

ChatTemplates ChatTemplates::from_folder(const fs::path& folder, const fs::path& template_file,
                                         const OrderedJson& usual_tokens) {
  const fs::path config = folder / "tokenizer_config.json", processor = folder / "chat_template.json";
  const OrderedJson settings = read_object(config);
  std::vector<ChatTemplate> templates;
  if (!template_file.empty()) {
    templates.emplace_back(read_file(template_file, kMostTemplateBytes), "default");
  } else {
    templates = from_jinja_files(folder);
  }
  if (templates.empty()) templates = from_settings(settings, config);
  if (templates.empty()) templates = from_settings(read_object(processor), processor);
  HEED_CHECK_AS(not_found, !templates.empty(), folder.string(),
                ": the model has no chat template. Put one beside its other files as chat_template.jinja, or take a "
                "model that was trained for chats: those have chat_template in tokenizer_config.json");
  return {std::move(templates), fs::exists(config) ? special_tokens_of(settings, folder) : usual_tokens};
}

}  // namespace heed::chat
