// Option fields of tasks as flags of a verb: --top-k, --null-answer, --no-normalize.
#pragma once

#include "heed/base/option_list.h"

namespace CLI {
class App;
}

namespace heed::cli {

// What is given lands in `options`, which must outlive the parsing.
void add_option_flags(CLI::App& verb, const std::vector<OptionInfo>& list, unsigned use, Json& options);

// "--top-k"
std::string flag_of(const std::string& field);

}  // namespace heed::cli
