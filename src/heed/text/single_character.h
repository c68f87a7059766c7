// Fields of tokenizer.json that must be exactly one character.
#pragma once

#include <string_view>

#include "heed/base/error.h"
#include "heed/text/unicode.h"

namespace heed::text {

// `text` comes from JSON, so it is valid UTF-8. Throws bad_format with `context` when it is not one code point.
inline char32_t single_character(std::string_view text, std::string_view context) {
  HEED_CHECK_AS(bad_format, !text.empty() && text.size() == sequence_length(text[0]), context, " is \"", text,
                "\", expected one character");
  const char* at = text.data();
  return next_point(at);
}

}  // namespace heed::text
