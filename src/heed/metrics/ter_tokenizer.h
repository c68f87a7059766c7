// How TER sees texts: the normalisation of tercom, as sacrebleu has it.
#pragma once

#include <string>
#include <string_view>

#include "heed/base/fields.h"

namespace heed {

struct TerOptions {
  bool normalized = false;      // punctuation is cut from words, entities of SGML are read
  bool no_punct = false;        // punctuation is left out
  bool asian_support = false;   // the same for Chinese and Japanese, characters one by one; with one of those above
  bool case_sensitive = false;  // else all letters are small
  Fields fields();
};

// Words between spaces.
std::string ter_text(std::string_view text, const TerOptions& options);

}  // namespace heed
