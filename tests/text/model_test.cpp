// The sub-word models. What is expected is what HuggingFace's tokenizers 0.23 gives for the same model and word.
#include "heed/text/model.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "heed/text/bpe.h"
#include "support/error_of.h"

namespace heed::text {
namespace {

using test::error_of;

Json json(std::string_view text) {
  return parse_json(text, "test.json");
}

// {"type": "BPE", ...} with the fields given over a small vocabulary.
std::unique_ptr<Model> small_bpe(const char* fields) {
  Json section = json(R"({"type": "BPE", "vocab": {"<unk>": 0, "a": 1, "b": 2, "c": 3, "ab": 4, "bc": 5, "abc": 6,
                          "cab": 7, "<0x78>": 8}, "merges": ["a b", "b c", "ab c", "c ab"]})");
  section.update(json(fields));
  return make_model(section, "test.json");
}

// "id token begin end" of each piece, with the text a tokenizer shows.
std::string cut(const Model& model, const std::string& word) {
  std::vector<Piece> pieces;
  model.tokenize(word, pieces);
  std::string result;
  for (const Piece& piece : pieces) {
    const std::string_view text = piece.id == model.surface_id()
                                      ? std::string_view(word).substr(piece.begin, piece.end - piece.begin)
                                      : model.token_of(piece.id);
    if (!result.empty()) result += ' ';
    result.append(std::to_string(piece.id)).append(":").append(text).append("@");
    result.append(std::to_string(piece.begin)).append("-").append(std::to_string(piece.end));
  }
  return result;
}

TEST(Bpe, MergesByRank) {
  const auto model = small_bpe("{}");
  EXPECT_EQ(cut(*model, "abc"), "6:abc@0-3");
  EXPECT_EQ(cut(*model, "bcab"), "5:bc@0-2 4:ab@2-4");
  EXPECT_EQ(cut(*model, "cabab"), "7:cab@0-3 4:ab@3-5");
  EXPECT_EQ(cut(*model, ""), "");
}

// Short words are merged by scanning, long ones by a heap, and both may come from the cache: always the same.
TEST(Bpe, LengthAndCacheChangeNothing) {
  const auto model = small_bpe("{}");
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int times : {1, 7, 8, 9, 40}) {
      std::string word, expected;
      for (int i = 0; i < times; ++i) {
        word += "abc";
        expected += (i > 0 ? " 6:abc@" : "6:abc@") + std::to_string(3 * i) + "-" + std::to_string(3 * i + 3);
      }
      EXPECT_EQ(cut(*model, word), expected);
    }
  }
}

TEST(Bpe, UnknownCharacters) {
  EXPECT_EQ(cut(*small_bpe("{}"), "x"), "");
  // Without an unknown token they vanish, and what follows moves up.
  EXPECT_EQ(cut(*small_bpe("{}"), "xabyc"), "6:abc@0-3");
  EXPECT_EQ(cut(*small_bpe(R"({"unk_token": "<unk>"})"), "yyabzc"),
            "0:<unk>@0-1 0:<unk>@1-2 4:ab@2-4 0:<unk>@4-5 3:c@5-6");
  const auto fused = small_bpe(R"({"unk_token": "<unk>", "fuse_unk": true})");
  EXPECT_EQ(cut(*fused, "yyabzc"), "0:<unk>@0-2 4:ab@2-4 0:<unk>@4-5 3:c@5-6");
  EXPECT_EQ(cut(*fused, "éé"), "0:<unk>@0-4");
  // Bytes overtake an unknown token that waits to be fused.
  EXPECT_EQ(cut(*small_bpe(R"({"unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true})"), "abyyxxyabq"),
            "4:ab@0-2 8:<0x78>@2-3 8:<0x78>@3-4 0:<unk>@4-7 4:ab@7-9 0:<unk>@9-10");
}

TEST(Bpe, IgnoresMergesForWholeWords) {
  const auto model = small_bpe(R"({"ignore_merges": true, "merges": ["b c"]})");
  EXPECT_EQ(cut(*model, "abc"), "6:abc@0-3");
  EXPECT_EQ(cut(*model, "cabc"), "3:c@0-1 1:a@1-2 5:bc@2-4");
}

