#include "heed/text/tokenizer.h"

#include <gtest/gtest.h>

#include "heed/base/parallel.h"
#include "support/error_of.h"
#include "support/shared_data.h"

namespace heed::text {
namespace {

using heed::test::error_of;

// Words of a to h, with [CLS] and [SEP] around.
Json letters() {
  return parse_json(R"({"version": "1.0", "truncation": null, "padding": null,
    "added_tokens": [{"id": 1, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false,
                      "normalized": false, "special": true}],
    "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]}, "decoder": null,
    "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "b": 4,
              "c": 5, "d": 6, "e": 7, "f": 8, "g": 9, "h": 10}}})",
                    "letters");
}

// Byte-level pieces of single bytes.
Json bytes() {
  Json json = parse_json(R"({"version": "1.0", "added_tokens": [],
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
    "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {}, "merges": []}})",
                         "bytes");
  const auto alphabet = Tokenizer::from_json(R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
    "model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}})",
                                             "alphabet");
  std::int32_t id = 0;
  for (const std::string& word : alphabet.words("ABC äö中😀")) {
    for (std::size_t i = 0; i < word.size();) {
      const std::size_t length = static_cast<unsigned char>(word[i]) < 0x80 ? 1 : 2;
      if (json["model"]["vocab"].emplace(word.substr(i, length), id).second) ++id;
      i += length;
    }
  }
  return json;
}

std::vector<std::int32_t> ids(std::initializer_list<std::int32_t> list) {
  return list;
}

