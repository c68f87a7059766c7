#include "heed/metrics/porter_stemmer.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace heed {
namespace {

bool is_consonant(std::string_view word, std::size_t i) {
  // y is one at the beginning and after a vowel; of several in a row it goes by turns.
  bool consonant = true;
  for (; word[i] == 'y' && i > 0; --i) consonant = !consonant;
  const bool vowel = std::string_view("aeiou").find(word[i]) != std::string_view::npos;
  return vowel ? !consonant : consonant;
}

bool ends_with_consonant(std::string_view word) {
  return !word.empty() && is_consonant(word, word.size() - 1);
}

// How often consonants follow vowels: m in [C](VC)^m[V].
int measure(std::string_view stem) {
  int count = 0;
  bool after_vowel = false;
  for (std::size_t i = 0; i < stem.size(); ++i) {
    const bool consonant = is_consonant(stem, i);
    if (consonant && after_vowel) ++count;
    after_vowel = !consonant;
  }
  return count;
}

bool has_vowel(std::string_view stem) {
  for (std::size_t i = 0; i < stem.size(); ++i) {
    if (!is_consonant(stem, i)) return true;
  }
  return false;
}

bool ends_with_double_consonant(std::string_view word) {
  return word.size() >= 2 && word.back() == word[word.size() - 2] && ends_with_consonant(word);
}

// As "hop" does, or a word of a vowel and a consonant.
bool is_short(std::string_view word) {
  const std::size_t size = word.size();
  if (size < 2 || is_consonant(word, size - 2) || !is_consonant(word, size - 1)) return false;
  if (size == 2) return true;
  const char last = word.back();
  return is_consonant(word, size - 3) && last != 'w' && last != 'x' && last != 'y';
}

std::string with_ending(std::string_view word, std::size_t drop, std::string_view ending) {
  return std::string(word.substr(0, word.size() - drop)).append(ending);
}

using Rule = std::pair<std::string_view, std::string_view>;

// The first rule whose ending the word has decides: it is replaced if the measure of the stem is above `above`.
std::string replaced(std::string_view word, std::span<const Rule> rules, int above) {
  for (const auto& [ending, by] : rules) {
    if (!word.ends_with(ending)) continue;
    const std::string_view stem = word.substr(0, word.size() - ending.size());
    return std::string(stem).append(measure(stem) > above ? by : ending);
  }
  return std::string(word);
}

std::string without_plural(std::string_view word) {
  if (word.ends_with("ies")) return with_ending(word, 3, word.size() == 4 ? "ie" : "i");
  if (word.ends_with("sses")) return with_ending(word, 2, "");
  if (word.ends_with("s") && !word.ends_with("ss")) return with_ending(word, 1, "");
  return std::string(word);
}

// After -ed or -ing was taken off.
std::string repaired(std::string_view stem) {
  if (stem.ends_with("at") || stem.ends_with("bl") || stem.ends_with("iz")) return std::string(stem) + "e";
  if (ends_with_double_consonant(stem)) {
    const char last = stem.back();
    return with_ending(stem, last == 'l' || last == 's' || last == 'z' ? 0 : 1, "");
  }
  return std::string(stem).append(measure(stem) == 1 && is_short(stem) ? "e" : "");
}

std::string without_past(std::string_view word) {
  if (word.ends_with("ied")) return with_ending(word, 3, word.size() == 4 ? "ie" : "i");
  if (word.ends_with("eed")) return with_ending(word, measure(word.substr(0, word.size() - 3)) > 0 ? 1 : 0, "");
  for (const std::string_view ending : {"ed", "ing"}) {
    const std::string_view stem = word.substr(0, word.size() - std::min(word.size(), ending.size()));
    if (word.ends_with(ending) && has_vowel(stem)) return repaired(stem);
  }
  return std::string(word);
}

std::string with_final_i(std::string_view word) {
  const bool fits = word.size() > 2 && word.back() == 'y' && ends_with_consonant(word.substr(0, word.size() - 1));
  return fits ? with_ending(word, 1, "i") : std::string(word);
}

std::string without_double_suffix(std::string word) {
  static constexpr Rule kRules[] = {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"},
                                    {"izer", "ize"},    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"},
                                    {"eli", "e"},       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
                                    {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"}, {"fulness", "ful"},
                                    {"ousness", "ous"}, {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"},
                                    {"fulli", "ful"}};
  const std::string_view view = word;
  // What is left of -alli may end in another of these.
  if (view.ends_with("alli") && measure(view.substr(0, view.size() - 4)) > 0) {
    return without_double_suffix(with_ending(view, 2, ""));
  }
  if (view.ends_with("logi")) {  // the l belongs to the stem
    return with_ending(view, measure(view.substr(0, view.size() - 3)) > 0 ? 1 : 0, "");
  }
  return replaced(view, kRules, 0);
}

std::string without_suffix(std::string_view word) {
  static constexpr Rule kRules[] = {{"al", ""},   {"ance", ""}, {"ence", ""}, {"er", ""},    {"ic", ""},
                                    {"able", ""}, {"ible", ""}, {"ant", ""},  {"ement", ""}, {"ment", ""},
                                    {"ent", ""},  {"ion", ""},  {"ou", ""},   {"ism", ""},   {"ate", ""},
                                    {"iti", ""},  {"ous", ""},  {"ive", ""},  {"ize", ""}};
  if (word.ends_with("ion")) {
    const bool fits = word.size() > 3 && (word[word.size() - 4] == 's' || word[word.size() - 4] == 't');
    if (!fits) return std::string(word);
  }
  return replaced(word, kRules, 1);
}

std::string without_final_e(std::string_view word) {
  if (!word.ends_with('e')) return std::string(word);
  const std::string_view stem = word.substr(0, word.size() - 1);
  const bool fits = measure(stem) > 1 || (measure(stem) == 1 && !is_short(stem));
  return std::string(fits ? stem : word);
}

std::string without_double_l(std::string_view word) {
  const bool fits = word.ends_with("ll") && measure(word.substr(0, word.size() - 1)) > 1;
  return with_ending(word, fits ? 1 : 0, "");
}

std::optional<std::string_view> irregular(std::string_view word) {
  static constexpr Rule kForms[] = {
      {"sky", "sky"},        {"skies", "sky"},       {"dying", "die"},        {"lying", "lie"},
      {"tying", "tie"},      {"news", "news"},       {"innings", "inning"},   {"inning", "inning"},
      {"outings", "outing"}, {"outing", "outing"},   {"cannings", "canning"}, {"canning", "canning"},
      {"howe", "howe"},      {"proceed", "proceed"}, {"exceed", "exceed"},    {"succeed", "succeed"}};
  const auto* found = std::ranges::find(kForms, word, &Rule::first);
  return found == std::end(kForms) ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::string porter_stem(std::string_view word) {
  static constexpr Rule kNounsAndVerbs[] = {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
                                            {"ical", "ic"},  {"ful", ""},   {"ness", ""}};
  if (const auto known = irregular(word)) return std::string(*known);
  if (word.size() <= 2) return std::string(word);
  std::string stem = with_final_i(without_past(without_plural(word)));
  stem = replaced(without_double_suffix(std::move(stem)), kNounsAndVerbs, 0);
  return without_double_l(without_final_e(without_suffix(stem)));
}

}  // namespace heed