TEST(Bpe, PrefixAndSuffix) {
  const auto model = make_model(json(R"({"type": "BPE", "continuing_subword_prefix": "##", "end_of_word_suffix": "</w>",
      "vocab": {"a": 0, "##b": 1, "##c</w>": 2, "ab": 3, "##bc</w>": 4, "a</w>": 5},
      "merges": [["##b", "##c</w>"], ["a", "##b"]]})"),
                                "test.json");
  EXPECT_EQ(cut(*model, "abc"), "0:a@0-1 4:##bc</w>@1-3");
  EXPECT_EQ(cut(*model, "a"), "5:a</w>@0-1");
  EXPECT_EQ(cut(*model, "ab"), "0:a@0-1");
}

TEST(Bpe, DropoutPassesOverMerges) {
  EXPECT_EQ(cut(*small_bpe(R"({"dropout": 1.0})"), "abab"), "1:a@0-1 2:b@1-2 1:a@2-3 2:b@3-4");
  EXPECT_EQ(cut(*small_bpe(R"({"dropout": 0.0})"), "abc"), "6:abc@0-3");
  const auto half = small_bpe(R"({"dropout": 0.5})");
  EXPECT_EQ(cut(*half, "abcabcab"), cut(*half, "abcabcab"));
  std::set<std::string> ways;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random{seed, 0, 0};
    const DropoutSource source(random);
    ways.insert(cut(*half, "abcabcab"));
    EXPECT_GT(random.next, 0u);
  }
  EXPECT_GT(ways.size(), 5u);
}

TEST(Bpe, LongWordsAreNotQuadratic) {
  const auto model = small_bpe("{}");
  std::string word;
  for (int i = 0; i < 300'000; ++i) word += "abc"[(i % 7) * (i % 7) % 3];
  std::vector<Piece> pieces;
  const auto start = std::chrono::steady_clock::now();
  model->tokenize(word, pieces);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 5);
  EXPECT_EQ(pieces.back().end, word.size());
}

TEST(WordPiece, LongestMatchFirst) {
  const auto model = make_model(json(R"({"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
      "max_input_chars_per_word": 6, "vocab": {"[UNK]": 0, "un": 1, "##aff": 2, "##able": 3, "##a": 4, "u": 5,
      "日": 6, "##本": 7, "##": 8}})"),
                                "test.json");
  EXPECT_EQ(cut(*model, "unaff"), "1:un@0-2 2:##aff@2-5");
  EXPECT_EQ(cut(*model, "unaffa"), "1:un@0-2 2:##aff@2-5 4:##a@5-6");
  EXPECT_EQ(cut(*model, "unaffable"), "0:[UNK]@0-9");  // too long
  EXPECT_EQ(cut(*model, "日本"), "6:日@0-3 7:##本@3-6");
  for (const char* word : {"ux", "u##", "a", "本"}) EXPECT_EQ(cut(*model, word).substr(0, 7), "0:[UNK]") << word;
}

TEST(Unigram, MostLikelyTokens) {
  const auto model = make_model(json(R"({"type": "Unigram", "unk_id": 0, "byte_fallback": false, "vocab":
      [["<unk>", 0], ["a", -1], ["ab", -1.5], ["b", -2], ["abc", -1.5], ["c", -0.1]]})"),
                                "test.json");
  EXPECT_EQ(cut(*model, "abc"), "4:abc@0-3");
  EXPECT_EQ(cut(*model, "abxyzc"), "2:ab@0-2 0:xyz@2-5 5:c@5-6");
  EXPECT_EQ(cut(*model, "日<unk>a"), "0:日<unk>@0-8 1:a@8-9");
}

