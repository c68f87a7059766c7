#include "heed/text/unicode.h"

#include <gtest/gtest.h>

namespace heed::text {
namespace {

TEST(Unicode, PropertiesAreThoseOfHuggingFace) {
  const PropertyTable table;
  EXPECT_TRUE(table.has(U' ', kIsWhitespace));
  EXPECT_TRUE(table.has(0x85, kIsWhitespace));
  EXPECT_TRUE(table.has(0x85, kIsControl));
  EXPECT_FALSE(table.has(U'\t', kIsControl));
  EXPECT_TRUE(table.has(0x200B, kIsControl));
  EXPECT_FALSE(table.has(0x378, kIsControl)) << "unassigned code points stay";
  EXPECT_TRUE(table.has(U'$', kIsPunctuation)) << "ASCII symbols count as punctuation";
  EXPECT_FALSE(table.has(0x20AC, kIsPunctuation)) << "other symbols do not";
  EXPECT_TRUE(table.has(0x301, kIsNonspacingMark));
  EXPECT_TRUE(table.has(0x903, kIsCombiningMark));
  EXPECT_FALSE(table.has(0x903, kIsNonspacingMark));
  EXPECT_FALSE(table.has(0x898, kIsNonspacingMark)) << "a mark of Unicode 14";
  EXPECT_TRUE(table.has(0xBD, kIsNumeric));
  EXPECT_TRUE(table.has(0x24B6, kIsWord));
  EXPECT_TRUE(table.has(0x200D, kIsWord));
  EXPECT_FALSE(table.has(0x10FFFF, static_cast<Properties>(~0)));
}

TEST(Unicode, LowerCase) {
  EXPECT_EQ(lower_case(U'A'), U'a');
  EXPECT_EQ(lower_case(U'['), U'[');
  EXPECT_EQ(lower_case(0x3A3), 0x3C3u) << "no final sigma";
  EXPECT_EQ(lower_case(0x130), U'i');
  EXPECT_EQ(lower_case_tail(0x130), 0x307u);
  EXPECT_EQ(lower_case_tail(U'I'), 0u);
  EXPECT_EQ(lower_case(0x101), 0x101u);
  EXPECT_EQ(lower_case(0x100), 0x101u);
  EXPECT_EQ(lower_case(0x1E9E), 0xDFu);
  EXPECT_EQ(lower_case(0x10400), 0x10428u);
}

TEST(Unicode, ChineseBlocksWithTheirQuirk) {
  EXPECT_TRUE(is_chinese(0x4E00));
  EXPECT_FALSE(is_chinese(0x3042)) << "no kana";
  EXPECT_FALSE(is_chinese(0x2B820)) << "extension E starts at U+2B920 there";
  EXPECT_TRUE(is_chinese(0x2B920));
}

TEST(Unicode, CodePointsRoundTrip) {
  for (const char32_t point : {0x0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF}) {
    std::string text;
    append_point(text, point);
    EXPECT_EQ(text.size(), encoded_length(point));
    EXPECT_EQ(text.size(), sequence_length(text[0]));
    const char* at = text.data();
    EXPECT_EQ(next_point(at), point);
    EXPECT_EQ(at, text.data() + text.size());
  }
}

}  // namespace
}  // namespace heed::text
