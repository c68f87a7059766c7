// A line of the terminal with editing and a history, by libedit.
#pragma once

#include <optional>
#include <string>

namespace heed::cli {

// UTF-8. Ctrl-C gives up the line and gives an empty one; Ctrl-D on an empty line gives none.
std::optional<std::string> edit_line(const char* prompt);

}  // namespace heed::cli
