#include "heed/models/model_config.h"

#include <gtest/gtest.h>

#include "heed/models/registry.h"
#include "models/published_configs.h"
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
  expect_refused(R"({"model_type": "gpt9"})",
                 "config.json: model_type is \"gpt9\", expected one of albert, bart, bert");
  expect_refused(R"({"model_type": "bert", "hidden_act": "mish"})",
                 "config.json: hidden_act is \"mish\", expected one");
  expect_refused(R"({"model_type": "bert", "position_embedding_type": "alibi"})",
                 "config.json: position_embedding_type is \"alibi\"");
  expect_refused(R"({"model_type": "mpnet", "is_decoder": true})", "config.json: is_decoder is true, expected false");
  expect_refused(R"({"model_type": "bert", "is_decoder": 1})", "config.json: is_decoder is the number 1, expected");
  expect_refused(R"({"model_type": "bert", "pruned_heads": {"0": [1]}})", "config.json: pruned_heads is ");
  expect_refused(R"({"model_type": "bert", "quantization_config": {}})", "config.json: quantization_config is not");
  expect_refused(R"({"model_type": "distilbert", "hidden_size": 4})", "config.json: hidden_size is not a field");
  // Not set, harmless, or the value it has anyway.
  parse(R"({"model_type": "bert", "rope_theta": null, "transformers_version": "4.8.2", "is_decoder": false,
            "pruned_heads": {}, "use_cache": true, "chunk_size_feed_forward": 5, "classifier_dropout": null})");
}

TEST(ModelConfig, FieldsOfPublishedModelsAreKnown) {
  const auto models = test::published_configs();
  EXPECT_GE(models.size(), 50u);
  for (const test::PublishedConfig& model : models) {
    SCOPED_TRACE(model.name);
    const ModelConfig config = parse("{" + model.fields + "\"model_type\": \"" + model.model_type +
                                     "\", \"architectures\": [\"" + model.architecture + "\"]}");
    EXPECT_EQ(head_of(config, "config.json") == HeadKind::none, model.architecture.ends_with("Model"));
  }
}

// Everything that PretrainedConfig has, as old versions wrote it out; and fields of cards, training and serving.
TEST(ModelConfig, FieldsThatChangeNoResultAreNoHindrance) {
  const std::string written_out = R"("add_cross_attention": false, "bad_words_ids": null, "begin_suppress_tokens": null,
      "chunk_size_feed_forward": 0, "cross_attention_hidden_size": null, "decoder_start_token_id": null,
      "diversity_penalty": 0.0, "do_sample": false, "early_stopping": false, "encoder_no_repeat_ngram_size": 0,
      "exponential_decay_length_penalty": null, "finetuning_task": null, "forced_bos_token_id": null,
      "forced_eos_token_id": null, "is_decoder": false, "is_encoder_decoder": false, "length_penalty": 1.0,
      "max_length": 20, "min_length": 0, "no_repeat_ngram_size": 0, "num_beam_groups": 1, "num_beams": 1,
      "num_return_sequences": 1, "output_attentions": false, "output_hidden_states": false, "output_scores": false,
      "prefix": null, "problem_type": null, "pruned_heads": {}, "remove_invalid_values": false,
      "repetition_penalty": 1.0, "return_dict": true, "return_dict_in_generate": false, "sep_token_id": null,
      "suppress_tokens": null, "task_specific_params": null, "temperature": 1.0, "tf_legacy_loss": false,
      "tie_encoder_decoder": false, "tie_word_embeddings": true, "tokenizer_class": null, "top_k": 50, "top_p": 1.0,
      "torch_dtype": "float32", "torchscript": false, "typical_p": 1.0, "use_bfloat16": false)";
  const std::string further = R"("license": "mit", "tags": ["en"], "base_model": "x/y", "lr": 2e-5, "epochs": 3,
      "learning_rate": 2e-5, "batch_size": 32, "label_smoothing": 0.1, "weight_decay": 0.01, "warmup_ratio": 0.1,
      "reference_compile": false, "memory_efficient_attention": true, "use_memory_efficient_attention": false,
      "unpad_inputs": false, "matryoshka_dimensions": [64, 128], "is_matryoshka": true, "adapters": {"adapters": {}},
      "auto_map": {"AutoModel": "modeling.Model"}, "custom_pipelines": {}, "_commit_hash": "abc", "xla_device": true,
      "_attn_implementation_autoset": true, "attn_implementation": "sdpa", "summary_type": "first")";
  for (const char* type : {"albert", "bert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta"}) {
    parse(std::string("{\"model_type\": \"") + type + "\", " + written_out + ", " + further + "}");
  }
  parse(
      R"({"model_type": "electra", "generator_size": "0.33", "summary_activation": "gelu", "summary_use_proj": true})");
  parse(R"({"model_type": "albert", "layers_to_keep": []})");
}

// What would change a result is not passed over, however often it is seen.
TEST(ModelConfig, FieldsOfOtherArchitecturesAreRefusedByName) {
  // jina-embeddings-v2-base-en, whose own code is another model under BERT's name.
  const std::string jina = R"({"model_type": "bert", "architectures": ["JinaBertForMaskedLM"], "emb_pooler": "mean",
      "feed_forward_type": "geglu", "model_max_length": 8192, "position_embedding_type": ")";
  expect_refused(jina + "alibi\"}", "config.json: position_embedding_type is \"alibi\", expected one of");
  expect_refused(jina + "absolute\"}", "config.json: emb_pooler is not a field that is known");
  for (const char* field : {"quantization_config", "feed_forward_type", "rope_theta", "rope_scaling", "use_rms_norm",
                            "truncate_dim", "num_hidden_groups", "sliding_window", "norm_type"}) {
    expect_refused(std::string("{\"model_type\": \"bert\", \"") + field + "\": 1}",
                   std::string("config.json: ") + field + " is not a field that is known");
  }
}

