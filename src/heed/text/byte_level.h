// GPT-2's alphabet, in which every byte is a visible character, and the pattern that cuts its texts into words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/normalized.h"

namespace heed::text {

// The character that stands for a byte; a space is U+0120.
char32_t byte_level_point(unsigned char byte);
// The byte that a character stands for, nothing when it is not of the alphabet.
std::optional<unsigned char> byte_level_byte(char32_t point);

// Replaces each character, from the rewriter's cursor to the old text's `end`, by those that stand for its bytes.
void byte_level_rewrite(std::string_view old_text, std::size_t end, Rewriter& rewriter);

// Appends the words of the text, which they cover: what the expression
// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ matches from left to right.
void gpt2_words(std::string_view text, std::vector<Span>& words);

}  // namespace heed::text
