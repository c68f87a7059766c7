#include "heed/text/languages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "heed/base/random.h"
#include "heed/text/language_profiles.h"
#include "support/shared_data.h"

namespace heed::text {
namespace {

std::string_view language_of(std::string_view text) {
  return detect_language(text).language;
}

TEST(Languages, ByLetters) {
  EXPECT_EQ(language_of("The government said yesterday that it would take new measures."), "en");
  EXPECT_EQ(language_of("Die Regierung hat gestern gesagt, dass sie neue Maßnahmen ergreifen werde."), "de");
  EXPECT_EQ(language_of("Le gouvernement a dit hier qu'il prendrait de nouvelles mesures."), "fr");
  const DetectedLanguage found = detect_language("A man and a woman are sitting in front of a house.");
  EXPECT_GT(found.confidence, 0.99);
  EXPECT_EQ(found.script, Script::latin);
  EXPECT_TRUE(found.alternatives.empty());
}

TEST(Languages, ByScript) {
  EXPECT_EQ(language_of("これは本です。"), "ja");
  EXPECT_EQ(language_of("東京タワーに行った。"), "ja");
  EXPECT_EQ(language_of("这是一本书。"), "zh");
  EXPECT_EQ(language_of("他在用 Visual Studio Code 写程序和文档。"), "zh");
  EXPECT_EQ(language_of("이것은 책입니다"), "ko");
  EXPECT_EQ(language_of("Αυτό είναι ένα βιβλίο"), "el");
  EXPECT_EQ(language_of("นี่คือหนังสือ"), "th");
  EXPECT_EQ(language_of("זה ספר"), "he");
  EXPECT_EQ(language_of("ეს წიგნია"), "ka");
}

TEST(Languages, WhatIsNotKnown) {
  for (const std::string_view text :
       {"", "123 + 4 = ?", "\xFF\xFE", "Это книга.", "هذا كتاب", "यह किताब है", "Rząd ogłosił wczoraj nowe środki.",
        "Hükümet dün yeni önlemler açıkladı.", "Hallitus ilmoitti eilen uusista toimista.",
        "Guvernul a anunțat ieri noi măsuri.", "Pemerintah kemarin mengumumkan langkah baru."}) {
    const DetectedLanguage found = detect_language(text);
    EXPECT_EQ(found.language, kUnknownLanguage) << text;
    EXPECT_GE(found.confidence, 0.5);
  }
  EXPECT_EQ(detect_language("Это книга.").script, Script::cyrillic);
}

TEST(Languages, ConfidencesAreShares) {
  RandomStream random{.seed = 6};
  const std::vector<std::string> parts = {"the ", "der ", "le ", "é",    "ß", "x",   " ",
                                          "漢",   "か",   "я",   "\xC3", "1", "qu'", "ing "};
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (auto i = random.uniform_integer(30); i > 0; --i) text += parts[random.uniform_integer(parts.size())];
    const DetectedLanguage found = detect_language(text);
    double sum = found.language == kUnknownLanguage ? 0 : found.confidence;
    double last = 1;
    for (const LanguageGuess& guess : found.alternatives) {
      EXPECT_LE(guess.confidence, last);
      EXPECT_NE(guess.language, found.language);
      sum += last = guess.confidence;
    }
    EXPECT_GE(found.confidence, 0);
    EXPECT_LE(sum, 1 + 1e-9) << text;
  }
}

TEST(Languages, TheTableIsSound) {
  const LanguageProfiles profiles = language_profiles();
  EXPECT_EQ(profiles.unseen.size(), profiles.languages.size());
  EXPECT_TRUE(std::ranges::is_sorted(known_languages()));
  for (const std::string_view language : profiles.languages) {
    EXPECT_TRUE(std::ranges::binary_search(known_languages(), language));
  }
}

// How often FLORES-200 is right: whole sentences, and the first five words.
TEST(Languages, FloresSentences) {
  const std::pair<const char*, const char*> files[] = {
      {"en", "eng_Latn"}, {"de", "deu_Latn"}, {"fr", "fra_Latn"}, {"zh", "zho_Hans"}, {"ja", "jpn_Jpan"}};
  for (const auto& [language, name] : files) {
    const auto path = test::shared_data(std::string("data/flores200/") + name + ".devtest");
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
    std::ifstream file(path);
    int right = 0, right_short = 0, all = 0;
    for (std::string line; std::getline(file, line); ++all) {
      right += language_of(line) == language;
      std::istringstream words(line);
      std::string word, first;
      for (int i = 0; i < 5 && words >> word; ++i) first += word + " ";
      right_short += language_of(first) == language;
    }
    EXPECT_GT(right, 0.975 * all) << language;
    EXPECT_GT(right_short, 0.92 * all) << language;
  }
}

}  // namespace
}  // namespace heed::text
