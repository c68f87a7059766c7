#include "heed/text/load_tokenizer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "heed/base/file.h"
#include "support/error_of.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"

namespace heed::text {
namespace {

using test::error_of;
using Ids = std::vector<std::int32_t>;

constexpr const char* kVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nA\n##b\ne\né\n";

EncodeOptions bare() {
  return {.add_special = false};
}

TEST(Legacy, BertByItsConfig) {
  const test::TempFolder folder;
  folder.write("vocab.txt", kVocabulary);
  const auto ids = [&](std::string_view text) { return load_tokenizer(folder.path()).encode(text, bare()).ids; };
  EXPECT_EQ(ids("Ab é"), (Ids{5, 7, 8}));  // lower case, without accents
  folder.write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(ids("Ab é"), (Ids{6, 7, 9}));
  folder.write("tokenizer_config.json", R"({"do_lower_case": true, "strip_accents": false})");
  EXPECT_EQ(ids("Ab é"), (Ids{5, 7, 9}));
  EXPECT_EQ(load_tokenizer(folder.path()).encode("a", "[MASK] e").ids, (Ids{2, 5, 3, 4, 8, 3}));
  EXPECT_EQ(load_tokenizer(folder.path()).encode("a", "e").type_ids, (Ids{0, 0, 0, 1, 1}));
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "ParrotTokenizer"})");
  EXPECT_NE(error_of(ErrorKind::bad_format, [&] { ids("a"); }).find("family Parrot"), std::string::npos);
}

TEST(Legacy, WindowsLineEndsAndRepeatedLines) {
  const test::TempFolder folder;
  folder.write("vocab.txt", "[UNK]\r\n[CLS]\r\n[SEP]\r\na\r\na\r\n[PAD]\r\n[MASK]");
  EXPECT_EQ(load_tokenizer(folder.path()).encode("a").ids, (Ids{1, 4, 2}));
}

TEST(Legacy, SpecialTokensFromTheSmallFiles) {
  const test::TempFolder folder;
  folder.write("vocab.txt", "<c>\n<s>\n<u>\na\n");
  folder.write("special_tokens_map.json",
               R"({"cls_token": "<c>", "sep_token": {"content": "<s>"}, "unk_token": "<u>"})");
  folder.write("tokenizer_config.json",
               R"({"added_tokens_decoder": {"4": {"content": "<new>", "special": true, "normalized": false}}})");
  const Tokenizer tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(tokenizer.encode("a b<new>").ids, (Ids{0, 3, 2, 4, 1}));
}

TEST(Legacy, Gpt2AndRoberta) {
  const test::TempFolder folder;
  folder.write("vocab.json", R"({"<s>": 0, "</s>": 1, "a": 2, "b": 3, "ab": 4, "Ġ": 5, "Ġab": 6, "<|endoftext|>": 7})");
  folder.write("merges.txt", "#version: 0.2\na b\nĠ ab\n");
  EXPECT_EQ(load_tokenizer(folder.path()).encode("ab ab<|endoftext|>").ids, (Ids{4, 6, 7}));
  folder.write("config.json", R"({"model_type": "roberta"})");
  EXPECT_EQ(load_tokenizer(folder.path()).encode("ab ab", "b").ids, (Ids{0, 4, 6, 1, 1, 3, 1}));
  folder.write("merges.txt", "a b\na\n");
  EXPECT_NE(error_of(ErrorKind::bad_format, [&] { load_tokenizer(folder.path()); }).find("merge 1 is \"a\""),
            std::string::npos);
}

TEST(Legacy, MPNetHasRobertasSpecialTokens) {
  const test::TempFolder folder;
  folder.write("vocab.txt", "<s>\n<pad>\n</s>\n<unk>\n[UNK]\na\nb\n<mask>\n");
  folder.write("config.json", R"({"model_type": "mpnet"})");
  const Encoding pair = load_tokenizer(folder.path()).encode("A", "b <mask>");
  EXPECT_EQ(pair.ids, (Ids{0, 5, 2, 2, 6, 7, 2}));
  EXPECT_EQ(pair.type_ids, (Ids{0, 0, 0, 0, 1, 1, 1}));
}

TEST(Legacy, NothingThere) {
  const test::TempFolder folder;
  error_of(ErrorKind::not_found, [&] { load_tokenizer(folder.path()); });
  error_of(ErrorKind::not_found, [&] { load_tokenizer(folder.path() / "none"); });
}

// The texts and ids of llama.cpp's vocabulary tests, made with HuggingFace's tokenizers.
TEST(Legacy, PublishedVocabularies) {
  for (const char* name : {"bert-base-uncased", "gpt2"}) {
    const std::filesystem::path folder = test::shared_data(std::filesystem::path("suites/tokenizers") / name);
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
    const Tokenizer tokenizer = load_tokenizer(folder);
    const std::string texts = read_file(folder / "texts.inp", 1 << 20), separator = "\n__ggml_vocab_test__\n";
    std::ifstream expected(folder / "ids.out");
    int count = 0;
    for (std::size_t at = 0; at <= texts.size(); ++count) {
      const std::size_t end = std::min(texts.find(separator, at), texts.size());
      std::string line;
      std::getline(expected, line);
      std::istringstream numbers(line);
      Ids ids;
      for (std::int32_t id; numbers >> id;) ids.push_back(id);
      const std::string text = texts.substr(at, end - at);
      EXPECT_EQ(tokenizer.encode(text, bare()).ids, ids) << name << ": " << text;
      at = end + separator.size();
    }
    EXPECT_GT(count, 40);
  }
}

}  // namespace
}  // namespace heed::text
