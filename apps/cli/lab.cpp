// heed lab: small experiments that show why things are as they are.
#include <CLI/CLI.hpp>

#include "verbs.h"

namespace heed::cli {

void add_lab(CLI::App& app, int& result) {
  CLI::App* lab = app.add_subcommand("lab", "run small experiments that explain attention (seconds to a minute each)");
  lab->require_subcommand(1);
  add_lab_attention(*lab, result);
  add_lab_positions(*lab, result);
  add_lab_long_range(*lab, result);
}

}  // namespace heed::cli
