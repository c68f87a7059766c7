#include "heed/train/support_data.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "heed/tasks/metrics_entities.h"
#include "heed/train/readers.h"
#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed {
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

// The values of a message's slots, with its words outside them, lower case: what dev and test must have of their own.
std::string combination(const SupportMessage& message) {
  std::string key = message.intent;
  for (std::size_t i = 0; i < message.words.size(); ++i) {
    key += message.tags[i] == "O" ? "" : "|" + message.words[i];
  }
  for (char& c : key) c = static_cast<char>(std::tolower(c));
  return key;
}

TEST(SupportData, TestMessagesCombineWhatTrainDoesNot) {
  const SupportData data = make_support_data(3, 3000);
  std::set<std::string> train;
  for (const SupportMessage& message : data.train) train.insert(combination(message));
  std::size_t known = 0, filled = 0;
  for (const SupportMessage& message : data.test) {
    if (entities_of(message.tags).empty()) continue;
    ++filled;
    known += train.contains(combination(message)) ? 1 : 0;
  }
  // Another template of the same intent may have the same value: "yesterday".
  EXPECT_GT(filled, 250u);
  EXPECT_LT(known, filled / 5);
}

TEST(SupportData, FilesAreReadAsTextsAndAsWords) {
  const test::TempFolder folder;
  const SupportData data = make_support_data(1, 200);
  write_support_data(data, folder.path() / "new" / "data");
  const auto file = folder.path() / "new" / "data" / "test.jsonl";
  const auto texts = open_reader({.file = file, .columns = {.label = "intent"}});
  const auto words = open_reader({.file = file, .rows = RowKind::words});
  for (const SupportMessage& message : data.test) {
    Example text, sentence;
    ASSERT_TRUE(texts->next(text) && words->next(sentence));
    EXPECT_EQ(text.text, message.text);
    EXPECT_EQ(text.labels, std::vector{message.intent});
    EXPECT_EQ(sentence.words, message.words);
    EXPECT_EQ(sentence.labels, message.tags);
  }
  test::error_of(ErrorKind::invalid_argument, [] { make_support_data(1, 99); });
}

}  // namespace
}  // namespace heed
