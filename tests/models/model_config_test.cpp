#include "heed/models/model_config.h"

#include <gtest/gtest.h>

#include "heed/models/registry.h"
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
  expect_refused(R"({"model_type": "gpt9"})", "config.json: model_type is \"gpt9\", expected one of albert, bert");
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

// The fields that published encoders of all families carry, each set at least once: what is harmless is no hindrance.
TEST(ModelConfig, FieldsOfPublishedModelsAreKnown) {
  const std::string bert_sizes = R"("attention_probs_dropout_prob": 0.1, "hidden_act": "gelu", "hidden_size": 384,
      "hidden_dropout_prob": 0.1, "initializer_range": 0.02, "intermediate_size": 1536, "layer_norm_eps": 1e-12,
      "max_position_embeddings": 514, "num_attention_heads": 12, "num_hidden_layers": 6, "vocab_size": 30522)";
  const std::string usual =
      R"("_name_or_path": "x/y", "transformers_version": "4.57.3", "gradient_checkpointing": false,
      "position_embedding_type": "absolute", "use_cache": true, "classifier_dropout": null, "pad_token_id": 1)";
  // Everything that PretrainedConfig has, as old versions wrote it out.
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
  const std::pair<const char*, std::string> models[] = {
      {"all-MiniLM", R"("model_type": "bert", "architectures": ["BertModel"], "type_vocab_size": 2)"},
      {"with code of its own", R"("model_type": "bert", "type_vocab_size": 2, "torch_dtype": "float16",
          "auto_map": {"AutoModel": "modeling.Model"}, "custom_pipelines": {}, "_commit_hash": "abc")"},
      {"ms-marco-MiniLM", R"("model_type": "bert", "architectures": ["BertForSequenceClassification"],
          "id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}, "type_vocab_size": 2, "dtype": "float32",
          "sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity",
          "sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity", "version": "4.1.0"})"},
      {"a Chinese BERT", R"("model_type": "bert", "architectures": ["BertForMaskedLM"], "directionality": "bidi",
          "output_past": true, "pooler_fc_size": 768, "pooler_num_attention_heads": 12, "pooler_num_fc_layers": 3,
          "pooler_size_per_head": 128, "pooler_type": "first_token_transform", "bos_token_id": 0, "eos_token_id": 2,
          "eos_token_ids": 0, "type_vocab_size": 2, "tokenizer_class": "BertTokenizer", "xla_device": true)"},
      {"bert-base-NER", R"("model_type": "bert", "architectures": ["BertForTokenClassification"], "_num_labels": 3,
          "id2label": {"0": "O", "1": "B-PER", "2": "I-PER"}, "label2id": {"B-PER": 1, "I-PER": 2, "O": 0})"},
      {"rubert-tiny", R"("model_type": "bert", "architectures": ["BertForPreTraining"], "emb_size": 312)"},
      {"a twitter RoBERTa", R"("model_type": "roberta", "architectures": ["RobertaForSequenceClassification"],
          "bos_token_id": 0, "eos_token_id": 2, "problem_type": "multi_label_classification", "type_vocab_size": 1,
          "id2label": {"0": "joy", "1": "fear"}, "label2id": {"joy": 0, "fear": 1}, "adapters": {"adapters": {}})"},
      {"roberta-base-squad2", R"("model_type": "roberta", "architectures": ["RobertaForQuestionAnswering"],
          "language": "english", "name": "Roberta", "embedding_size": 384, "type_vocab_size": 1)"},
      {"a multilingual e5", R"("model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"], "output_past": true,
          "_attn_implementation_autoset": true, "attn_implementation": "sdpa", "type_vocab_size": 1)"},
      {"electra-base", R"("model_type": "electra", "architectures": ["ElectraForPreTraining"], "embedding_size": 384,
          "generator_size": "0.33", "summary_activation": "gelu", "summary_last_dropout": 0.1, "type_vocab_size": 2,
          "summary_type": "first", "summary_use_proj": true)"},
      {"albert-base-v2", R"("model_type": "albert", "architectures": ["AlbertForMaskedLM"], "embedding_size": 128,
          "classifier_dropout_prob": 0.1, "down_scale_factor": 1, "gap_size": 0, "inner_group_num": 1,
          "layers_to_keep": [], "net_structure_type": 0, "num_hidden_groups": 1, "num_memory_blocks": 0,
          "bos_token_id": 2, "eos_token_id": 3, "type_vocab_size": 2)"},
      {"all-mpnet-base-v2", R"("model_type": "mpnet", "architectures": ["MPNetForMaskedLM"],
          "relative_attention_num_buckets": 32, "type_vocab_size": 1)"}};
  for (const auto& [name, own] : models) {
    for (const std::string& more : {usual, written_out, usual + ", " + written_out}) {
      SCOPED_TRACE(name);
      Json fields = parse_json("{" + bert_sizes + ", " + more + "}", name);
      fields.update(parse_json("{" + own + "}", name));
      const ModelConfig config = parse(fields.dump());
      EXPECT_EQ(config.info.hidden_size, 384);
      head_of(config, "config.json");
    }
  }
  const ModelConfig distilbert = parse(R"({"model_type": "distilbert", "activation": "gelu", "attention_dropout": 0.1,
      "dim": 384, "dropout": 0.1, "hidden_dim": 1536, "max_position_embeddings": 512, "n_heads": 12, "n_layers": 6,
      "qa_dropout": 0.1, "seq_classif_dropout": 0.2, "sinusoidal_pos_embds": false, "tie_weights_": true,
      "initializer_range": 0.02, "vocab_size": 30522, )" +
                                       usual + ", " + written_out + "}");
  EXPECT_EQ(distilbert.info.hidden_size, 384);
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
