// Constants as they stand in a template.
#pragma once

#include <string_view>

#include "heed/chat/value.h"

namespace heed::chat {

// How many bytes at the start of the text are a number; 0: none. A number after a dot has no fraction.
std::size_t number_length(std::string_view text, bool after_dot);
// The number that the text is. Throws when it does not fit in 64 bits.
Value parse_number(std::string_view text);
// What stands between quotes, with Python's escapes. Throws for those that are none.
std::string unescape(std::string_view text);

}  // namespace heed::chat
