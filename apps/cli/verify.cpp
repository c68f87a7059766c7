// heed verify: a model folder against a dump of what another program computed with it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/engine/load.h"
#include "heed/explain/verify.h"
#include "model_options.h"
#include "verbs.h"

namespace heed::cli {
namespace {

void print_table(const Verification& verification) {
  fmt::print("{:<18} {:>10} {:>10} {:>10}  {:<6} {}\n", "tensor", "largest", "relative", "tolerance", "", "where");
  for (const TensorCheck& check : verification.checks) {
    if (check.tolerance == 0 && check.relative == 0) {  // ids
      fmt::print("{:<18} {:>10} {:>10} {:>10}  ", check.name, check.passed ? "same" : "differs", "", "");
    } else {
      fmt::print("{:<18} {:>10.2e} {:>10.2e} {:>10.0e}  ", check.name, check.largest, check.relative, check.tolerance);
    }
    fmt::print("{:<6} {}\n", check.passed ? "pass" : "FAIL", check.where);
  }
}

int verify_folder(const std::string& directory, const std::string& dump, std::optional<double> tolerance) {
  const LoadedModel model = load(directory);
  const Verification verification = verify(model, SafetensorsFile(dump), tolerance);
  print_table(verification);
  const TensorCheck* first = verification.first_difference();
  if (!first) {
    fmt::print("\nAll {} tensors agree.\n", verification.checks.size());
    return 0;
  }
  fmt::print("\nThe first tensor that differs is {}, most at {}.\n", first->name, first->where);
  return 1;
}

}  // namespace

void add_verify(CLI::App& app, int& result) {
  CLI::App* verb =
      app.add_subcommand("verify", "compare a model, tensor by tensor, with what another program computed");
  struct Options {
    std::string directory, dump;
    std::optional<double> tolerance;
  };
  const auto options = std::make_shared<Options>();
  verb->add_option("DIR", options->directory, kModelHelp)->required();
  verb->add_option("--against", options->dump,
                   "safetensors file of the other program; docs/models.md says how to make it")
      ->required();
  verb->add_option(
      "--tolerance", options->tolerance,
      "largest |ours - theirs| / max(1, |theirs|) that passes; default: 1e-4, more for a dump in half precision");
  verb->footer(
      "Exit code 0: everything agrees; 1: something differs, and the first of it is named.\n"
      "heed verify all-MiniLM-L6-v2 --against dump.safetensors");
  verb->callback([options, &result] { result = verify_folder(options->directory, options->dump, options->tolerance); });
}

}  // namespace heed::cli
