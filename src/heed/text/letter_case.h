// Kinds of characters, and small and large letters, as Python's strings have them. All texts are valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace heed::text {

bool is_space(char32_t point);  // where str.split() splits
bool is_printable(char32_t point);
bool is_cased(char32_t point);
bool is_upper(char32_t point);
bool is_lower(char32_t point);
bool is_letter(char32_t point);
bool is_digit(char32_t point);
bool is_number(char32_t point);       // category N
bool is_punctuation(char32_t point);  // category P
bool is_symbol(char32_t point);       // category S

std::string upper(std::string_view text);
std::string lower(std::string_view text);
// The first letter large, all others small.
std::string capitalize(std::string_view text);
// The same for each run of letters.
std::string title(std::string_view text);
std::string swap_case(std::string_view text);

}  // namespace heed::text
