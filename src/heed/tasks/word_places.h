// Words that are split already, and the tokens that stand for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/data/row.h"
#include "heed/text/encoding.h"

namespace heed {

// With spaces between.
std::string join_words(const std::vector<std::string>& words);

// Where each word of the row is in the text, in order, in bytes. Throws bad_format for a word that is not there.
std::vector<text::Span> word_places(const Row& row, const std::string& text);

// For each token the number of the word that it is in, the first of several; nothing for tokens that are in none.
std::vector<std::optional<std::size_t>> word_of_tokens(const text::Encoding& encoding,
                                                       const std::vector<text::Span>& places);
// The other way: the first token of each word that is in this encoding; nothing for words that have none.
std::vector<std::optional<std::size_t>> first_token_of_words(const text::Encoding& encoding,
                                                             const std::vector<text::Span>& places);

}  // namespace heed
