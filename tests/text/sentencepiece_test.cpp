#include "heed/text/sentencepiece.h"

#include <gtest/gtest.h>

#include "heed/text/charsmap.h"
#include "heed/text/load_tokenizer.h"
#include "support/error_of.h"
#include "support/temp_folder.h"
#include "text/small_sentencepiece.h"

namespace heed::text {
namespace {

using test::bytes_field, test::integer_field, test::piece, test::small_model;
using test::error_of;

// A trie with the single key "A", whose value is the string at 3.
std::string small_charsmap() {
  std::vector<std::uint32_t> units(512);
  units[0] = 256 << 10;
  units[256 ^ 'A'] = 'A' | 1 << 8 | ((256 ^ 'A') ^ 2) << 10;
  units[2] = 0x80000000 | 3;
  std::string bytes;
  const auto append = [&](std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
  };
  append(2048);
  for (const std::uint32_t unit : units) append(unit);
  return bytes + std::string("zz\0aa\0", 6);
}

TEST(SentencePiece, ReadsAModel) {
  const SentencePieceModel model = parse_sentencepiece(small_model(1), "m.model");
  ASSERT_EQ(model.pieces.size(), 10u);
  EXPECT_EQ(model.pieces[7].piece, "▁a");
  EXPECT_EQ(model.pieces[7].score, -0.5f);
  EXPECT_EQ(model.pieces[9].type, PieceType::kUserDefined);
  EXPECT_EQ(model.kind, SentencePieceModel::Kind::kUnigram);
  EXPECT_EQ(model.unk_piece, "<unk>");
  EXPECT_TRUE(model.add_dummy_prefix);
}

// By falling score of what they make; "▁ab" is made in two ways, the longer left part first.
TEST(SentencePiece, ScoresImplyMerges) {
  const Json json = sentencepiece_model_json(parse_sentencepiece(small_model(2), "m.model"));
  EXPECT_EQ(json["merges"], Json::parse(R"([["▁", "a"], ["a", "b"], ["▁a", "b"], ["▁", "ab"]])"));
  EXPECT_EQ(json["fuse_unk"], true);
  EXPECT_EQ(json["unk_token"], "<unk>");
}

TEST(SentencePiece, EveryCutOfAFileIsAnErrorOrAModel) {
  const std::string whole = small_model(2);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      sentencepiece_model_json(parse_sentencepiece(whole.substr(0, size), "m.model"));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_format);
      EXPECT_TRUE(std::string(error.what()).starts_with("m.model: ")) << error.what();
    }
  }
}

TEST(SentencePiece, RefusesOtherKinds) {
  EXPECT_EQ(error_of(ErrorKind::bad_format, [] { parse_sentencepiece(small_model(4), "m.model"); }),
            "m.model: model_type is 4, expected 1 (unigram) or 2 (bpe)");
  EXPECT_EQ(error_of(ErrorKind::bad_format, [] { parse_sentencepiece("", "m.model"); }),
            "m.model: has no pieces; expected a SentencePiece model");
}

TEST(SentencePiece, LoadsFromADirectory) {
  for (const std::uint64_t kind : {1, 2}) {
    const test::TempFolder folder;
    folder.write("spiece.model", small_model(kind));
    const Tokenizer tokenizer = load_tokenizer(folder.path());
    const Encoding encoding = tokenizer.encode("ab<user> a");
    EXPECT_EQ(tokenizer.decode(encoding.ids, false), "ab<user> a");
    EXPECT_EQ(encoding.ids[0], 8);
  }
}

TEST(SentencePiece, FamiliesAddTheirSpecialTokens) {
  const test::TempFolder folder;
  folder.write("spiece.model", small_model(1));
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer", "extra_ids": 2})");
  const Tokenizer t5 = load_tokenizer(folder.path());
  EXPECT_EQ(t5.encode("ab").ids, (std::vector<std::int32_t>{8, 2}));
  EXPECT_EQ(t5.token_to_id("<extra_id_0>"), 11);
  EXPECT_EQ(t5.token_to_id("<extra_id_1>"), 10);
  // Ids that a folder lists count, also where the pieces have others.
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer", "extra_ids": 1, "added_tokens_decoder": {
      "0": {"content": "<pad>", "special": true}, "1": {"content": "</s>", "special": true},
      "2": {"content": "<unk>", "special": true}, "900": {"content": "<extra_id_0>", "special": true}}})");
  const Tokenizer listed = load_tokenizer(folder.path());
  EXPECT_EQ(listed.encode("ab<extra_id_0>").ids, (std::vector<std::int32_t>{8, 900, 1}));
  EXPECT_EQ(listed.decode(std::vector<std::int32_t>{0, 8, 900, 1}), "ab");
  EXPECT_EQ(listed.vocabulary_size(), 901);
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "XLMRobertaTokenizer"})");
  const Tokenizer xlm = load_tokenizer(folder.path());
  EXPECT_EQ(xlm.encode("ab", "b").ids, (std::vector<std::int32_t>{0, 9, 2, 2, 4, 6, 2}));
  EXPECT_EQ(xlm.token_to_id("<mask>"), 11);
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizerFast"})");
  EXPECT_EQ(load_tokenizer(folder.path()).encode("ab").ids, (std::vector<std::int32_t>{1, 8}));
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "ParrotTokenizer"})");
  EXPECT_NE(error_of(ErrorKind::bad_format, [&] { load_tokenizer(folder.path()); }).find("Parrot"), std::string::npos);
}

