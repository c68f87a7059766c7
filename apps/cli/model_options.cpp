#include "model_options.h"

#include <CLI/CLI.hpp>

namespace heed::cli {

void add_model_option(CLI::App& verb, std::string& model) {
  verb.add_option("--model", model, kModelHelp)->required();
}

void add_threads_option(CLI::App& verb, int& threads) {
  verb.add_option("--threads", threads, "threads to compute with; default: as many as this machine has")
      ->check(CLI::Range(1, 1024));
}

std::optional<ThreadLimit> limit_threads(int threads) {
  if (threads == 0) return std::nullopt;
  return std::optional<ThreadLimit>(std::in_place, threads);
}

}  // namespace heed::cli
