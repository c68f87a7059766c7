// heed completion: scripts that let a shell complete heed's verbs and options, made of the command line's own
// description.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "command_tree.h"
#include "heed/base/join.h"
#include "verbs.h"

namespace heed::cli {
namespace {

// A path of verbs, and what may come after it.
struct Place {
  std::string path;
  std::vector<const CLI::App*> verbs{};
  std::vector<const CLI::Option*> options{};  // positional ones too, which have no flags
};

// Each verb, and each after `heed help`, where verbs alone are wanted.
std::vector<Place> places(const CLI::App& root) {
  std::vector<Place> all;
  for (const Command& command : all_commands(root)) {
    const auto options = command.app->get_options();
    all.push_back({command.path, verbs_of(*command.app), {options.begin(), options.end()}});
    if (command.path == "help") all.back().verbs = verbs_of(root);
    if (!command.path.empty()) all.push_back({"help " + command.path, verbs_of(*command.app)});
  }
  return all;
}

// The words that a place offers by themselves: verbs, values of its positional options, flags.
std::vector<std::string> words_of(const Place& place) {
  std::vector<std::string> words;
  for (const CLI::App* verb : place.verbs) words.push_back(verb->get_name());
  for (const CLI::Option* option : place.options) {
    std::ranges::copy(flags_of(*option).empty() ? choices_of(*option) : flags_of(*option), std::back_inserter(words));
  }
  return words;
}

std::string paths_between(const CLI::App& root, std::string_view separator) {
  std::vector<std::string> paths;
  for (const Place& place : places(root)) {
    if (!place.path.empty()) paths.push_back("\"" + place.path + "\"");
  }
  return join(paths, separator);
}

// Lines of a shell's case: "path --flag") variable=(values) ;;
std::string cases_of_values(const CLI::App& root, std::string_view format) {
  std::string cases;
  for (const Place& place : places(root)) {
    for (const CLI::Option* option : place.options) {
      const auto choices = choices_of(*option);
      if (choices.empty()) continue;
      for (const std::string& flag : flags_of(*option)) {
        cases += fmt::format(fmt::runtime(format), place.path + " " + flag, fmt::join(choices, " "));
      }
    }
  }
  return cases;
}

// For single quotes of any of the shells.
std::string quoted(std::string text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'') {
      safe += "’";
    } else if (c == '\\') {
      safe += "\\\\";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string bash_script(const CLI::App& root) {
  std::string words;
  for (const Place& place : places(root)) {
    words += fmt::format("        \"{}\") words=\"{}\" ;;\n", place.path, fmt::join(words_of(place), " "));
  }
  return fmt::format(R"(# bash completion for heed: source <(heed completion bash)
_heed() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} verb="" words="" next i
    for ((i = 1; i < COMP_CWORD; i++)); do
        next="${{verb:+$verb }}${{COMP_WORDS[i]}}"
        case "$next" in
            {}) verb=$next ;;
        esac
    done
    case "$verb" in
{}    esac
    case "$verb $before" in
{}    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _heed heed
)",
                     paths_between(root, " | "), words, cases_of_values(root, "        \"{}\") words=\"{}\" ;;\n"));
}

std::string zsh_script(const CLI::App& root) {
  const auto entry = [](const std::string& name, const std::string& help) {
    std::string escaped = name + ":";
    for (const char c : help) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
    return " '" + quoted(help.empty() ? name : escaped) + "'";
  };
  std::string cases;
  for (const Place& place : places(root)) {
    cases += fmt::format("        \"{}\") words_of=(", place.path);
    for (const CLI::App* verb : place.verbs) cases += entry(verb->get_name(), verb->get_description());
    for (const CLI::Option* option : place.options) {
      for (const std::string& flag : flags_of(*option)) cases += entry(flag, option->get_description());
      if (!flags_of(*option).empty()) continue;
      for (const std::string& choice : choices_of(*option)) cases += entry(choice, "");
    }
    cases += ") ;;\n";
  }
  return fmt::format(R"(#compdef heed
# zsh completion for heed: heed completion zsh > a file _heed in a folder of $fpath
_heed() {{
    local verb="" next word
    local -a words_of
    for word in ${{words[2,CURRENT-1]}}; do
        next="${{verb:+$verb }}$word"
        case "$next" in
            {}) verb=$next ;;
        esac
    done
    case "$verb" in
{}    esac
    case "$verb ${{words[CURRENT-1]}}" in
{}    esac
    (( ${{#words_of}} )) && _describe 'heed' words_of
    _files
}}
compdef _heed heed
# Loaded by its name from $fpath, this file is what the first call runs.
if [[ ${{funcstack[1]}} == _heed ]]; then _heed "$@"; fi
)",
                     paths_between(root, " | "), cases, cases_of_values(root, "        \"{}\") words_of=({}) ;;\n"));
}

std::string fish_script(const CLI::App& root) {
  std::string script = fmt::format(R"(# fish completion for heed: heed completion fish | source
function __heed_at
    set -l verb ""
    for word in (commandline -opc)[2..]
        set -l next (string trim -- "$verb $word")
        contains -- $next {} && set verb $next
    end
    test "$verb" = "$argv"
end
)",
                                   paths_between(root, " "));
  for (const Place& place : places(root)) {
    const std::string complete = fmt::format("complete -c heed -n '__heed_at {}'", place.path);
    for (const CLI::App* verb : place.verbs) {
      script += fmt::format("{} -f -a {} -d '{}'\n", complete, verb->get_name(), quoted(verb->get_description()));
    }
    for (const CLI::Option* option : place.options) {
      const std::string choices = fmt::format("{}", fmt::join(choices_of(*option), " "));
      if (flags_of(*option).empty()) {
        if (!choices.empty()) script += fmt::format("{} -f -a '{}'\n", complete, choices);
        continue;
      }
      const std::string value = !takes_value(*option) ? ""
                                : choices.empty()     ? " -r"
                                                      : fmt::format(" -x -a '{}'", choices);
      for (const std::string& flag : flags_of(*option)) {
        script +=
            fmt::format("{} -l {}{} -d '{}'\n", complete, flag.substr(2), value, quoted(option->get_description()));
      }
    }
  }
  return script;
}

}  // namespace

void add_completion(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("completion", "print a script with which a shell completes verbs and options");
  const auto shell = std::make_shared<std::string>();
  verb->add_option("SHELL", *shell, "the shell: bash, zsh or fish")->required()->check(one_of({"bash", "zsh", "fish"}));
  verb->footer("source <(heed completion bash)");
  verb->callback([&app, shell, &result] {
    fmt::print("{}", *shell == "bash" ? bash_script(app) : *shell == "zsh" ? zsh_script(app) : fish_script(app));
    result = 0;
  });
}

}  // namespace heed::cli
