// Training. What is expected is what HuggingFace's trainers make of the same text.
#include "heed/text/train.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "heed/base/parallel.h"
#include "heed/text/tokenizer.h"
#include "heed/text/train_tokenizer.h"
#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed::text {
namespace {

constexpr const char* kText = "low low lower lowest newest newest wide";

WordCounts count(const std::string& text) {
  std::map<std::string, std::int64_t> counts;
  std::istringstream words(text);
  for (std::string word; words >> word;) ++counts[word];
  return {counts.begin(), counts.end()};
}

TEST(Train, BpeMergesTheMostFrequentPair) {
  const Json model = train_bpe(count(kText), {});
  EXPECT_EQ(model["vocab"], Json::parse(R"({"d":0,"e":1,"i":2,"l":3,"n":4,"o":5,"r":6,"s":7,"t":8,"w":9,"lo":10,
      "we":11,"st":12,"west":13,"ewest":14,"newest":15,"low":16,"de":17,"ide":18,"wide":19,"lowe":20,"lowest":21,
      "lower":22})"));
  EXPECT_EQ(model["merges"], Json::parse(R"([["l","o"],["w","e"],["s","t"],["we","st"],["e","west"],["n","ewest"],
      ["lo","w"],["d","e"],["i","de"],["w","ide"],["lo","we"],["lo","west"],["lowe","r"]])"));
}

TEST(Train, BpeOptions) {
  TrainOptions options;
  options.special_tokens = {"<pad>", "low"};
  options.vocab_size = 14;
  Json model = train_bpe(count(kText), options);
  EXPECT_EQ(model["vocab"].size(), 14u);
  EXPECT_EQ(model["vocab"]["<pad>"], 0);
  EXPECT_EQ(model["vocab"]["low"], 1);
  options.vocab_size = 100;
  options.min_frequency = 3;
  model = train_bpe(count(kText), options);
  EXPECT_EQ(model["merges"], Json::parse(R"([["l","o"],["w","e"],["s","t"],["we","st"]])"));
  options.limit_alphabet = 3;  // e, w and one of o, l, s, t
  options.initial_alphabet = "z";
  model = train_bpe(count(kText), options);
  EXPECT_EQ(model["vocab"].size(), 2u + 3 + 1);
  EXPECT_TRUE(model["vocab"].contains("z"));
}

TEST(Train, WordPieceContinuesWithItsPrefix) {
  TrainOptions options;
  options.special_tokens = {"[UNK]"};
  const Json model = train_word_piece(count(kText), options);
  EXPECT_EQ(model["type"], "WordPiece");
  for (const char* token : {"low", "##o", "lo", "newest"}) EXPECT_TRUE(model["vocab"].contains(token)) << token;
}

TEST(Train, WordLevelByFrequencyThenByName) {
  TrainOptions options;
  EXPECT_EQ(train_word_level(count("b a c a b d a"), options)["vocab"], Json::parse(R"({"a":0,"b":1,"c":2,"d":3})"));
  options.special_tokens = {"?"};
  options.vocab_size = 3;
  EXPECT_EQ(train_word_level(count("d c b d"), options)["vocab"], Json::parse(R"({"?":0,"d":1,"b":2})"));
}

TEST(Train, UnigramHasTheScoresOfHuggingFace) {
  TrainOptions options;
  options.vocab_size = 8000;
  const Json model = train_unigram(count(kText), options);
  const std::map<std::string, double> expected = {
      {"e", -1.9510233741622747},    {"s", -2.120231142097465},  {"t", -2.120231142097465},
      {"low", -2.4352049578372763},  {"n", -2.620231142097465},  {"we", -2.723249513176093},
      {"lowe", -2.8459350966141415}, {"w", -3.3946360004484037}, {"i", -3.6202311420575066}};
  ASSERT_EQ(model["vocab"].size(), 13u);
  for (const Json& entry : model["vocab"]) {
    const auto found = expected.find(entry[0]);
    // Characters that EM dropped come back a little above the lowest score; HuggingFace does it in no fixed order.
    EXPECT_NEAR(entry[1].get<double>(), found == expected.end() ? -3.6202 : found->second,
                found == expected.end() ? 1e-3 : 1e-9)
        << entry[0];
  }
  EXPECT_EQ(model["unk_id"], Json());
}

TEST(Train, UnigramPrunes) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::to_string(i * 7919 % 10007) + "x" + std::to_string(i % 97) + " ";
  TrainOptions options;
  options.vocab_size = 60;
  options.special_tokens = {"<pad>"};
  options.unk_token = "<unk>";
  const Json model = train_unigram(count(text), options);
  EXPECT_LE(model["vocab"].size(), 60u);  // EM may drop a few more
  EXPECT_GT(model["vocab"].size(), 30u);
  EXPECT_EQ(model["vocab"][0][0], "<unk>");
  EXPECT_EQ(model["vocab"][1][0], "<pad>");
  EXPECT_EQ(model["unk_id"], 0);
  options.vocab_size = 1;
  test::error_of(ErrorKind::invalid_argument, [&] { train_unigram(count(text), options); });
}

TEST(TrainTokenizer, EveryTypeTokenizesItsText) {
  const test::TempFolder folder;
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::string(kText) + " number " + std::to_string(i) + ".\n";
  const std::filesystem::path file = folder.write("text.txt", text);
  for (const TokenizerType type :
       {TokenizerType::bpe, TokenizerType::wordpiece, TokenizerType::unigram, TokenizerType::wordlevel}) {
    TrainOptions options;
    options.vocab_size = 400;
    options.special_tokens = default_special_tokens(type);
    double last = 0;
    options.progress = [&](double share) {
      EXPECT_GE(share, last);
      last = share;
    };
    const Json json = train_tokenizer(type, {file}, options);
    EXPECT_EQ(last, type == TokenizerType::wordlevel ? 0 : 1);
    const ThreadLimit one(1);
    last = 0;
    EXPECT_EQ(train_tokenizer(type, {file}, options), json);
    const Tokenizer tokenizer = Tokenizer::from_parsed_json(json, "tokenizer.json");
    EXPECT_EQ(tokenizer.decode(tokenizer.encode("lowest newest").ids), "lowest newest");
    EXPECT_LE(tokenizer.vocabulary_size(), 400);
    EXPECT_EQ(Tokenizer::from_parsed_json(tokenizer.to_json(), "again").encode("low").ids, tokenizer.encode("low").ids);
  }
}

TEST(TrainTokenizer, RefusesWhatIsNoText) {
  const test::TempFolder folder;
  const std::filesystem::path file = folder.write("text.txt", "ok \xff");
  EXPECT_EQ(test::error_of(ErrorKind::bad_format, [&] { train_tokenizer(TokenizerType::bpe, {file}, {}); }),
            file.string() + ": is not UTF-8 at byte 3");
  test::error_of(ErrorKind::invalid_argument, [] { tokenizer_type("letters"); });
}

}  // namespace
}  // namespace heed::text
