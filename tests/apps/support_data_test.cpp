#include "cli/support_data.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "heed/data/readers.h"
#include "heed/metrics/entities.h"
#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed::cli {
namespace {

std::vector<const SupportMessage*> all_of(const SupportData& data) {
  std::vector<const SupportMessage*> all;
  for (const auto* list : {&data.train, &data.dev, &data.test}) {
    for (const SupportMessage& message : *list) all.push_back(&message);
  }
  return all;
}

TEST(SupportData, MessagesAreManyDistinctAndWellFormed) {
  const SupportData data = make_support_data(1, 5000);
  EXPECT_EQ(data.train.size(), 4000u);
  EXPECT_EQ(data.dev.size(), 500u);
  EXPECT_EQ(data.test.size(), 500u);
  std::set<std::string> texts, slots;
  std::map<std::string, std::size_t> intents;
  for (const SupportMessage* message : all_of(data)) {
    EXPECT_TRUE(texts.insert(message->text).second) << message->text;
    ++intents[message->intent];
    ASSERT_EQ(message->words.size(), message->tags.size());
    for (const TaggedEntity& each : entities_of(message->tags, {.scheme = TagScheme::iob2})) slots.insert(each.type);
    // The words are those of the text, in order, with nothing but spaces between.
    std::size_t at = 0;
    for (const std::string& word : message->words) {
      ASSERT_FALSE(word.empty());
      at = message->text.find_first_not_of(' ', at);
      ASSERT_EQ(message->text.compare(at, word.size(), word), 0) << message->text;
      at += word.size();
    }
    EXPECT_EQ(at, message->text.size());
    EXPECT_EQ(message->text.find_first_of("{}|%"), std::string::npos) << message->text;
  }
  EXPECT_GE(intents.size(), 12u);
  EXPECT_GE(slots.size(), 6u);
  for (const auto& [intent, count] : intents) EXPECT_GT(count, 5000u / intents.size() / 2) << intent;
}

TEST(SupportData, TheSeedDecides) {
  const SupportData once = make_support_data(7, 300), again = make_support_data(7, 300),
                    other = make_support_data(8, 300);
  for (std::size_t i = 0; i < once.train.size(); ++i) EXPECT_EQ(to_json(once.train[i]), to_json(again.train[i]));
  std::size_t same = 0;
  for (std::size_t i = 0; i < once.train.size(); ++i) same += once.train[i].text == other.train[i].text ? 1 : 0;
  EXPECT_LT(same, once.train.size() / 10);
}

TEST(SupportData, EachListCombinesWhatOthersDoNot) {
  const SupportData data = make_support_data(3, 3000);
  std::map<std::string, int> lists;  // a combination's lists, as bits
  int bit = 1;
  for (const auto* list : {&data.train, &data.dev, &data.test}) {
    for (const SupportMessage& message : *list) lists[message.made_of] |= bit;
    bit *= 2;
  }
  for (const auto& [combination, bits] : lists) EXPECT_TRUE(bits == 1 || bits == 2 || bits == 4) << combination;
  // Some do occur more than once, so the lists had the chance to share them.
  EXPECT_LT(lists.size(), 2900u);
}

TEST(SupportData, FilesAreReadAsTextsAndAsWords) {
  const test::TempFolder folder;
  const SupportData data = make_support_data(1, 200);
  write_support_data(data, folder.path() / "new" / "data");
  const auto file = folder.path() / "new" / "data" / "test.jsonl";
  const auto texts = open_reader({.file = file, .columns = {.label = "intent"}});
  const auto words = open_reader({.file = file, .needs = {RowField::words, RowField::labels}});
  for (const SupportMessage& message : data.test) {
    Row text, sentence;
    ASSERT_TRUE(texts->next(text) && words->next(sentence));
    EXPECT_EQ(text.text, message.text);
    EXPECT_EQ(text.labels, std::vector{message.intent});
    EXPECT_EQ(sentence.words, message.words);
    EXPECT_EQ(sentence.labels, message.tags);
  }
  test::error_of(ErrorKind::invalid_argument, [] { make_support_data(1, 99); });
}

}  // namespace
}  // namespace heed::cli
