// Every kind of stage against what HuggingFace tokenizers makes of the same texts (cases.json, by make_cases.js).
#include <gtest/gtest.h>

#include <filesystem>

#include "heed/base/file.h"
#include "heed/base/utf8.h"
#include "heed/text/tokenizer.h"
#include "support/shared_data.h"

namespace heed::text {
namespace {

// null stands for no word.
std::vector<std::int32_t> word_ids(const Json& list) {
  std::vector<std::int32_t> ids;
  for (const Json& item : list) ids.push_back(item.is_null() ? -1 : item.get<std::int32_t>());
  return ids;
}

std::vector<Span> spans(const Json& list) {
  std::vector<Span> result;
  for (const Json& item : list) result.push_back({item[0].get<std::uint32_t>(), item[1].get<std::uint32_t>()});
  return result;
}

std::string show(const std::vector<Span>& offsets) {
  std::string text;
  for (const Span& span : offsets) text += std::to_string(span.begin) + "-" + std::to_string(span.end) + " ";
  return text;
}

Encoding encode(const Tokenizer& tokenizer, const Json& result) {
  const auto text = result["text"].get<std::string>();
  return result["pair"].is_null() ? tokenizer.encode(text) : tokenizer.encode(text, result["pair"].get<std::string>());
}

TEST(Stages, AreThoseOfHuggingFace) {
  const auto path = test::tests_folder() / "text/cases.json";
  const Json cases = parse_json(read_file(path, 1 << 22), path.string());
  ASSERT_GT(cases.size(), 60u);
  for (const Json& one : cases) {
    const auto tokenizer = Tokenizer::from_parsed_json(one["tokenizer"], "case");
    for (const Json& result : one["results"]) {
      SCOPED_TRACE(one["tokenizer"].dump() + " on " + result["text"].dump());
      const Encoding encoding = encode(tokenizer, result);
      EXPECT_EQ(encoding.ids, result["ids"].get<std::vector<std::int32_t>>());
      EXPECT_EQ(tokenizer.tokens(encoding), result["tokens"].get<std::vector<std::string>>());
      EXPECT_EQ(show(encoding.char_offsets), show(spans(result["offsets"])));
      EXPECT_EQ(encoding.type_ids, result["type_ids"].get<std::vector<std::int32_t>>());
      EXPECT_EQ(encoding.word_ids, word_ids(result["word_ids"]));
      EXPECT_EQ(encoding.attention_mask, result["attention"].get<std::vector<std::uint8_t>>());
      EXPECT_EQ(encoding.special_mask, result["special"].get<std::vector<std::uint8_t>>());
    }
  }
}

// Offsets in bytes and in characters name the same part of the text.
TEST(Stages, ByteOffsetsMatchCharacterOffsets) {
  const auto path = test::tests_folder() / "text/cases.json";
  const Json cases = parse_json(read_file(path, 1 << 22), path.string());
  for (const Json& one : cases) {
    if (!one["tokenizer"]["post_processor"].is_null())
      continue;  // trimming counts bytes of one, characters of the other
    const auto tokenizer = Tokenizer::from_parsed_json(one["tokenizer"], "case");
    for (const Json& result : one["results"]) {
      if (!result["pair"].is_null()) continue;
      const auto text = result["text"].get<std::string>();
      const Encoding encoding = tokenizer.encode(text);
      for (std::size_t i = 0; i < encoding.size(); ++i) {
        EXPECT_EQ(utf8_length(text.substr(0, encoding.byte_offsets[i].begin)), encoding.char_offsets[i].begin);
        EXPECT_EQ(utf8_length(text.substr(0, encoding.byte_offsets[i].end)), encoding.char_offsets[i].end);
      }
    }
  }
}

// What to_json() writes makes the same tokenizer again.
TEST(Stages, SurviveWriting) {
  const auto path = test::tests_folder() / "text/cases.json";
  const Json cases = parse_json(read_file(path, 1 << 22), path.string());
  for (const Json& one : cases) {
    const auto tokenizer = Tokenizer::from_parsed_json(one["tokenizer"], "case");
    const auto again = Tokenizer::from_json(tokenizer.to_json().dump(), "again");
    EXPECT_EQ(again.to_json(), tokenizer.to_json());
    for (const Json& result : one["results"]) EXPECT_EQ(encode(again, result).ids, encode(tokenizer, result).ids);
  }
}

}  // namespace
}  // namespace heed::text
