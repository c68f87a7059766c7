// Tokenizer files of Marian, M2M-100, mBART, NLLB, Pegasus and Blenderbot Small, by what their classes in transformers
// do with them.
#include <gtest/gtest.h>

#include "heed/text/load_tokenizer.h"
#include "support/error_of.h"
#include "support/temp_folder.h"
#include "text/small_sentencepiece.h"

namespace heed::text {
namespace {

using test::error_of, test::piece, test::small_model, test::TempFolder;
using Ids = std::vector<std::int32_t>;

// Ids are vocab.json's, whatever SentencePiece numbers its pieces.
TEST(TranslationTokenizer, MarianLooksPiecesUp) {
  const TempFolder folder;
  folder.write("config.json", R"({"model_type": "marian"})");
  folder.write("source.spm", small_model(1));
  folder.write("target.spm", small_model(1));
  folder.write("vocab.json",
               R"({"</s>": 0, "<unk>": 1, ">>fra<<": 2, "▁ab": 3, "a": 4, "▁x": 5, "b": 6, "▁a": 7, "<pad>": 8})");
  const Tokenizer tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(tokenizer.encode("ab").ids, (Ids{3, 0}));
  EXPECT_EQ(tokenizer.encode(">>fra<< ab a").ids, (Ids{2, 3, 7, 0}));
  EXPECT_EQ(tokenizer.encode("ab<user>").ids, (Ids{3, 1, 0}));  // a piece that vocab.json does not have
  EXPECT_EQ(tokenizer.encode("abzz").ids, (Ids{3, 1, 0}));      // no piece
  EXPECT_EQ(tokenizer.decode(Ids{7, 6, 5, 0, 8}), "ab x");
  EXPECT_EQ(tokenizer.vocabulary_size(), 9);
  EXPECT_TRUE(tokenizer.is_special(8));
  const auto target = load_target_tokenizer(folder.path());
  ASSERT_TRUE(target);
  EXPECT_EQ(target->encode("ab").ids, (Ids{3, 0}));

  folder.write("tokenizer_config.json", R"({"separate_vocabs": true})");
  folder.write("target_vocab.json", R"({"</s>": 0, "<unk>": 1, "▁ab": 2, "<pad>": 3})");
  EXPECT_EQ(load_tokenizer(folder.path()).encode("ab").ids, (Ids{3, 0}));
  EXPECT_EQ(load_target_tokenizer(folder.path())->encode("ab").ids, (Ids{2, 0}));

  const Tokenizer again = Tokenizer::from_parsed_json(tokenizer.to_json(), "again");
  EXPECT_EQ(again.encode(">>fra<< ab a").ids, (Ids{2, 3, 7, 0}));
  folder.write("vocab.json", R"({"</s>": 0, "a": 1})");
  const std::string message = error_of(ErrorKind::bad_format, [&] { load_tokenizer(folder.path()); });
  EXPECT_NE(message.find("<unk>"), std::string::npos) << message;
}

TEST(TranslationTokenizer, M2MBeginsWithTheLanguage) {
  const TempFolder folder;
  folder.write("config.json", R"({"model_type": "m2m_100"})");
  folder.write("sentencepiece.bpe.model", small_model(2));
  folder.write("vocab.json", R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "▁a": 4, "b": 5, "▁ab": 6})");
  const Tokenizer tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(tokenizer.token_to_id("__af__"), 7);
  EXPECT_EQ(tokenizer.token_to_id("__zu__"), 106);
  const std::int32_t english = tokenizer.token_to_id("__en__").value();
  EXPECT_EQ(tokenizer.encode("ab z").ids.front(), english);
  EXPECT_EQ(tokenizer.encode("ab").ids, (Ids{english, 6, 2}));
  EXPECT_EQ(tokenizer.decode(Ids{english, 6, 4, 2}), "ab a");
  EXPECT_FALSE(load_target_tokenizer(folder.path()));
  folder.write("tokenizer_config.json", R"({"src_lang": "zu"})");
  EXPECT_EQ(load_tokenizer(folder.path()).encode("ab").ids.front(), 106);
  folder.write("tokenizer_config.json", R"({"src_lang": "xx"})");
  const std::string message = error_of(ErrorKind::bad_format, [&] { load_tokenizer(folder.path()); });
  EXPECT_NE(message.find("__xx__"), std::string::npos) << message;
}

// Four tokens before the pieces, of which the first three are fairseq's own, languages and <mask> after them.
TEST(TranslationTokenizer, MBartAndNllb) {
  const TempFolder folder;
  folder.write("sentencepiece.bpe.model", small_model(1));
  folder.write("config.json", R"({"model_type": "mbart"})");
  const Tokenizer mbart = load_tokenizer(folder.path());
  EXPECT_EQ(mbart.token_to_id("ar_AR"), 11);
  EXPECT_EQ(mbart.encode("ab").ids, (Ids{9, 2, 14}));
  EXPECT_EQ(mbart.token_to_id("<mask>"), 11 + 25);
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "MBart50Tokenizer", "src_lang": "sl_SI"})");
  const Tokenizer mbart50 = load_tokenizer(folder.path());
  EXPECT_EQ(mbart50.encode("ab").ids, (Ids{11 + 51, 9, 2}));
  EXPECT_EQ(mbart50.token_to_id("<mask>"), 11 + 52);
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "NllbTokenizer", "src_lang": "ace_Latn"})");
  folder.write("special_tokens_map.json", R"({"additional_special_tokens": ["ace_Arab", "ace_Latn"]})");
  EXPECT_EQ(load_tokenizer(folder.path()).encode("ab").ids, (Ids{12, 9, 2}));
}

