#include "command_tree.h"

#include <algorithm>

#include "heed/base/did_you_mean.h"
#include "heed/base/join.h"

namespace heed::cli {
namespace {

void add_commands(const CLI::App& app, const std::string& path, std::vector<Command>& all) {
  all.push_back({&app, path});
  for (const CLI::App* verb : verbs_of(app)) {
    add_commands(*verb, path + (path.empty() ? "" : " ") + verb->get_name(), all);
  }
}

std::string no_such_verb(const CLI::App& app, const std::string& path, const std::string& name) {
  const std::string guess = did_you_mean(name, verb_names(app), "\"heed " + path, "\"");
  return "there is no \"heed " + path + name + "\"" + (guess.empty() ? "." : guess) + " All verbs: heed " + path +
         "--help";
}

std::string no_such_option(const CLI::App& app, const std::string& path, const std::string& word) {
  const std::string flag = word.substr(0, word.find('='));
  std::vector<std::string> known = flags_of(app);  // without the dashes, which are no likeness
  for (std::string& each : known) each.erase(0, 2);
  const std::string guess = flag.starts_with("--") ? did_you_mean(flag.substr(2), known, "--") : "";
  // Where settings are given as name=value they are often taken for options.
  const bool settings = app.get_option_no_throw("OVERRIDES") != nullptr;
  return "there is no option " + flag + (guess.empty() ? "." : guess) +
         (settings ? " Fields of the config are given as name=value." : "") + " All options: heed " + path + "--help";
}

}  // namespace

std::vector<Command> all_commands(const CLI::App& root) {
  std::vector<Command> all;
  add_commands(root, "", all);
  return all;
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_name().empty(); });
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : verbs_of(app)) names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> flags_of(const CLI::Option& option) {
  std::vector<std::string> flags;
  for (const std::string& name : option.get_lnames()) flags.push_back("--" + name);
  return flags;
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) std::ranges::copy(flags_of(*option), std::back_inserter(flags));
  return flags;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& value) -> std::string {
    if (std::ranges::find(words, value) != words.end()) return "";
    const std::string guess = did_you_mean(value, words);
    return "there is no \"" + value + "\"" + (guess.empty() ? "." : guess) + " There are " + join(words, ", ");
  };
  return {check, "{" + join(words, ",") + "}"};
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // TEXT:{lines,jsonl}
  const std::size_t open = type.find('{');
  if (open == std::string::npos || !type.ends_with('}')) return {};
  return CLI::detail::split(type.substr(open + 1, type.size() - open - 2), ',');
}

Command command_at(const CLI::App& root, const std::vector<std::string>& path) {
  Command found{&root, ""};
  for (const std::string& name : path) {
    const std::string before = found.path + (found.path.empty() ? "" : " ");
    const auto verbs = verbs_of(*found.app);
    const auto verb = std::ranges::find(verbs, name, [](const CLI::App* each) { return each->get_name(); });
    if (verb == verbs.end()) {
      const std::string why = verbs.empty() ? "\"heed " + found.path + "\" has no verbs of its own"
                                            : no_such_verb(*found.app, before, name);
      throw CLI::ParseError(why, CLI::ExitCodes::ValidationError);
    }
    found = {*verb, before + name};
  }
  return found;
}

std::string explained(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App* app = &root;
  std::string path;
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().back();
    path += app->get_name() + " ";
  }
  for (const std::string& word : app->remaining()) {
    if (!word.starts_with("-") && !verbs_of(*app).empty()) return no_such_verb(*app, path, word);
  }
  for (const std::string& word : app->remaining()) {
    if (word.starts_with("-") && word != "-" && word != "--") return no_such_option(*app, path, word);
  }
  const std::string what = error.what();
  if (what.ends_with("--help")) return what;
  const std::vector<std::string> verbs = verb_names(*app);
  const std::string why = verbs.empty() ? what : "a verb is missing, one of " + join(verbs, ", ");
  return why + "; see heed " + path + "--help";
}

}  // namespace heed::cli