TEST(Tokenizer, EncodesPairs) {
  const auto tokenizer = Tokenizer::from_parsed_json(letters(), "letters");
  const Encoding encoding = tokenizer.encode("a z", "b");
  EXPECT_EQ(encoding.ids, ids({1, 3, 0, 2, 4, 2}));
  EXPECT_EQ(encoding.type_ids, ids({0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(encoding.sequence_ids, ids({-1, 0, 0, -1, 1, -1}));
  EXPECT_EQ(encoding.word_ids, ids({-1, 0, 1, -1, 0, -1}));
  EXPECT_EQ(encoding.byte_offsets[2], (Span{2, 3}));
  EXPECT_EQ(tokenizer.encode("a", {.add_special = false}).ids, ids({3}));
  EXPECT_EQ(tokenizer.encode("").ids, ids({1, 2}));
  EXPECT_EQ(tokenizer.encode("a[CLS]b", {.add_special = false}).ids, ids({3, 1, 4}));
}

TEST(Tokenizer, LooksUpTokens) {
  const auto tokenizer = Tokenizer::from_parsed_json(letters(), "letters");
  EXPECT_EQ(tokenizer.token_to_id("b"), 4);
  EXPECT_EQ(tokenizer.token_to_id("[CLS]"), 1);
  EXPECT_EQ(tokenizer.token_to_id("zz"), std::nullopt);
  EXPECT_EQ(tokenizer.id_to_token(4), "b");
  EXPECT_EQ(tokenizer.id_to_token(99), std::nullopt);
  EXPECT_EQ(tokenizer.id_to_token(-1), std::nullopt);
  EXPECT_EQ(tokenizer.vocabulary_size(), 11);
  EXPECT_EQ(tokenizer.decode(ids({1, 3, 99, 4})), "a b");
  EXPECT_EQ(tokenizer.decode(ids({1, 3}), false), "[CLS] a");
}

// As in HuggingFace 0.23, where a special token that is changed by normalising is not left out either.
TEST(Tokenizer, NormalizedAddedTokensStandForTheirNormalizedText) {
  Json json = letters();
  json["normalizer"] = {{"type", "Lowercase"}};
  json["added_tokens"][0]["normalized"] = true;
  const auto tokenizer = Tokenizer::from_parsed_json(json, "letters");
  EXPECT_EQ(tokenizer.id_to_token(1), "[cls]");
  EXPECT_EQ(tokenizer.token_to_id("[CLS]"), 1);
  EXPECT_EQ(tokenizer.decode(ids({1, 3}), true), "[cls] a");
  const Encoding encoding = tokenizer.encode("a [CLS]");
  EXPECT_EQ(encoding.ids, ids({1, 3, 1, 2}));
  EXPECT_EQ(tokenizer.tokens(encoding), (std::vector<std::string>{"[CLS]", "a", "[cls]", "[SEP]"}));
}

TEST(Tokenizer, TruncatesIntoWindows) {
  auto tokenizer = Tokenizer::from_parsed_json(letters(), "letters");
  tokenizer.set_truncation(Truncation{.max_length = 5, .stride = 1});
  Encoding encoding = tokenizer.encode("a b c d e f");
  EXPECT_EQ(encoding.ids, ids({1, 3, 4, 5, 2}));
  ASSERT_EQ(encoding.overflowing.size(), 2u);
  EXPECT_EQ(encoding.overflowing[0].ids, ids({1, 5, 6, 7, 2}));
  EXPECT_EQ(encoding.overflowing[1].ids, ids({1, 7, 8, 2}));
  EXPECT_EQ(encoding.overflowing[1].byte_offsets[2], (Span{10, 11}));
  EXPECT_EQ(encoding.overflowing[1].word_ids, ids({-1, 4, 5, -1}));

  tokenizer.set_truncation(Truncation{.max_length = 4, .direction = Direction::left});
  encoding = tokenizer.encode("a b c");
  EXPECT_EQ(encoding.ids, ids({1, 4, 5, 2}));
  ASSERT_EQ(encoding.overflowing.size(), 1u);
  EXPECT_EQ(encoding.overflowing[0].ids, ids({1, 3, 2}));

  tokenizer.set_truncation(Truncation{.max_length = 7});
  encoding = tokenizer.encode("a b c d", "e f g");
  EXPECT_EQ(encoding.ids, ids({1, 3, 4, 2, 7, 8, 2}));
  // Every window of the one with every window of the other, except the pair above.
  ASSERT_EQ(encoding.overflowing.size(), 3u);
  EXPECT_EQ(encoding.overflowing[0].ids, ids({1, 5, 6, 2, 7, 8, 2}));
  EXPECT_EQ(encoding.overflowing[1].ids, ids({1, 5, 6, 2, 9, 2}));
  EXPECT_EQ(encoding.overflowing[2].ids, ids({1, 3, 4, 2, 9, 2}));
}

TEST(Tokenizer, TruncatesOnlyWhatItMay) {
  auto tokenizer = Tokenizer::from_parsed_json(letters(), "letters");
  tokenizer.set_truncation(Truncation{.max_length = 6, .strategy = Truncation::Strategy::only_second});
  EXPECT_EQ(tokenizer.encode("a b", "c d e").ids, ids({1, 3, 4, 2, 5, 2}));
  EXPECT_EQ(error_of(ErrorKind::invalid_argument, [&] { tokenizer.encode("a b c d e"); }),
            "[truncate] OnlySecond needs a pair, but there is one text");
  EXPECT_EQ(error_of(ErrorKind::invalid_argument, [&] { tokenizer.encode("a b c d e", "f"); }),
            "[truncate] the text to shorten has 1 tokens, expected more than the 3 that are to go");
  tokenizer.set_truncation(Truncation{.max_length = 4, .stride = 2});
  EXPECT_EQ(error_of(ErrorKind::invalid_argument, [&] { tokenizer.encode("a b c"); }),
            "[truncate] the stride is 2, expected less than the 2 tokens that are left for the text");
  tokenizer.set_truncation(Truncation{.max_length = 1});
  EXPECT_EQ(error_of(ErrorKind::invalid_argument, [&] { tokenizer.encode("a"); }),
            "[truncate] max_length is 1, expected at least the 2 special tokens");
}

TEST(Tokenizer, BatchIsOneByOneAndThenPadded) {
  auto tokenizer = Tokenizer::from_parsed_json(letters(), "letters");
  const std::vector<EncodeInput> inputs = {{"a", {}}, {"a b c", {}}, {"d", "e f"}, {"", {}}};
  for (const int threads : {1, 3}) {
    const ThreadLimit limit(threads);
    const auto batch = tokenizer.encode_batch(inputs);
    EXPECT_EQ(batch[1].ids, tokenizer.encode("a b c").ids);
    EXPECT_EQ(batch[2].ids, tokenizer.encode("d", "e f").ids);
  }
  Padding padding;
  padding.multiple_of = 4;
  padding.pad = {.id = 7, .type_id = 2, .token = "[PAD]"};
  tokenizer.set_padding(padding);
  const auto batch = tokenizer.encode_batch(inputs);
  EXPECT_EQ(batch[0].ids, ids({1, 3, 2, 7, 7, 7, 7, 7}));
  EXPECT_EQ(batch[0].type_ids, ids({0, 0, 0, 2, 2, 2, 2, 2}));
  EXPECT_EQ(batch[0].attention_mask, (std::vector<std::uint8_t>{1, 1, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(batch[0].special_mask, (std::vector<std::uint8_t>{1, 0, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(tokenizer.tokens(batch[0])[3], "[PAD]");
  EXPECT_EQ(batch[2].size(), 8u);
}

TEST(Tokenizer, RefusesGigabytesOfPadding) {
  Json json = letters();
  json["padding"] = {{"strategy", {{"Fixed", 4'000'000'000}}},
                     {"direction", "Right"},
                     {"pad_to_multiple_of", nullptr},
                     {"pad_id", 0},
                     {"pad_type_id", 0},
                     {"pad_token", "[UNK]"}};
  const auto tokenizer = Tokenizer::from_parsed_json(json, "letters");
  EXPECT_EQ(error_of(ErrorKind::invalid_argument, [&] { tokenizer.encode("a"); }),
            "[pad] 1 windows of 4000000000 tokens, expected at most 16777216 tokens together");
}

TEST(Tokenizer, InvalidUtf8IsRefusedOrReplaced) {
  const auto tokenizer = Tokenizer::from_parsed_json(letters(), "letters");
  EXPECT_EQ(error_of(ErrorKind::invalid_argument, [&] { tokenizer.encode("ab\xFFz"); }),
            "[tokenize] byte 2 of the text is not UTF-8");
  const Encoding encoding =
      tokenizer.encode("\xE4\xB8 a \xFF b", {.add_special = false, .invalid = InvalidText::kReplace});
  EXPECT_EQ(encoding.ids, ids({0, 3, 0, 4}));
  EXPECT_EQ(encoding.byte_offsets, (std::vector<Span>{{0, 2}, {3, 4}, {5, 6}, {7, 8}}));
  EXPECT_EQ(encoding.char_offsets, (std::vector<Span>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
}

TEST(Tokenizer, StreamsWholeCharacters) {
  const auto tokenizer = Tokenizer::from_parsed_json(bytes(), "bytes");
  const std::string text = "A äBö 中😀C";
  StreamDecoder stream(tokenizer);
  std::string streamed;
  for (const std::int32_t id : tokenizer.encode(text).ids) {
    const std::string part = stream.push(id);
    EXPECT_EQ(part.find("\uFFFD"), std::string::npos);
    streamed += part;
  }
  EXPECT_EQ(streamed + stream.finish(), text);

  const std::vector<std::int32_t> half = {*tokenizer.token_to_id("A"), tokenizer.encode("中").ids[0]};
  EXPECT_EQ(stream.push(half[0]), "A");
  EXPECT_EQ(stream.push(half[1]), "");
  EXPECT_EQ(stream.finish(), "\uFFFD");
  EXPECT_EQ(stream.finish(), "");
}

// Whisper's vocabulary has such a token.
TEST(Tokenizer, AnEmptyTokenCountsBeforeTheAddedOnes) {
  Json json = letters();
  json["model"]["vocab"][""] = 11;
  json["added_tokens"].push_back({{"id", 12}, {"content", "<new>"}, {"special", true}});
  const auto tokenizer = Tokenizer::from_parsed_json(json, "letters");
  EXPECT_EQ(tokenizer.encode("a<new>", {.add_special = false}).ids, ids({3, 12}));
}

TEST(Tokenizer, WhispersPublishedFile) {
  const std::filesystem::path file = heed::test::shared_data("weights/whisper-tiny/tokenizer.json");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  const auto tokenizer = Tokenizer::from_file(file);
  // The first ids of what PyTorch heard in the folder's jfk.wav.
  const auto encoding = tokenizer.encode(" And so my fellow Americans");
  EXPECT_EQ(encoding.ids, ids({50258, 50363, 400, 370, 452, 7177, 6280, 50257}));
  EXPECT_EQ(tokenizer.decode(encoding.ids, true), " And so my fellow Americans");
}

// Command R+ has ByteLevel's fields in its TemplateProcessing, where nobody reads them.
TEST(Tokenizer, FieldsOfAnotherTypeAreNotRead) {
  Json json = letters();
  json["post_processor"].update({{"add_prefix_space", true}, {"trim_offsets", false}, {"use_regex", true}});
  EXPECT_EQ(Tokenizer::from_parsed_json(json, "letters").encode("a").ids, ids({1, 3, 2}));
}

TEST(Tokenizer, RefusesByName) {
  const auto refuse = [](const std::string& pointer, const Json& value) {
    Json json = letters();
    json[Json::json_pointer(pointer)] = value;
    return error_of(ErrorKind::bad_format, [&] { Tokenizer::from_parsed_json(json, "t.json"); });
  };
  EXPECT_EQ(refuse("/colour", 1), "t.json: unknown field \"colour\"");
  EXPECT_EQ(refuse("/version", "2.0"), "t.json: version is \"2.0\", expected \"1.0\"");
  EXPECT_EQ(refuse("/normalizer", {{"type", "Magic"}}), "t.json: normalizer: unknown type \"Magic\"");
  EXPECT_EQ(refuse("/normalizer", {{"type", "NFC"}, {"x", 1}}), "t.json: normalizer: unknown field \"x\"");
  EXPECT_EQ(refuse("/pre_tokenizer", 3), "t.json: pre_tokenizer is the number 3, expected an object");
  EXPECT_EQ(
      refuse("/added_tokens/0/id", 5),
      "t.json: added_tokens: the token \"[CLS]\" has the id 5, expected 1 (its own in the vocabulary, or the next "
      "after it)");
  EXPECT_EQ(refuse("/pre_tokenizer",
                   {{"type", "Split"}, {"pattern", {{"Regex", "("}}}, {"behavior", "Removed"}, {"invert", false}}),
            "t.json: pre_tokenizer: the regular expression \"(\" is refused: end pattern with unmatched parenthesis");
  EXPECT_EQ(refuse("/pre_tokenizer", {{"type", "Punctuation"}, {"behavior", "Eaten"}}),
            "t.json: pre_tokenizer: behavior is \"Eaten\", expected one of Removed, Isolated, MergedWithPrevious, "
            "MergedWithNext, Contiguous");
  EXPECT_EQ(refuse("/post_processor/sep", "x"), "t.json: post_processor: sep is \"x\", expected [\"token\", id]");
}

}  // namespace
}  // namespace heed::text