TEST(TranslationTokenizer, PegasusHasMasksBeforeItsPieces) {
  const TempFolder folder;
  folder.write("config.json", R"({"model_type": "pegasus"})");
  folder.write("spiece.model", piece("<pad>", 0, PieceType::kControl) + piece("</s>", 0, PieceType::kControl) +
                                   piece("<unk>", 0, PieceType::kUnknown) + piece("▁", -3) + piece("▁a", -1) +
                                   piece("b", -2) +
                                   test::bytes_field(2, test::integer_field(3, 1) + test::integer_field(40, 2)) +
                                   test::bytes_field(3, ""));
  const Tokenizer tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(tokenizer.encode("ab  z").ids, (Ids{107, 108, 106, 105, 1}));
  EXPECT_EQ(tokenizer.token_to_id("<mask_1>"), 2);
  EXPECT_EQ(tokenizer.token_to_id("<unk_102>"), 104);
  EXPECT_EQ(tokenizer.encode("<mask_2> a").ids, (Ids{3, 107, 1}));
  EXPECT_EQ(tokenizer.decode(Ids{0, 107, 108, 1}), "ab");
}

TEST(TranslationTokenizer, BlenderbotSmallMarksPiecesThatGoOn) {
  const TempFolder folder;
  folder.write("config.json", R"({"model_type": "blenderbot-small"})");
  folder.write("vocab.json", R"({"__null__": 0, "__start__": 1, "__end__": 2, "__unk__": 3, "he@@": 4, "llo": 5, "a": 6,
                                 ".": 7, "h@@": 8, "'": 9, ".a": 10, "hello": 11, "e@@": 12})");
  folder.write("merges.txt", "#version: 0.2\nh e\nl o</w>\nl lo</w>\n. a</w>\n");
  const Tokenizer tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(tokenizer.encode("Hello a").ids, (Ids{4, 5, 6}));
  EXPECT_EQ(tokenizer.encode("a.a '").ids, (Ids{6, 10, 9}));
  EXPECT_EQ(tokenizer.encode("a ha").ids, (Ids{6, 8, 6}));
  EXPECT_EQ(tokenizer.encode("la").ids, (Ids{3, 6}));  // no "l@@"
  EXPECT_EQ(tokenizer.decode(Ids{1, 4, 5, 6, 2}), "hello a");
}

TEST(TranslationTokenizer, VocabulariesOfCharacters) {
  const TempFolder folder;
  folder.write("vocab.json", R"({"source": {"<blank>": 0, "</s>": 1, "ش": 2, "<unk>": 3},
                                 "target": {"<blank>": 4, "</s>": 5, "a": 6, "'": 7, "<unk>": 8}})");
  const Tokenizer source = load_tokenizer(folder.path());
  EXPECT_EQ(source.encode("شx").ids, (Ids{2, 3}));
  const auto target = load_target_tokenizer(folder.path());
  ASSERT_TRUE(target);
  EXPECT_EQ(target->encode("a'").ids, (Ids{6, 7}));
  EXPECT_EQ(target->decode(Ids{6, 7, 6, 5}), "a'a");
}

TEST(TranslationTokenizer, MissingFilesAreNamed) {
  const TempFolder folder;
  for (const auto& [type, file] : {std::pair("marian", "source.spm"),
                                   {"m2m_100", "sentencepiece.bpe.model"},
                                   {"mbart", "sentencepiece.bpe.model"},
                                   {"pegasus", "spiece.model"}}) {
    folder.write("config.json", std::string("{\"model_type\": \"") + type + "\"}");
    const std::string message = error_of(ErrorKind::not_found, [&] { load_tokenizer(folder.path()); });
    EXPECT_NE(message.find(file), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace heed::text
