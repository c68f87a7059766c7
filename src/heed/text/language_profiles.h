// How probable three letters in a row are in the languages that are told by their letters (written by
// tools/make_language_profiles.py). Letters are small; _ is anything between words.
#pragma once

#include <span>
#include <string_view>

namespace heed::text {

// A number is one character, the n-th of 0-9A-Za-z: the natural logarithm of the probability is -(3 + n / 4).
struct LanguageProfiles {
  std::span<const std::string_view> languages;
  std::string_view unseen;  // per language: of three letters that are not listed
  std::string_view grams;   // three letters in UTF-8 and a number per language, again and again
};

LanguageProfiles language_profiles();

}  // namespace heed::text