// "11 1" and "1 11" are equally likely; the sums differ by the last bit of how HuggingFace reads -9.324755420001923.
TEST(Unigram, ScoresAreReadAsHuggingFaceReadsThem) {
  const auto model = make_model(json(R"({"type": "Unigram", "unk_id": 0, "byte_fallback": false, "vocab":
      [["<unk>", 0], ["▁answer", -9.324755420001923], ["s", -4.290655419093584], ["-", -6.101045408172579],
       ["20", -7.826626895424538], ["1", -5.951613635122033], ["11", -8.02070576900209], ["10", -7.979766959370529]]})"),
                                "test.json");
  EXPECT_EQ(cut(*model, "▁answers-2011110"),
            "1:▁answer@0-9 2:s@9-10 3:-@10-11 4:20@11-13 6:11@13-15 5:1@15-16 7:10@16-18");
  EXPECT_EQ(model->to_json()["vocab"][1][1], -9.324755420001923);
}

TEST(Unigram, FallsBackToBytes) {
  const auto model = make_model(json(R"({"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab":
      [["<unk>", 0], ["a", -1], ["<0xC3>", -5], ["<0xA9>", -5]]})"),
                                "test.json");
  EXPECT_EQ(cut(*model, "aéa"), "1:a@0-1 2:<0xC3>@1-3 3:<0xA9>@1-3 1:a@3-4");
  EXPECT_EQ(cut(*model, "axéa"), "1:a@0-1 0:xé@1-4 1:a@4-5");
}

TEST(WordLevel, WordOrUnknown) {
  const auto model =
      make_model(json(R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "ab": 5}})"), "test.json");
  EXPECT_EQ(cut(*model, "ab"), "5:ab@0-2");
  EXPECT_EQ(cut(*model, "a"), "0:?@0-1");
  EXPECT_EQ(model->size(), 6);
  EXPECT_EQ(model->token_of(3), "");
  EXPECT_EQ(model->id_of("ab"), 5);
  EXPECT_EQ(model->id_of("abc"), std::nullopt);
  EXPECT_EQ(error_of(ErrorKind::invalid_argument, [&] { model->token_of(6); }),
            "[token_of] id 6 is out of range, expected 0 to 5");
}

TEST(Model, GoesToJsonAndBack) {
  for (const char* section :
       {R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "ab": 5}})",
        R"({"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "@", "max_input_chars_per_word": 7,
            "vocab": {"?": 0}})",
        R"({"type": "Unigram", "unk_id": 1, "byte_fallback": true, "vocab": [["a", -0.25], ["?", 0.0]]})",
        R"({"type": "BPE", "dropout": 0.5, "unk_token": "a", "continuing_subword_prefix": null, "fuse_unk": true,
            "end_of_word_suffix": "!", "byte_fallback": true, "ignore_merges": true,
            "vocab": {"a": 0, "b": 1, "ab": 2, "ba": 3}, "merges": [["b", "a"], ["a", "b"]]})"}) {
    EXPECT_EQ(make_model(json(section), "test.json")->to_json(), json(section));
  }
}

TEST(Model, RefusesWhatItDoesNotKnow) {
  const auto error = [](const char* section) {
    return error_of(ErrorKind::bad_format, [&] { make_model(json(section), "t.json"); });
  };
  EXPECT_EQ(error(R"({"type": "Letters"})"),
            "t.json: model.type is \"Letters\", expected BPE, WordPiece, Unigram or WordLevel");
  EXPECT_EQ(error(R"({"type": "WordLevel", "vocab": {}, "size": 3})"),
            "t.json: model of type WordLevel has the field size, which heed does not know");
  EXPECT_EQ(error(R"({"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]})"),
            "t.json: merge 0 (\"a\" \"b\") needs the token \"ab\", which is not in the vocabulary");
  EXPECT_EQ(error(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a b c"]})"),
            "t.json: merge 0 is \"a b c\", expected two tokens with a space between");
  EXPECT_NE(error(R"({"type": "WordLevel", "vocab": {"a": 4294967295}})").find("4294967295"), std::string::npos);
  EXPECT_NE(error(R"({"type": "WordLevel", "vocab": {"a": 99999999}})").find("99999999"), std::string::npos);
  EXPECT_NE(error(R"({"type": "Unigram", "unk_id": 2, "vocab": [["a", 0]]})").find("unk_id is 2"), std::string::npos);
  EXPECT_NE(error(R"({"type": "Unigram", "vocab": [["a"]]})").find("vocab[0]"), std::string::npos);
}

}  // namespace
}  // namespace heed::text
