// The writing system of a code point, as far as rules for sentences and languages go by it.
#pragma once

#include <cstdint>
#include <string_view>

namespace heed::text {

// none: digits, punctuation, symbols, and scripts that are not in this list. kana: hiragana and katakana.
enum class Script : std::uint8_t {
  none,
  latin,
  greek,
  cyrillic,
  armenian,
  hebrew,
  arabic,
  syriac,
  thaana,
  devanagari,
  bengali,
  gurmukhi,
  gujarati,
  oriya,
  tamil,
  telugu,
  kannada,
  malayalam,
  sinhala,
  thai,
  lao,
  tibetan,
  myanmar,
  georgian,
  hangul,
  ethiopic,
  cherokee,
  khmer,
  mongolian,
  kana,
  bopomofo,
  han,
};
inline constexpr std::size_t kScripts = static_cast<std::size_t>(Script::han) + 1;

Script script_of(char32_t point);
// The code of ISO 15924: "Latn"; "Zyyy" for none.
std::string_view script_code(Script script);

// Han, kana and the punctuation that goes with them: no space stands between words or sentences.
bool is_written_without_spaces(char32_t point);
bool is_upper_case(char32_t point);
// A small letter of a script that has capitals.
bool is_lower_case(char32_t point);

}  // namespace heed::text
