// In which language a text is: by its script where one language of it is common, else by its letters. Which languages
// are known depends on the texts that the profiles were made from: docs/text.md has the list and how often it is right.
#pragma once

#include <string_view>
#include <vector>

#include "heed/text/scripts.h"

namespace heed::text {

inline constexpr std::string_view kUnknownLanguage = "und";

struct LanguageGuess {
  std::string_view language{};  // "de"
  double confidence = 0;        // 0 to 1
};

struct DetectedLanguage {
  std::string_view language = kUnknownLanguage;  // "und": none that is known, or no letters
  double confidence = 0;                         // of "und": what the likeliest alternative lacks
  Script script = Script::none;                  // of most letters
  std::vector<LanguageGuess> alternatives{};     // others of at least 0.01, the likeliest first
};

// Of any bytes, in linear time.
DetectedLanguage detect_language(std::string_view text);

// Codes of those that detect_language() can find, sorted.
std::vector<std::string_view> known_languages();

}  // namespace heed::text
