#include "heed/tasks/word_places.h"

#include <gtest/gtest.h>

#include "heed/engine/load.h"
#include "heed/tasks/tag.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

using Words = std::vector<std::string>;

TEST(TagWords, WordsAreFoundByTheirPlaces) {
  const Row row{.words = {"Köln", "", "am", "Rhein"}};
  const std::string text = join_words(row.words);
  EXPECT_EQ(text, "Köln  am Rhein");
  const auto places = word_places(row, text);
  EXPECT_EQ(places[2], (text::Span{7, 9}));
  text::Encoding encoding;
  encoding.ids = {1, 2, 3, 4, 5, 6};
  encoding.special_mask = {1, 0, 0, 0, 0, 1};
  encoding.byte_offsets = {{0, 0}, {0, 3}, {3, 5}, {6, 9}, {10, 15}, {0, 0}};
  const auto words = word_of_tokens(encoding, places);
  EXPECT_EQ(words, (std::vector<std::optional<std::size_t>>{std::nullopt, 0, 0, 2, 3, std::nullopt}));
  const auto first = first_token_of_words(encoding, places);
  EXPECT_EQ(first, (std::vector<std::optional<std::size_t>>{1, std::nullopt, 3, 4}));
}

// Where words are split as the tokenizer splits them, they have the labels of their first tokens in tag().
TEST(TagWords, AgreesWithTag) {
  const test::TempFolder folder;
  const std::vector<std::string> labels = {"B-PER", "I-PER", "O", "LOC"};
  test::write_random_model(folder.path(), HeadKind::token_classification, labels);
  const LoadedModel model = load(folder.path());
  std::vector<Words> sentences = {{"the", "quick", "foxgang", "jumps"}, {}, {"in", "berlingang", "?"}, {"a"}};
  for (int i = 0; i < 30; ++i) sentences[3].push_back(i % 3 == 0 ? "berlingang" : "dog");
  const auto tags = tag_words(model, sentences);
  ASSERT_EQ(tags.size(), sentences.size());
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const auto tokens = tag(model, {join_words(sentences[i])}, {.aggregation = "none", .ignored = {}})[0];
    ASSERT_EQ(tags[i].size(), sentences[i].size());
    std::size_t word = 0;
    for (const Entity& token : tokens) {
      if (token.word.starts_with("##") || i == 3) continue;
      EXPECT_EQ(tags[i][word++], token.label);
    }
    if (i != 3) {
      EXPECT_EQ(word, sentences[i].size());
    }
    // Neighbours in the call change nothing.
    EXPECT_EQ(tag_words(model, {sentences[i]})[0], tags[i]);
  }
  // Longer than the model's 40 tokens: the first window has 38 of the text, the last of them the beginning of a word.
  Words window(sentences[3].begin(), sentences[3].begin() + 28);
  window.push_back("berlin");
  EXPECT_EQ(Words(tags[3].begin(), tags[3].begin() + 29), tag_words(model, {window})[0]);
  EXPECT_EQ(tag_words(model, {{" "}})[0], Words{"O"});
  test::write_random_model(folder.path() / "other", HeadKind::none, {"LABEL_0"});
  test::error_of(ErrorKind::invalid_argument, [&] { tag_words(load(folder.path() / "other"), {{"a"}}); });
}

}  // namespace
}  // namespace heed
