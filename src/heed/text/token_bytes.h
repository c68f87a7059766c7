// What every token of a vocabulary stands for, in bytes.
#pragma once

#include <string>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed::text {

struct TokenBytes {
  std::vector<std::string> bytes;  // by id: Tokenizer::bytes_of; the text of the token where it is special
  std::vector<bool> special;       // Tokenizer::is_special
};

TokenBytes vocabulary_bytes(const Tokenizer& tokenizer);

}  // namespace heed::text
