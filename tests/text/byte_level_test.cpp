#include "heed/text/byte_level.h"

#include <gtest/gtest.h>

#include "heed/text/regex.h"
#include "heed/text/unicode.h"

namespace heed::text {
namespace {

TEST(ByteLevel, AlphabetIsOneToOneAndVisible) {
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t point = byte_level_point(static_cast<unsigned char>(byte));
    EXPECT_EQ(byte_level_byte(point), static_cast<unsigned char>(byte));
    EXPECT_FALSE(PropertyTable().has(point, kIsWhitespace | kIsControl));
  }
  EXPECT_EQ(byte_level_point(' '), 0x120u);
  EXPECT_EQ(byte_level_point('\n'), 0x10Au);
  EXPECT_EQ(byte_level_byte(U' '), std::nullopt);
  EXPECT_EQ(byte_level_byte(0x4E00), std::nullopt);
}

// The hand-written matcher finds what the regular expression finds.
TEST(ByteLevel, WordsAreTheMatchesOfTheExpression) {
  const Regex regex("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", "test");
  const std::vector<std::string> parts = {
      "a",           "Zé",     "don't", "'s", "'t", "'re", "'ve",    "'m",     "'ll", "'d", "'l",
      "'v",          "'",      "''",    "1",  "42", "½",   "٣",      "!",      "?!",  "$",  "日本",
      "👩‍👧", "\u0301", " ",     "  ", "\t", "\n",  "\u00a0", "\u3000", "_",
  };
  std::uint64_t state = 1;
  const auto draw = [&](std::size_t count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>((state >> 33) % count);
  };
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (std::size_t i = draw(12); i > 0; --i) text += parts[draw(parts.size())];
    std::vector<Span> expected, words;
    regex.find_all(text, expected);
    gpt2_words(text, words);
    ASSERT_EQ(words, expected) << text;
  }
}

}  // namespace
}  // namespace heed::text
