// Conversations of data files, in the shapes that they are published in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"

namespace heed {

// The conversation of a row, as Row::messages has it; "" if the row has none. `line` is the row, parsed already:
//   {"messages": [{"role", "content"}, ...]}, perhaps with "tools"; `field` may name another field than "messages"
//   {"conversations": [{"from", "value"} or {"role", "content"}, ...]}; human becomes user, gpt becomes assistant
//   {"instruction", "output"}, perhaps with "input", which follows the instruction, and "system"
//   {"prompt", "completion"} where both are lists of messages
// Throws bad_format with `where`.
std::string read_conversation(std::string_view line, const Json& row, const std::string& field,
                              const std::string& where);

// What is said in Row::messages, message by message.
std::vector<std::string> conversation_texts(const std::string& messages);

}  // namespace heed
