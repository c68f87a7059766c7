#include "heed/models/encoder_config.h"

#include <gtest/gtest.h>

#include "heed/models/encoder_family.h"
#include "support/error_of.h"

namespace heed {
namespace {

using test::error_of;

EncoderConfig parse(const std::string& text) {
  return parse_encoder_config(parse_json(text, "config.json"), "config.json");
}

void expect_refused(const std::string& text, const std::string& message) {
  EXPECT_EQ(error_of(ErrorKind::bad_format, [&] { parse(text); }).substr(0, message.size()), message) << text;
}

TEST(EncoderConfig, DefaultsAreThoseOfTheModelType) {
  const EncoderConfig bert = parse(R"({"model_type": "bert"})");
  EXPECT_EQ(bert.width, 768);
  EXPECT_EQ(bert.groups, 12);
  EXPECT_EQ(bert.max_tokens(), 512);
  EXPECT_EQ(bert.dropout, 0.1);
  EXPECT_EQ(bert.labels, (std::vector<std::string>{"LABEL_0", "LABEL_1"}));
  const EncoderConfig roberta = parse(R"({"model_type": "roberta", "max_position_embeddings": 514})");
  EXPECT_EQ(roberta.padding_id, 1);
  EXPECT_EQ(roberta.max_tokens(), 512);
  const EncoderConfig albert = parse(R"({"model_type": "albert", "num_labels": 3})");
  EXPECT_EQ(albert.groups, 1);
  EXPECT_EQ(albert.activation, Activation::gelu_tanh);
  EXPECT_EQ(albert.labels.size(), 3u);
  EXPECT_EQ(parse(R"({"model_type": "distilbert"})").layers, 6);
  EXPECT_EQ(parse(R"({"model_type": "electra"})").embedding_width, 128);
  EXPECT_EQ(parse(R"({"model_type": "mpnet"})").distance_buckets, 32);
}

TEST(EncoderConfig, FieldsThatMatterAreHonouredOrRefusedByName) {
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

TEST(EncoderConfig, AbsurdValuesAreRefusedByName) {
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

TEST(EncoderConfig, HeadsByArchitecture) {
  const auto head = [](const std::string& architecture) {
    return head_of(parse(R"({"model_type": "bert", "architectures": [")" + architecture + "\"]}"), "config.json");
  };
  EXPECT_EQ(head("BertModel"), Head::none);
  EXPECT_EQ(head("BertForMaskedLM"), Head::masked_lm);
  EXPECT_EQ(head("BertForPreTraining"), Head::masked_lm);
  EXPECT_EQ(head("BertForNextSentencePrediction"), Head::next_sentence);
  EXPECT_EQ(head_of(parse(R"({"model_type": "bert"})"), "config.json"), Head::none);
  const std::string message = error_of(ErrorKind::bad_format, [&] { head("BertForSomething"); });
  EXPECT_NE(message.find("BertForQuestionAnswering"), std::string::npos) << message;
  // Each family's heads and their architectures, there and back.
  for (const EncoderFamily* family : encoder_families()) {
    for (const HeadDescription& each : family->heads) {
      const Json config = {{"model_type", family->model_type},
                           {"architectures", {architecture_name(*family, each.head)}}};
      EXPECT_EQ(head_of(parse_encoder_config(config, "config.json"), "config.json"), each.head) << family->model_type;
    }
  }
}

TEST(EncoderConfig, SetLabels) {
  EncoderConfig config = parse(R"({"model_type": "bert", "num_labels": 5})");
  set_labels(config, {"no", "yes"});
  const EncoderConfig again = parse_encoder_config(config.source, "config.json");
  EXPECT_EQ(again.labels, (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(config.source["label2id"]["yes"], 1);
}

}  // namespace
}  // namespace heed
