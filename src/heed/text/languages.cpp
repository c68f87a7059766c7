#include "heed/text/languages.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "heed/base/utf8.h"
#include "heed/text/language_profiles.h"
#include "heed/text/unicode.h"

namespace heed::text {
namespace {

// A text is none of the known languages if its mean logarithm per three letters, plus half of the distance to the next
// language, is below kLeast - kSpread / sqrt(how many). Set on the dev part of FLORES-200, where about 2 in 100
// sentences of the known languages are below, and on sentences of others.
constexpr double kLeast = -7.5, kSpread = 4.5, kMarginShare = 0.5;
constexpr double kSharpness = 6;         // of the confidence around that border
constexpr double kIndependent = 1. / 3;  // three letters in a row share two with the next three
constexpr double kLeastConfidence = 0.01;
// A character of these scripts says as much as several letters.
constexpr std::size_t kSyllable = 3;

// Scripts with one common language.
constexpr std::pair<Script, std::string_view> kByScript[] = {
    {Script::greek, "el"},   {Script::armenian, "hy"}, {Script::hebrew, "he"},   {Script::thaana, "dv"},
    {Script::bengali, "bn"}, {Script::gurmukhi, "pa"}, {Script::gujarati, "gu"}, {Script::oriya, "or"},
    {Script::tamil, "ta"},   {Script::telugu, "te"},   {Script::kannada, "kn"},  {Script::malayalam, "ml"},
    {Script::sinhala, "si"}, {Script::thai, "th"},     {Script::lao, "lo"},      {Script::tibetan, "bo"},
    {Script::myanmar, "my"}, {Script::georgian, "ka"}, {Script::hangul, "ko"},   {Script::cherokee, "chr"},
    {Script::khmer, "km"},   {Script::kana, "ja"},     {Script::han, "zh"},
};

std::uint64_t key_of(std::span<const char32_t, 3> letters) {
  return std::uint64_t{letters[0]} << 42 | std::uint64_t{letters[1]} << 21 | letters[2];
}

double logarithm(char number) {
  const int place = number <= '9' ? number - '0' : number <= 'Z' ? number - 'A' + 10 : number - 'a' + 36;
  return -(3 + place / 4.);
}

class Profiles {
 public:
  Profiles() : source_(language_profiles()) {
    const std::string_view grams = source_.grams;
    for (std::size_t at = 0; at < grams.size();) {
      std::array<char32_t, 3> letters;
      for (char32_t& letter : letters) {
        const CodePoint point = utf8_decode(grams, at);
        letter = point.value;
        at += point.length;
      }
      places_.emplace(key_of(letters), at);
      at += source_.languages.size();
    }
  }
  std::span<const std::string_view> languages() const { return source_.languages; }
  void add(std::span<const char32_t, 3> letters, std::span<double> sums) const {
    const auto found = places_.find(key_of(letters));
    const char* numbers = found == places_.end() ? source_.unseen.data() : source_.grams.data() + found->second;
    for (std::size_t i = 0; i < languages().size(); ++i) sums[i] += logarithm(numbers[i]);
  }

 private:
  LanguageProfiles source_;
  std::unordered_map<std::uint64_t, std::size_t> places_;  // of the numbers in source_.grams
};

const Profiles& profiles() {
  static const Profiles made;
  return made;
}

// What a text has of each script, and the sums of logarithms of its Latin letters.
struct Counts {
  std::array<std::size_t, kScripts> letters{};
  std::vector<double> sums = std::vector<double>(profiles().languages().size(), 0);
  std::size_t grams = 0;

  explicit Counts(std::string_view text) {
    std::array<char32_t, 3> last = {0, 0, '_'};
    const auto add = [&](char32_t letter) {
      if (letter == '_' && last[2] == '_') return;
      last = {last[1], last[2], letter};
      if (last[0] == 0) return;
      profiles().add(last, sums);
      ++grams;
    };
    for (const CodePoint& point : Utf8View(text)) {
      const Script script = point.valid ? script_of(point.value) : Script::none;
      ++letters[static_cast<std::size_t>(script)];
      add(script == Script::latin ? lower_case(point.value) : '_');
    }
    add('_');
  }
  std::size_t of(Script script) const {
    const bool syllables = script == Script::han || script == Script::kana || script == Script::hangul;
    return letters[static_cast<std::size_t>(script)] * (syllables ? kSyllable : 1);
  }
};

// The script of most letters. Japanese has Han, but Chinese no kana.
Script script_of_most(const Counts& counts, double& share) {
  std::size_t most = 0, all = 0;
  Script best = Script::none;
  for (std::size_t i = 1; i < kScripts; ++i) {
    const auto script = static_cast<Script>(i);
    const std::size_t own = script == Script::kana && counts.of(script) > 0 ? counts.of(script) + counts.of(Script::han)
                                                                            : counts.of(script);
    all += counts.of(script);
    // Kana come before Han in the list; a few of them in a Chinese text do not make it Japanese.
    const bool is_rare = script == Script::kana && counts.of(script) * 20 < counts.of(Script::han);
    if (own > most && !is_rare) best = script, most = own;
  }
  share = all == 0 ? 0 : static_cast<double>(most) / static_cast<double>(all);
  return best;
}

void detect_by_letters(const Counts& counts, DetectedLanguage& found) {
  const auto languages = profiles().languages();
  const auto n = static_cast<double>(counts.grams);
  std::vector<LanguageGuess> guesses;
  const double most = std::ranges::max(counts.sums);
  double sum = 0, next = -1e300;
  for (std::size_t i = 0; i < languages.size(); ++i) {
    guesses.push_back({languages[i], std::exp((counts.sums[i] - most) * kIndependent)});
    sum += guesses.back().confidence;
    if (counts.sums[i] < most) next = std::max(next, counts.sums[i]);
  }
  const double margin = next > -1e300 ? (most - next) / n : 0;
  const double above = most / n + kMarginShare * margin - (kLeast - kSpread / std::sqrt(n));
  const double known = 1 / (1 + std::exp(-kSharpness * above));
  for (LanguageGuess& guess : guesses) guess.confidence *= known / sum;
  std::ranges::stable_sort(guesses, std::greater<>(), &LanguageGuess::confidence);
  if (guesses[0].confidence >= 0.5) {
    found.language = guesses[0].language;
    found.confidence = guesses[0].confidence;
    guesses.erase(guesses.begin());
  } else {
    found.confidence = 1 - guesses[0].confidence;
  }
  std::erase_if(guesses, [](const LanguageGuess& guess) { return guess.confidence < kLeastConfidence; });
  found.alternatives = std::move(guesses);
}

}  // namespace

DetectedLanguage detect_language(std::string_view text) {
  const Counts counts(text);
  DetectedLanguage found;
  double share = 0;
  found.script = script_of_most(counts, share);
  if (found.script == Script::latin) {
    detect_by_letters(counts, found);
    return found;
  }
  found.confidence = 1;
  const auto* known = std::ranges::find(kByScript, found.script, &std::pair<Script, std::string_view>::first);
  if (known != std::end(kByScript)) {
    found.language = known->second;
    found.confidence = share;
  }
  return found;
}

std::vector<std::string_view> known_languages() {
  std::vector<std::string_view> languages(profiles().languages().begin(), profiles().languages().end());
  for (const auto& [script, language] : kByScript) languages.push_back(language);
  std::ranges::sort(languages);
  return languages;
}

}  // namespace heed::text
