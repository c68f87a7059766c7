// The published conformance suite: every text with every vocabulary of suites/tokenizers in the shared data gives the
// published ids, and words with accents give those of HuggingFace, which a tokenizer that forgets strip_accents does
// not.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/text/load_tokenizer.h"
#include "support/shared_data.h"

namespace heed::text {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 1 << 20;

// texts.inp: each text is followed by a line of its own.
std::vector<std::string> read_texts(const fs::path& file) {
  const std::string all = read_file(file, kMaxFileBytes), separator = "\n__ggml_vocab_test__\n";
  std::vector<std::string> texts;
  std::size_t begin = 0;
  for (std::size_t end; (end = all.find(separator, begin)) != std::string::npos; begin = end + separator.size()) {
    texts.push_back(all.substr(begin, end - begin));
  }
  return texts;
}

// ids.out: one line per text.
std::vector<std::vector<std::int32_t>> read_ids(const fs::path& file) {
  std::istringstream lines(read_file(file, kMaxFileBytes));
  std::vector<std::vector<std::int32_t>> all;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    all.emplace_back();
    for (std::int32_t id; numbers >> id;) all.back().push_back(id);
  }
  return all;
}

class TokenizerSuite : public testing::TestWithParam<const char*> {};

TEST_P(TokenizerSuite, PublishedIds) {
  const fs::path folder = test::shared_data("suites/tokenizers") / GetParam();
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const std::vector<std::string> texts = read_texts(folder / "texts.inp");
  const auto expected = read_ids(folder / "ids.out");
  ASSERT_EQ(texts.size(), expected.size());
  ASSERT_FALSE(texts.empty());
  const Tokenizer tokenizer = load_tokenizer(folder);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(tokenizer.encode(texts[i], {.add_special = false}).ids, expected[i])
        << "text " << i << ": \"" << texts[i] << "\"";
  }
  RecordProperty("comparisons", static_cast<int>(texts.size()));
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, TokenizerSuite, testing::Values("bert-base-uncased", "gpt2"),
                         [](const auto& vocabulary) {
                           std::string name = vocabulary.param;
                           std::erase(name, '-');
                           return name;
                         });

struct AccentCase {
  const char* text;
  std::vector<std::int32_t> ids;  // HuggingFace tokenizers 0.23.2 with bert-base-uncased, no special tokens
};

const AccentCase kAccentTable[] = {
    {"resume", {13746}},
    {"résumé", {13746}},
    {"Résumé", {13746}},
    {"RÉSUMÉ", {13746}},
    {"naïve", {15743}},
    {"naive", {15743}},
    {"café", {7668}},
    {"cafe", {7668}},
    {"Zürich", {10204}},
    {"zurich", {10204}},
    {"São Paulo", {7509, 9094}},
    {"façade", {8508}},
    {"jalapeño", {14855, 2721, 11837, 2080}},
    {"crème brûlée", {13675, 21382, 7987, 9307, 2063}},
    {"Ångström", {17076, 15687}},
    {"Łódź", {17814}},
    {"Øresund", {1100, 6072, 8630}},
    {"straße", {2358, 27807}},
    {"œuvre", {1107, 2226, 12229}},
    {"Dvořák", {1040, 14550, 4817}},
    {"Hà Nội", {5292, 2053, 2072}},
    {"Việt Nam", {19710, 15125}},
    {"İstanbul", {9960}},
    {"ısı", {1104, 2015, 11722}},
    {"ﬁn", {1984, 2078}},
    {"e\u0301te\u0301", {3802, 2063}},
    {"garçon Müller über", {11721, 29566, 2078, 12304, 19169}},
    {"Ελλάδα", {1159, 29727, 29727, 14608, 29722, 14608}},
    {"ёлка", {1185, 29436, 28598}},
    {"ガ", {1700}},
    {"가", {1455, 30006}},
};

TEST(Accents, HaveTheIdsOfHuggingFace) {
  const fs::path folder = test::shared_data("suites/tokenizers/bert-base-uncased");
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const Tokenizer tokenizer = load_tokenizer(folder);
  for (const AccentCase& word : kAccentTable) {
    EXPECT_EQ(tokenizer.encode(word.text, {.add_special = false}).ids, word.ids) << word.text;
  }
}

}  // namespace
}  // namespace heed::text
