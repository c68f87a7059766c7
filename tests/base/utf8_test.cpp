#include "heed/base/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

// The definition, read off backwards: a sequence is well formed when it is what encoding some scalar value gives.
// Independent of the library: bit arithmetic first, then the rules on the value.
struct Naive {
  std::uint32_t value;
  int length;  // 0: malformed
};

Naive naive_decode(const std::uint8_t* bytes, int available) {
  const int length = bytes[0] >> 7 == 0    ? 1
                     : bytes[0] >> 5 == 6  ? 2
                     : bytes[0] >> 4 == 14 ? 3
                     : bytes[0] >> 3 == 30 ? 4
                                           : 0;
  if (length == 0 || length > available) return {0, 0};
  std::uint32_t value = length == 1 ? bytes[0] : bytes[0] & ((1u << (7 - length)) - 1);
  for (int i = 1; i < length; ++i) {
    if (bytes[i] >> 6 != 2) return {0, 0};
    value = value * 64 + bytes[i] % 64;
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return {0, 0};
  return {value, length};
}

// How many bytes from the start are a prefix of some well-formed sequence (at least 1): tries completions with every
// sixteenth continuation byte, which is enough, since no rule of UTF-8 cuts finer than that.
int naive_subpart(const std::uint8_t* bytes) {
  int longest = 1;
  for (int prefix = 1; prefix < 4; ++prefix) {
    for (int fill = 0; fill < 64; ++fill) {
      std::uint8_t trial[4];
      for (int i = 0; i < 4; ++i) {
        trial[i] = i < prefix ? bytes[i] : static_cast<std::uint8_t>(0x80 | (fill >> (2 * (3 - i)) & 3) << 4);
      }
      if (naive_decode(trial, 4).length > prefix) longest = prefix;
    }
  }
  return longest;
}

std::string_view as_text(const std::uint8_t* bytes, int count) {
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count)};
}

TEST(Utf8, EverySequenceOfOneToThreeBytesDecodesAsDefined) {
  int mismatches = 0;
  for (int length = 1; length <= 3; ++length) {
    for (int code = 0; code < 1 << (8 * length); ++code) {
      std::uint8_t bytes[3];
      for (int i = 0; i < length; ++i) bytes[i] = static_cast<std::uint8_t>(code >> (8 * i));
      const Naive expected = naive_decode(bytes, length);
      const CodePoint got = utf8_decode(as_text(bytes, length), 0);
      mismatches += got.valid != (expected.length != 0);
      if (expected.length != 0) {
        mismatches += got.value != expected.value || got.length != static_cast<std::size_t>(expected.length);
      } else {
        mismatches += got.value != kReplacementCharacter;
      }
      std::size_t first_bad = 0;
      while (first_bad < static_cast<std::size_t>(length)) {
        const int step = naive_decode(bytes + first_bad, length - static_cast<int>(first_bad)).length;
        if (step == 0) break;
        first_bad += static_cast<std::size_t>(step);
      }
      const auto found = utf8_find_invalid(as_text(bytes, length));
      mismatches += found.value_or(static_cast<std::size_t>(length)) != first_bad;
    }
  }
  EXPECT_EQ(mismatches, 0);
}

TEST(Utf8, MalformedSequencesAreMaximalSubparts) {
  // One byte of each kind at each place: leads of every length and range, continuations at the edges, ASCII.
  const std::vector<std::uint8_t> kinds = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF,
                                           0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
  int checked = 0;
  for (std::uint8_t a : kinds) {
    for (std::uint8_t b : kinds) {
      for (std::uint8_t c : kinds) {
        for (std::uint8_t d : kinds) {
          const std::uint8_t bytes[4] = {a, b, c, d};
          const CodePoint got = utf8_decode(as_text(bytes, 4), 0);
          const Naive expected = naive_decode(bytes, 4);
          ASSERT_EQ(got.valid, expected.length != 0);
          if (a < 0x80 || got.valid) continue;
          ASSERT_EQ(got.length, static_cast<std::size_t>(naive_subpart(bytes)))
              << std::hex << int{a} << " " << int{b} << " " << int{c} << " " << int{d};
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 100000);
}

TEST(Utf8, EveryCodePointGoesRoundAndNothingElseIsEncoded) {
  std::string all;
  std::size_t count = 0;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) {
      EXPECT_THROW(utf8_append(all, code), Error);
      continue;
    }
    utf8_append(all, code);
    ++count;
  }
  EXPECT_THROW(utf8_append(all, 0x110000), Error);
  EXPECT_THROW(utf8_append(all, 0xFFFFFFFF), Error);
  EXPECT_EQ(utf8_find_invalid(all), std::nullopt);
  EXPECT_EQ(utf8_length(all), count);
  EXPECT_EQ(utf8_replace_invalid(all), all);
  char32_t expected = 0;
  std::size_t offset = 0;
  for (const CodePoint& point : Utf8View(all)) {
    ASSERT_TRUE(point.valid);
    ASSERT_EQ(point.value, expected);
    ASSERT_EQ(point.offset, offset);
    offset += point.length;
    expected = expected == 0xD7FF ? 0xE000 : expected + 1;
  }
  EXPECT_EQ(expected, 0x110000u);
}

TEST(Utf8, ReplacementFollowsTheExampleOfTheUnicodeStandard) {
  // Table 3-8 of the Unicode standard: E1 80 | E2 | F0 91 92 | F1 BF | 41 after well-formed neighbours.
  EXPECT_EQ(utf8_replace_invalid("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), "\uFFFD\uFFFD\uFFFD\uFFFD\x41");
  EXPECT_EQ(utf8_replace_invalid("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41");
  EXPECT_EQ(utf8_replace_invalid("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41");
  EXPECT_EQ(utf8_replace_invalid("abc\xFF"), "abc\uFFFD");
  EXPECT_EQ(utf8_replace_invalid(""), "");
  EXPECT_EQ(utf8_length("a\xFFz\xE2\x82"), 4u);
}

TEST(Utf8, AnErrorIsFoundAtEveryPlaceOfALongText) {
  for (std::size_t place = 0; place < 40; ++place) {
    std::string text(40, 'x');
    text[place] = '\x80';
    EXPECT_EQ(utf8_find_invalid(text), place);
  }
}

}  // namespace
}  // namespace heed
