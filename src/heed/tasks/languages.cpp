#include "heed/tasks/languages.h"

#include <algorithm>

#include "heed/base/did_you_mean.h"
#include "heed/base/error.h"
#include "heed/base/join.h"

namespace heed {
namespace {

bool all_of(std::string_view text, bool (*holds)(char)) {
  return !text.empty() && std::ranges::all_of(text, holds);
}
bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_large(char c) {
  return c >= 'A' && c <= 'Z';
}

// "de" of "__de__", "de_DE" and "deu_Latn" of themselves; "" of what is no language.
std::string_view code_of(std::string_view token) {
  constexpr std::string_view kMark = "__";
  if (token.size() > 2 * kMark.size() && token.starts_with(kMark) && token.ends_with(kMark)) {
    const std::string_view code = token.substr(kMark.size(), token.size() - 2 * kMark.size());
    return all_of(code, is_small) ? code : "";
  }
  const std::size_t line = token.find('_');
  if (line == std::string_view::npos || line < 2 || line > 3) return "";
  const std::string_view language = token.substr(0, line), place = token.substr(line + 1);
  const bool country = place.size() == 2 && all_of(place, is_large);
  const bool script = place.size() == 4 && is_large(place[0]) && all_of(place.substr(1), is_small);
  return all_of(language, is_small) && (country || script) ? token : "";
}

// Of Marian's ">>deu<<".
std::string_view marked_code(std::string_view token) {
  const bool marked = token.size() > 4 && token.starts_with(">>") && token.ends_with("<<");
  return marked ? token.substr(2, token.size() - 4) : "";
}

// T5's names of its tasks: translation_en_to_de.
std::string task_name(const std::string& from, const std::string& to) {
  return "translation_" + from + "_to_" + to;
}

Json prefixes_of(const TaskSetup& setup) {
  Json prefixes = Json::object();
  const std::string where = setup.name + "/config.json";
  const Json tasks = json_optional(setup.config, "task_specific_params", Json(), where);
  if (!tasks.is_object()) return prefixes;
  for (const auto& [name, params] : tasks.items()) {
    if (!name.starts_with("translation_") || !params.is_object() || !params.contains("prefix")) continue;
    prefixes[name] = json_required<std::string>(params, "prefix", where + ": task_specific_params." + name);
  }
  return prefixes;
}

class Codes {
 public:
  explicit Codes(const TaskSetup& setup) : setup_(setup) {
    for (std::int32_t id = 0; id < setup.tokenizer.vocabulary_size(); ++id) {
      const auto token = setup.tokenizer.id_to_token(id);
      if (!token) continue;
      const std::string_view code = is_language(setup.tokenizer, id) ? code_of(*token) : "";
      if (!code.empty()) tokens_.emplace_back(code, id);
      if (!marked_code(*token).empty()) marked_.emplace_back(marked_code(*token));
    }
  }

  std::optional<std::int32_t> token(const std::string& code) const {
    const auto found = std::ranges::find(tokens_, code, &std::pair<std::string, std::int32_t>::first);
    return found == tokens_.end() ? std::nullopt : std::optional(found->second);
  }
  bool has_tokens() const { return !tokens_.empty(); }
  bool marks(const std::string& code) const { return std::ranges::find(marked_, code) != marked_.end(); }

  [[noreturn]] void fail_for(const char* option, const std::string& code) const {
    std::vector<std::string> known = marked_;
    for (const auto& [name, id] : tokens_) known.push_back(name);
    std::ranges::sort(known);
    HEED_CHECK(!known.empty(), "[translate] ", option, " is \"", code, "\", but ", setup_.name,
               " has no languages to choose from");
    fail(ErrorKind::invalid_argument, "[translate] ", option, " is \"", code, "\", but ", setup_.name, " has ",
         join(known, ", "), did_you_mean(code, known));
  }

 private:
  const TaskSetup& setup_;
  std::vector<std::pair<std::string, std::int32_t>> tokens_;
  std::vector<std::string> marked_;
};

}  // namespace

bool is_language(const text::Tokenizer& tokenizer, std::int32_t id) {
  const auto token = tokenizer.id_to_token(id);
  return token && tokenizer.is_special(id) && !code_of(*token).empty();
}

Direction translation_direction(const TaskSetup& setup, const std::string& from, const std::string& to) {
  if (from.empty() && to.empty()) return {};
  if (const Json prefixes = prefixes_of(setup); !prefixes.empty()) {
    const auto found = prefixes.find(task_name(from, to));
    HEED_CHECK(found != prefixes.end(), "[translate] from \"", from, "\" to \"", to, "\" is not among what ",
               setup.name,
               " was trained for: ", join(prefixes.items(), ", ", [](const auto& item) { return item.key(); }));
    return {.prefix = found->get<std::string>()};
  }
  const Codes codes(setup);
  Direction direction;
  if (!from.empty()) {
    direction.source = codes.token(from);
    if (!direction.source) codes.fail_for("from", from);
  }
  if (to.empty()) return direction;
  direction.target = codes.token(to);
  if (!direction.target && !codes.marks(to)) codes.fail_for("to", to);
  if (!direction.target) direction.prefix = ">>" + to + "<< ";
  return direction;
}

}  // namespace heed