// As in ALBERT's published tokenizer.json: its symbols do not begin a word, numbers do not end in commas, and white
// space at the end is nothing.
TEST(SentencePiece, AlbertCutsWordsAsItsPublishedTokenizer) {
  const test::TempFolder folder;
  const std::vector<std::pair<const char*, float>> pieces = {{"▁", -3},      {"▁well", -6}, {"known", -7},
                                                             {"▁known", -7}, {"▁7,", -2},   {"▁7", -5},
                                                             {",", -5},      {"\"", -5},    {"e", -6}};
  std::string model = piece("<pad>", 0, PieceType::kControl) + piece("<unk>", 0, PieceType::kUnknown) +
                      piece("[CLS]", 0, PieceType::kControl) + piece("[SEP]", 0, PieceType::kControl) +
                      piece("[MASK]", 0, PieceType::kControl) + piece("-", 0, PieceType::kUserDefined);
  for (const auto& [text, score] : pieces) model += piece(text, score);
  folder.write("spiece.model", model + bytes_field(2, integer_field(3, 1) + integer_field(40, 1)) + bytes_field(3, ""));
  folder.write("config.json", R"({"model_type": "albert"})");
  const Tokenizer tokenizer = load_tokenizer(folder.path());
  const auto tokens = [&](const char* text) { return tokenizer.tokens(tokenizer.encode(text)); };
  using Tokens = std::vector<std::string>;
  EXPECT_EQ(tokens("Well-known "), (Tokens{"[CLS]", "▁well", "-", "known", "[SEP]"}));
  EXPECT_EQ(tokens("7, ``É''"), (Tokens{"[CLS]", "▁7", ",", "▁", "\"", "e", "\"", "[SEP]"}));
}

// CamemBERT's ids are not the places of its pieces; which families have such rules is not to be guessed.
TEST(SentencePiece, AModelTypeThatIsNotKnownIsRefused) {
  const test::TempFolder folder;
  folder.write("sentencepiece.bpe.model", small_model(1));
  folder.write("config.json", R"({"model_type": "camembert"})");
  const std::string message = error_of(ErrorKind::bad_format, [&] { load_tokenizer(folder.path()); });
  EXPECT_NE(message.find("\"camembert\""), std::string::npos) << message;
  EXPECT_NE(message.find("albert, llama, m2m_100"), std::string::npos) << message;
}

TEST(Charsmap, FindsTheShortestKey) {
  const Charsmap map(small_charsmap(), "test");
  EXPECT_EQ(map.find("A"), "aa");
  EXPECT_EQ(map.find("Ab"), "aa");
  EXPECT_EQ(map.find("bA"), std::nullopt);
  EXPECT_EQ(map.find(""), std::nullopt);
  EXPECT_EQ(Charsmap::from_base64(map.to_base64(), "test").bytes(), map.bytes());
}

TEST(Charsmap, HostileBytesStayInside) {
  std::string bytes = small_charsmap();
  for (std::size_t i = 0; i < 4 + 8; ++i) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string broken = bytes;
      broken[i] = value;
      try {
        const Charsmap map(broken, "test");
        for (int c = 0; c < 256; ++c) map.find(std::string(3, static_cast<char>(c)));
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::bad_format);
      }
    }
  }
}

// RFC 4648, section 10.
TEST(Base64, PublishedVectors) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : cases) {
    EXPECT_EQ(base64_encode(plain), coded);
    EXPECT_EQ(base64_decode(coded, "test"), plain);
  }
  error_of(ErrorKind::bad_format, [] { base64_decode("Zm9", "test"); });
  error_of(ErrorKind::bad_format, [] { base64_decode("Zm9*", "test"); });
}

}  // namespace
}  // namespace heed::text
