// The command line as a tree, to describe it: help, completion, the manual page.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace heed::cli {

// A verb, or a group of verbs.
struct Command {
  const CLI::App* app;
  std::string path;  // "data check"; "" is heed itself
};
// All of them, each before those below it.
std::vector<Command> all_commands(const CLI::App& root);

std::vector<const CLI::App*> verbs_of(const CLI::App& app);
std::vector<std::string> verb_names(const CLI::App& app);

// "--model", "--no-normalize" ...
std::vector<std::string> flags_of(const CLI::Option& option);
std::vector<std::string> flags_of(const CLI::App& app);
bool takes_value(const CLI::Option& option);
// For options whose value is one of these words; for another it names the nearest.
CLI::Validator one_of(const std::vector<std::string>& words);
// The words of one_of(); empty: any.
std::vector<std::string> choices_of(const CLI::Option& option);

// The command below `root` of that path; throws CLI::ValidationError with the nearest name if there is none.
Command command_at(const CLI::App& root, const std::vector<std::string>& path);

// What is wrong with the command line, and where help is. For a verb or an option that is not there, the nearest one.
std::string explained(const CLI::App& root, const CLI::ParseError& error);

}  // namespace heed::cli
