// A template as tokens, with jinja2's rules for white space: trim_blocks and lstrip_blocks are on, `-` and `+` next to
// a tag take or keep, one newline at the end of the template goes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/chat/value.h"

namespace heed::chat {

enum class TokenKind { kData, kVariableBegin, kVariableEnd, kBlockBegin, kBlockEnd, kName, kConstant, kOperator, kEnd };

struct Token {
  TokenKind kind;
  std::string text{};  // data, name or operator
  Value value{};       // of a constant: a string or a number
  int line = 1;
};

// The last token is kEnd. Throws bad_format: "<name>:<line>: ...".
std::vector<Token> tokenize(std::string_view source, const std::string& name);

}  // namespace heed::chat
