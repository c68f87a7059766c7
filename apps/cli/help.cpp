// heed help: the same as --help, where many look for it.
#include <fmt/core.h>

#include <memory>

#include "command_tree.h"
#include "verbs.h"

namespace heed::cli {

void add_help(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("help", "show what heed or one of its verbs does");
  const auto path = std::make_shared<std::vector<std::string>>();
  verb->add_option("VERB", *path, "the verb, such as classify or data check");
  verb->footer("heed help classify");
  verb->callback([&app, path, &result] {
    const Command found = command_at(app, *path);
    // CLI11 would describe the verb that runs, which is this one.
    fmt::print("{}", app.get_formatter()->make_help(found.app, found.path.empty() ? "heed" : "heed " + found.path,
                                                    CLI::AppFormatMode::Normal));
    result = 0;
  });
}

}  // namespace heed::cli
