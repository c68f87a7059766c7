#include "heed/text/trie.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "heed/base/random.h"
#include "heed/text/vocabulary.h"
#include "support/error_of.h"

namespace heed::text {
namespace {

// Random keys over few bytes (many shared prefixes) and over all bytes (wide nodes).
std::map<std::string, std::int32_t> random_keys(std::uint64_t bytes, int count) {
  RandomStream random{7, bytes, 0};
  std::map<std::string, std::int32_t> keys;
  for (int i = 0; i < count; ++i) {
    std::string key(1 + random.uniform_integer(9), ' ');
    for (char& c : key) c = static_cast<char>(random.uniform_integer(bytes));
    keys[key] = i;
  }
  return keys;
}

TEST(Trie, FindsItsKeysAndNothingElse) {
  for (const std::uint64_t bytes : {2, 20, 256}) {
    const std::map<std::string, std::int32_t> keys = random_keys(bytes, 5000);
    std::vector<std::pair<std::string_view, std::int32_t>> list(keys.begin(), keys.end());
    const Trie trie(list);
    for (const auto& [key, id] : keys) {
      const std::int32_t node = trie.walk(Trie::root(), key);
      ASSERT_NE(node, Trie::kNone);
      EXPECT_EQ(trie.value(node), id);
    }
    for (const auto& [key, id] : random_keys(bytes + 1, 5000)) {
      const std::int32_t node = trie.walk(Trie::root(), key);
      const auto found = keys.find(key);
      EXPECT_EQ(node == Trie::kNone ? Trie::kNone : trie.value(node),
                found == keys.end() ? Trie::kNone : found->second);
    }
  }
}

TEST(Trie, EmptyAndEqualKeys) {
  EXPECT_EQ(Trie().child(Trie::root(), 'a'), Trie::kNone);
  const Trie trie({{"", 1}, {"a", 2}, {"a", 3}});
  EXPECT_EQ(trie.value(Trie::root()), Trie::kNone);
  EXPECT_EQ(trie.value(trie.walk(Trie::root(), "a")), 3);
}

TEST(Vocabulary, BothWays) {
  const std::map<std::string, std::int32_t> keys = random_keys(200, 20000);
  Vocabulary vocabulary;
  for (const auto& [key, id] : keys) vocabulary.add(key, id, "test");
  for (const auto& [key, id] : keys) {
    EXPECT_EQ(vocabulary.find(key), id);
    EXPECT_EQ(vocabulary.token(id), key);
    EXPECT_EQ(keys.contains(key + "x"), vocabulary.find(key + "x").has_value());
  }
}

TEST(Vocabulary, ATokenMovesToItsLastId) {
  Vocabulary vocabulary;
  for (const std::int32_t id : {0, 1, 2}) vocabulary.add("same", id, "test");
  EXPECT_EQ(vocabulary.find("same"), 2);
  EXPECT_EQ(vocabulary.token(0), "");
  EXPECT_EQ(vocabulary.token(2), "same");
  EXPECT_EQ(test::error_of(ErrorKind::bad_format, [&] { vocabulary.add("a", -1, "test"); }),
            "test: id of \"a\" is -1, expected an integer from 0 to 16777215");
}

}  // namespace
}  // namespace heed::text
