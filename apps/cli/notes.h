// What people should know beside the answers, on standard error. --quiet silences it, and progress too.
#pragma once

#include <string>

namespace heed::cli {

void set_quiet(bool quiet);
bool is_quiet();

// "heed: 3 of 1,000 texts were cut at 512 tokens"
void note(const std::string& text);

}  // namespace heed::cli
