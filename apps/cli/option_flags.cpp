#include "option_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace heed::cli {
namespace {

// The text as a value like the default: a number stays a number.
Json value_of(const OptionInfo& option, const std::string& text) {
  if (option.value.is_string() || option.value.is_null()) return text;
  if (option.value.is_array()) return Json::array({text});
  Json value = Json::parse(text, nullptr, false);
  if (!value.is_number()) throw CLI::ValidationError(flag_of(option.name), "\"" + text + "\" is not a number");
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
    if (option.flag) {
      verb.add_flag_function(
          flag + ",!--no-" + flag.substr(2),
          [&options, name = option.name](std::int64_t count) { options[name] = count > 0; }, option.help);
      continue;
    }
    CLI::Option* added = verb.add_option_function<std::string>(
        flag, [&options, option](const std::string& text) { options[option.name] = value_of(option, text); },
        option.help);
    if (!option.value.is_null() && option.value != "") {
      added->default_str(option.value.is_string() ? option.value.get<std::string>() : option.value.dump());
    }
    std::vector<std::string> words = option.words;
    std::erase(words, "");
    if (!words.empty()) added->check(CLI::IsMember(words));
  }
}

}  // namespace heed::cli
