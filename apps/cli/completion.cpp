// heed completion: scripts that let a shell complete heed's verbs and options, made of the command line's own
// description.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <memory>

#include "command_tree.h"
#include "heed/base/join.h"
#include "verbs.h"

namespace heed::cli {
namespace {

// What comes after the verb: verbs below it, or its options.
std::vector<std::string> words_of(const CLI::App& root, const Command& command) {
  std::vector<std::string> words = verb_names(command.app->get_name() == "help" ? root : *command.app);
  for (const std::string& flag : flags_of(*command.app)) words.push_back(flag);
  return words;
}

std::string paths_between(const CLI::App& root, std::string_view separator) {
  std::vector<std::string> paths;
  for (const Command& command : all_commands(root)) {
    if (!command.path.empty()) paths.push_back("\"" + command.path + "\"");
  }
  return join(paths, separator);
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
  std::string words, values;
  for (const Command& command : all_commands(root)) {
    words += fmt::format("        \"{}\") words=\"{}\" ;;\n", command.path, fmt::join(words_of(root, command), " "));
    for (const CLI::Option* option : command.app->get_options()) {
      const auto choices = choices_of(*option);
      if (choices.empty() || flags_of(*option).empty()) continue;
      values += fmt::format("        \"{} {}\") words=\"{}\" ;;\n", command.path, flags_of(*option)[0],
                            fmt::join(choices, " "));
    }
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
                     paths_between(root, " | "), words, values);
}

std::string zsh_script(const CLI::App& root) {
  const auto entry = [](const std::string& name, const std::string& help) {
    std::string escaped = name + ":";
    for (const char c : help) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
    return " '" + quoted(help.empty() ? name : escaped) + "'";
  };
  std::string cases;
  for (const Command& command : all_commands(root)) {
    cases += fmt::format("        \"{}\") words_of=(", command.path);
    for (const CLI::App* verb : verbs_of(*command.app)) cases += entry(verb->get_name(), verb->get_description());
    for (const CLI::Option* option : command.app->get_options()) {
      for (const std::string& flag : flags_of(*option)) cases += entry(flag, option->get_description());
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
    _describe 'heed' words_of
    _files
}}
compdef _heed heed
)",
                     paths_between(root, " | "), cases);
}

std::string fish_script(const CLI::App& root) {
  std::string script = "# fish completion for heed: heed completion fish | source\n";
  for (const Command& command : all_commands(root)) {
    std::string when = "__fish_use_subcommand";
    if (!command.path.empty()) {
      when = join(CLI::detail::split(command.path, ' '), "; and ",
                  [](const std::string& verb) { return "__fish_seen_subcommand_from " + verb; });
    }
    for (const CLI::App* verb : verbs_of(*command.app)) {
      script += fmt::format("complete -c heed -n '{}' -a {} -d '{}'\n", when, verb->get_name(),
                            quoted(verb->get_description()));
    }
    for (const CLI::Option* option : command.app->get_options()) {
      const auto choices = choices_of(*option);
      const std::string value = !takes_value(*option) ? ""
                                : choices.empty()     ? " -r"
                                                      : fmt::format(" -x -a '{}'", fmt::join(choices, " "));
      for (const std::string& flag : flags_of(*option)) {
        script += fmt::format("complete -c heed -n '{}' -l {}{} -d '{}'\n", when, flag.substr(2), value,
                              quoted(option->get_description()));
      }
    }
  }
  return script;
}

}  // namespace

void add_completion(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("completion", "print a script with which a shell completes verbs and options");
  const auto shell = std::make_shared<std::string>();
  verb->add_option("SHELL", *shell, "the shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->footer("source <(heed completion bash)");
  verb->callback([&app, shell, &result] {
    fmt::print("{}", *shell == "bash" ? bash_script(app) : *shell == "zsh" ? zsh_script(app) : fish_script(app));
    result = 0;
  });
}

}  // namespace heed::cli
