#include "heed/models/model_config.h"

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace heed {
namespace {

using test::error_of;

ModelConfig parse(const std::string& text) {
  return parse_model_config(parse_json(text, "config.json"), "config.json");
}

void expect_refused(const std::string& text, const std::string& message) {
  EXPECT_EQ(error_of(ErrorKind::bad_format, [&] { parse(text); }).substr(0, message.size()), message) << text;
}

TEST(ModelConfig, DefaultsAreThoseOfTheModelType) {
  const ModelConfig bert = parse(R"({"model_type": "bert"})");
  EXPECT_EQ(bert.info.hidden_size, 768);
  EXPECT_EQ(bert.info.layers, 12);
  EXPECT_FALSE(bert.info.shared_layers);
  EXPECT_EQ(bert.info.max_tokens, 512);
  EXPECT_EQ(bert.head_config(HeadKind::sequence_classification).dropout, 0.1);
  EXPECT_EQ(bert.labels, (std::vector<std::string>{"LABEL_0", "LABEL_1"}));
  const ModelConfig roberta = parse(R"({"model_type": "roberta", "max_position_embeddings": 514})");
  EXPECT_EQ(roberta.info.position_rows, 514);
  EXPECT_EQ(roberta.info.max_tokens, 512);
  const ModelConfig albert = parse(R"({"model_type": "albert", "num_labels": 3})");
  EXPECT_TRUE(albert.info.shared_layers);
  EXPECT_EQ(albert.head_config(HeadKind::masked_lm).activation, Activation::gelu_tanh);
  EXPECT_EQ(albert.labels.size(), 3u);
  EXPECT_EQ(parse(R"({"model_type": "distilbert"})").info.layers, 6);
  EXPECT_EQ(parse(R"({"model_type": "electra"})").info.embedding_size, 128);
  EXPECT_EQ(parse(R"({"model_type": "mpnet"})").info.positions, "absolute, and a bias by distance");
}

TEST(ModelConfig, FieldsThatMatterAreHonouredOrRefusedByName) {
  expect_refused(R"({"hidden_size": 4})", "config.json: model_type is missing");
  expect_refused(R"({"model_type": "gpt2"})", "config.json: model_type is \"gpt2\", expected one of albert, bert");
  expect_refused(R"({"model_type": "bert", "hidden_act": "mish"})",
                 "config.json: hidden_act is \"mish\", expected one");
  expect_refused(R"({"model_type": "bert", "position_embedding_type": "alibi"})",
                 "config.json: position_embedding_type is \"alibi\"");
  expect_refused(R"({"model_type": "bert", "is_decoder": true})", "config.json: is_decoder is true, expected false");
  expect_refused(R"({"model_type": "bert", "pruned_heads": {"0": [1]}})", "config.json: pruned_heads is ");
  expect_refused(R"({"model_type": "bert", "auto_map": {"AutoModel": "x.Y"}})", "config.json: auto_map is not a field");
  expect_refused(R"({"model_type": "bert", "quantization_config": {}})", "config.json: quantization_config is not");
  expect_refused(R"({"model_type": "distilbert", "hidden_size": 4})", "config.json: hidden_size is not a field");
  // Not set, harmless, or the value it has anyway.
  parse(R"({"model_type": "bert", "auto_map": null, "transformers_version": "4.8.2", "is_decoder": false,
            "pruned_heads": {}, "use_cache": true, "chunk_size_feed_forward": 5, "classifier_dropout": null})");
}

TEST(ModelConfig, AbsurdValuesAreRefusedByName) {
  const std::string bert = R"({"model_type": "bert", )";
  for (const char* field : {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                            "intermediate_size", "max_position_embeddings", "num_labels"}) {
    for (const char* value : {"0", "-3", "1e30", "99999999999999", "1.5", "\"12\"", "true", "[]"}) {
      expect_refused(bert + "\"" + field + "\": " + value + "}", std::string("config.json: ") + field);
    }
  }
  expect_refused(bert + R"("num_attention_heads": 7})", "config.json: num_attention_heads is 7, expected a divisor of");
  for (const char* value : {"-1", "1", "\"x\""}) {
    expect_refused(bert + "\"hidden_dropout_prob\": " + value + "}", "config.json: hidden_dropout_prob is ");
  }
  for (const char* value : {"0", "-1e-12", "\"x\""}) {
    expect_refused(bert + "\"layer_norm_eps\": " + value + "}", "config.json: layer_norm_eps is ");
  }
  expect_refused(bert + R"("id2label": {"1": "a"}})", "config.json: id2label is without id 0");
  expect_refused(bert + R"("id2label": ["a"]})", "config.json: id2label is ");
  expect_refused(bert + R"("id2label": {"0": 3}})", "config.json: id2label of 0 is ");
  expect_refused(R"({"model_type": "roberta", "max_position_embeddings": 2})", "config.json: max_position_embeddings");
  expect_refused(R"({"model_type": "albert", "num_hidden_groups": 13})", "config.json: num_hidden_groups is 13");
  expect_refused(R"({"model_type": "mpnet", "relative_attention_num_buckets": 5})",
                 "config.json: relative_attention_num_buckets is 5");
}

TEST(ModelConfig, HeadsByArchitecture) {
  const auto head = [](const std::string& architecture) {
    return head_of(parse(R"({"model_type": "bert", "architectures": [")" + architecture + "\"]}"), "config.json");
  };
  EXPECT_EQ(head("BertModel"), HeadKind::none);
  EXPECT_EQ(head("BertForMaskedLM"), HeadKind::masked_lm);
  EXPECT_EQ(head("BertForPreTraining"), HeadKind::masked_lm);
  EXPECT_EQ(head("BertForNextSentencePrediction"), HeadKind::next_sentence);
  EXPECT_EQ(head_of(parse(R"({"model_type": "bert"})"), "config.json"), HeadKind::none);
  const std::string message = error_of(ErrorKind::bad_format, [&] { head("BertForSomething"); });
  EXPECT_NE(message.find("BertForQuestionAnswering"), std::string::npos) << message;
  // Each family's heads and their architectures, there and back.
  for (const ModelFamily* family : model_families()) {
    for (const HeadConfig& each : parse("{\"model_type\": \"" + family->model_type + "\"}").heads) {
      const Json config = {{"model_type", family->model_type},
                           {"architectures", {architecture_name(*family, each.kind)}}};
      EXPECT_EQ(head_of(parse_model_config(config, "config.json"), "config.json"), each.kind) << family->model_type;
    }
  }
}

TEST(ModelConfig, SetLabels) {
  ModelConfig config = parse(R"({"model_type": "bert", "num_labels": 5})");
  config.set_labels({"no", "yes"});
  const ModelConfig again = parse_model_config(config.source, "config.json");
  EXPECT_EQ(again.labels, (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(config.source["label2id"]["yes"], 1);
}

}  // namespace
}  // namespace heed
