#include "heed/io/model_folder.h"

#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

using test::error_of;
using test::TempFolder;
using Pooling = SentenceEmbedding::Pooling;

constexpr const char* kModules = R"([
  {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
  {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])";

void expect_error(ErrorKind kind, const TempFolder& folder, const std::string& part) {
  const std::string message = error_of(kind, [&] { ModelFolder model(folder.path()); });
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(ModelFolder, PlainFolder) {
  const TempFolder folder;
  expect_error(ErrorKind::not_found, folder, "config.json");
  folder.write("config.json", R"({"model_type": "bert"})");
  const ModelFolder model(folder.path());
  EXPECT_EQ(model.config()["model_type"], "bert");
  EXPECT_TRUE(model.generation_config().is_null());
  EXPECT_FALSE(model.sentence_embedding());
  error_of(ErrorKind::not_found, [&] { model.tensors(); });
  folder.write("generation_config.json", R"({"max_new_tokens": 5})");
  EXPECT_EQ(ModelFolder(folder.path()).generation_config()["max_new_tokens"], 5);
  error_of(ErrorKind::not_found, [&] { ModelFolder absent(folder.path() / "absent"); });
}

TEST(ModelFolder, SentenceTransformers) {
  const TempFolder folder;
  folder.write("config.json", "{}");
  folder.write("modules.json", kModules);
  folder.write("1_Pooling/config.json",
               R"({"word_embedding_dimension": 384, "pooling_mode_cls_token": true, "include_prompt": false})");
  folder.write("sentence_bert_config.json", R"({"max_seq_length": 256, "do_lower_case": false})");
  folder.write("config_sentence_transformers.json",
               R"({"prompts": {"query": "query: "}, "default_prompt_name": "query"})");
  const auto embedding = ModelFolder(folder.path()).sentence_embedding();
  ASSERT_TRUE(embedding);
  EXPECT_EQ(embedding->pooling, Pooling::cls);
  EXPECT_FALSE(embedding->include_prompt);
  EXPECT_TRUE(embedding->normalize);
  EXPECT_EQ(embedding->max_tokens, 256);
  EXPECT_EQ(embedding->prompts.at("query"), "query: ");
  EXPECT_EQ(embedding->default_prompt_name, "query");
}

TEST(ModelFolder, TheTransformerMayHaveAFolderOfItsOwn) {
  const TempFolder folder;
  folder.write("0_Transformer/config.json", R"({"model_type": "bert"})");
  folder.write("modules.json", R"([{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"},
                                   {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  folder.write("1_Pooling/config.json", R"({"pooling_mode_max_tokens": true})");
  const ModelFolder model(folder.path());
  EXPECT_EQ(model.transformer(), folder.path() / "0_Transformer");
  EXPECT_EQ(model.config()["model_type"], "bert");
  EXPECT_EQ(model.sentence_embedding()->pooling, Pooling::max);
  EXPECT_TRUE(model.sentence_embedding()->include_prompt);
  EXPECT_FALSE(model.sentence_embedding()->normalize);
}

TEST(ModelFolder, WhatIsNotUnderstoodIsNamed) {
  const TempFolder folder;
  folder.write("config.json", "{}");
  folder.write("modules.json", R"([{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])");
  expect_error(ErrorKind::bad_format, folder, "sentence_transformers.models.Dense");
  folder.write("modules.json", R"([{"path": "../x", "type": "sentence_transformers.models.Transformer"}])");
  error_of(ErrorKind::invalid_argument, [&] { ModelFolder model(folder.path()); });
  folder.write("modules.json", "{}");
  expect_error(ErrorKind::bad_format, folder, "expected a list of modules");
  folder.write("modules.json", "[]");
  expect_error(ErrorKind::bad_format, folder, "has no Pooling module");
  folder.write("modules.json", kModules);
  expect_error(ErrorKind::not_found, folder, "1_Pooling/config.json");
  folder.write("1_Pooling/config.json", R"({"pooling_mode_lasttoken": true})");
  expect_error(ErrorKind::bad_format, folder, "pooling_mode_lasttoken");
  folder.write("1_Pooling/config.json", R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})");
  expect_error(ErrorKind::bad_format, folder, "beside another");
  folder.write("1_Pooling/config.json", R"({"pooling_mode_cls_token": 1})");
  expect_error(ErrorKind::bad_format, folder, "pooling_mode_cls_token");
  folder.write("1_Pooling/config.json", R"({"pooling_mode_cls_token": true, "include_prompt": "no"})");
  expect_error(ErrorKind::bad_format, folder, "include_prompt");
  folder.write("1_Pooling/config.json", "{}");
  expect_error(ErrorKind::bad_format, folder, "expected one");
}

}  // namespace
}  // namespace heed