TEST(ModelConfig, ActivationsOfCrossEncoders) {
  const auto activation = [](const std::string& fields) {
    return cross_encoder_activation(parse("{\"model_type\": \"bert\", \"num_labels\": 1" + fields + "}").source, "c");
  };
  const std::string old = R"(, "sbert_ce_default_activation_function": "torch.nn.modules.)";
  EXPECT_EQ(activation(""), std::nullopt);
  EXPECT_EQ(activation(R"(, "sentence_transformers": {"version": "5.0.0"})"), std::nullopt);
  EXPECT_EQ(activation(old + "linear.Identity\""), Activation::none);
  EXPECT_EQ(activation(old + "activation.Sigmoid\""), Activation::sigmoid);
  EXPECT_EQ(activation(old + R"(linear.Identity", "sentence_transformers":
                                {"activation_fn": "torch.nn.modules.activation.Sigmoid"})"),
            Activation::sigmoid);
  expect_refused(R"({"model_type": "bert", "num_labels": 1)" + old + "activation.Tanh\"}",
                 "config.json: sbert_ce_default_activation_function is \"torch.nn.modules.activation.Tanh\", expected");
  // A classifier's scores are a softmax, whatever a cross-encoder would do with them.
  parse(R"({"model_type": "bert", "num_labels": 3)" + old + "activation.Tanh\"}");
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

TEST(ModelConfig, EncodersThatAreDecoders) {
  for (const char* type : {"bert", "roberta", "xlm-roberta", "electra"}) {
    const std::string fields = std::string(R"({"model_type": ")") + type + R"(", "is_decoder": )";
    const ModelConfig encoder = parse(fields + "false}"), decoder = parse(fields + "true}");
    EXPECT_EQ(encoder.head_config(HeadKind::masked_lm).kind, HeadKind::masked_lm);
    EXPECT_THROW(static_cast<void>(encoder.head_config(HeadKind::causal_lm)), Error);
    EXPECT_EQ(decoder.head_config(HeadKind::causal_lm).kind, HeadKind::causal_lm);
    EXPECT_THROW(static_cast<void>(decoder.head_config(HeadKind::masked_lm)), Error);
  }
  const std::string written = R"("architectures": ["BertLMHeadModel"]})";
  EXPECT_EQ(head_of(parse(R"({"model_type": "bert", "is_decoder": true, )" + written), "c"), HeadKind::causal_lm);
  EXPECT_THROW(head_of(parse(R"({"model_type": "bert", )" + written), "c"), Error);
}

TEST(ModelConfig, FieldsOfTransformerXl) {
  // As transfo-xl-wt103 has it, with what only older programs read.
  const std::string published = R"({"model_type": "transfo-xl", "adaptive": true, "attn_type": 0, "clamp_len": 1000,
      "architectures": ["TransfoXLLMHeadModel"], "cutoffs": [20000, 40000, 200000], "d_embed": 1024, "d_head": 64,
      "d_inner": 4096, "d_model": 1024, "div_val": 4, "dropatt": 0.0, "dropout": 0.1, "eos_token_id": 0, "ext_len": 0,
      "init": "normal", "init_range": 0.01, "init_std": 0.02, "layer_norm_epsilon": 1e-05, "mem_len": 1600,
      "n_head": 16, "n_layer": 18, "pre_lnorm": false, "proj_init_std": 0.01, "same_length": true,
      "sample_softmax": -1, "task_specific_params": {}, "tgt_len": 128, "tie_projs": [false, true, true, true],
      "tie_weight": true, "untie_r": true, "vocab_size": 267735)";
  const ModelConfig config = parse(published + "}");
  EXPECT_EQ(config.info.memory, 1600);
  EXPECT_EQ(config.info.max_tokens, kAnyLength);
  EXPECT_EQ(head_of(config, "config.json"), HeadKind::causal_lm);
  EXPECT_EQ(config.head_config(HeadKind::causal_lm).adaptive->cluster_width(3), 16);
  const std::pair<const char*, const char*> refused[] = {{"attn_type", "2"},
                                                         {"sample_softmax", "100"},
                                                         {"cutoffs", "[40000, 20000]"},
                                                         {"cutoffs", "[0, 7]"},
                                                         {"cutoffs", "[267735]"},
                                                         {"cutoffs", "\"all\""},
                                                         {"div_val", "0"},
                                                         {"div_val", "2000"},
                                                         {"tie_projs", "[false, true]"},
                                                         {"mem_len", "-1"},
                                                         {"mem_len", "99999999"},
                                                         {"same_length", "1"},
                                                         {"d_model", "1023"},
                                                         {"d_head", "0"},
                                                         {"init", "\"xavier\""},
                                                         {"ext_len", "8"},
                                                         {"tie_weight", "false"},
                                                         {"dropatt", "1"},
                                                         {"pre_lnorm", "\"no\""},
                                                         {"proj_share_all_but_first", "0"},
                                                         {"hidden_size", "1024"}};
  for (const auto& [field, value] : refused) {
    Json fields = parse_json(published + "}", "fields");
    fields[field] = parse_json(value, "value");
    expect_refused(fields.dump(), std::string("config.json: ") + field);
  }
  expect_refused(R"({"model_type": "transfo-xl", "mem_len": 0})", "config.json: same_length is true, expected false");
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
