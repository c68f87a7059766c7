#include "option_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "command_tree.h"
#include "heed/base/file.h"

namespace heed::cli {
namespace {

// Whether the schema of a field, or of an item of its list, says that it may be of this type.
bool takes(const Json& schema, const std::string& type) {
  const Json& own = schema.contains("anyOf") ? schema["anyOf"][0] : schema;
  const Json types = own.value("type", Json());
  return types.is_array() ? std::ranges::find(types, Json(type)) != types.end() : types == type;
}

// The text, or what is in the file that it names.
std::string content_of(const OptionInfo& option, const std::string& text) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 26;
  return option.or_file && text.starts_with('@') ? read_file(text.substr(1), kLargest) : text;
}

// The text as the field's schema wants it: a number stays a number, a list may be written as JSON.
Json value_of(const OptionInfo& option, const std::string& given) {
  const std::string text = content_of(option, given);
  const bool words = takes(option.schema, "string"), list = option.schema.contains("anyOf");
  if (words && !takes(option.schema, "boolean")) return list ? Json::array({text}) : Json(text);
  Json value = Json::parse(text, nullptr, false);
  const bool number = takes(option.schema, "integer") || takes(option.schema, "number");
  if (value.is_discarded() && words) return text;
  if (value.is_discarded() || (number && !value.is_number() && !(list && value.is_array()))) {
    throw CLI::ValidationError(flag_of(option.name), "\"" + text + "\" is not " + (number ? "a number" : "JSON"));
  }
  return value;
}

}  // namespace

std::string flag_of(const std::string& field) {
  std::string flag = "--" + field;
  std::ranges::replace(flag, '_', '-');
  return flag;
}

void add_option_flags(CLI::App& verb, const std::vector<OptionInfo>& list, unsigned use, Json& options) {
  for (const OptionInfo& option : list) {
    if (!(option.uses & use)) continue;
    const std::string flag = flag_of(option.name);
    const std::string flags = option.short_flag.empty() ? flag : flag + "," + flag_of(option.short_flag);
    if (option.flag) {
      verb.add_flag_function(
          flag + ",!--no-" + flag.substr(2),
          [&options, name = option.name](std::int64_t count) { options[name] = count > 0; }, option.help);
      continue;
    }
    // A list may also be given item by item, by as many flags.
    CLI::Option* added = verb.add_option_function<std::vector<std::string>>(
        flags,
        [&options, option](const std::vector<std::string>& texts) {
          Json value = value_of(option, texts.front());
          for (std::size_t i = 1; i < texts.size(); ++i) {
            Json next = value_of(option, texts[i]);
            if (!option.schema.contains("anyOf")) {
              value = std::move(next);  // the last one counts
            } else if (next.is_array() && value.is_array()) {
              value.insert(value.end(), next.begin(), next.end());
            } else {
              throw CLI::ValidationError(flag_of(option.name),
                                         "items of a list are given as JSON lists, each in brackets");
            }
          }
          options[option.name] = std::move(value);
        },
        option.help);
    added->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("TEXT");
    const std::string usual = option.value.is_string() ? option.value.get<std::string>() : option.value.dump();
    if (!option.value.is_null() && !usual.empty()) added->default_str(usual);
    std::vector<std::string> words = option.words;
    std::erase(words, "");
    if (!words.empty()) added->check(one_of(words));
  }
}

}  // namespace heed::cli
