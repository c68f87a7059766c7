// --model and --threads, for verbs that run a model.
#pragma once

#include <optional>
#include <string>

#include "heed/base/parallel.h"

namespace CLI {
class App;
}

namespace heed::cli {

inline constexpr const char* kModelHelp = "folder of a HuggingFace model, or owner/name of one that was pulled";

void add_model_option(CLI::App& verb, std::string& model);  // required
void add_threads_option(CLI::App& verb, int& threads);      // left alone if it is not given

// Holds computations to this many threads while it lives; 0: as many as the machine has.
std::optional<ThreadLimit> limit_threads(int threads);

}  // namespace heed::cli
