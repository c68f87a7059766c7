// Models with an encoder and a decoder: bits, files, places, what is refused. Their numbers are compared with
// HuggingFace's in decoder_suite_test.cpp.
#include "heed/models/seq2seq.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/io/safetensors.h"
#include "heed/io/tensor_files.h"
#include "heed/models/load.h"
#include "heed/ops/loss.h"
#include "heed/tensor/autograd.h"
#include "heed/train/optimizer.h"
#include "models/small_seq2seq.h"
#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

using test::error_of, test::small_seq2seq, test::TempFolder;
using Ids = std::vector<std::int64_t>;

Packed ids_of(const Ids& lengths, std::int64_t first, std::int64_t vocabulary = 47) {
  Ids ids;
  const Offsets offsets(lengths);
  for (std::int64_t i = 0; i < offsets.tokens(); ++i) ids.push_back((first + i) * (first + i + 7) % vocabulary);
  return Packed(Tensor::from(ids, {offsets.tokens()}), offsets);
}

Inputs inputs_of(const Ids& lengths, const Ids& source_lengths) {
  return {.ids = ids_of(lengths, 1), .source = ids_of(source_lengths, 5)};
}

Packed only(const Packed& ids, std::int64_t sequence) {
  return Packed(ids.sequence(sequence).detached_clone(), Offsets({ids.offsets.length(sequence)}));
}

Model model_of(const Json& config, std::uint64_t seed = 5) {
  Model model(parse_model_config(config, "config.json"), HeadKind::seq2seq_lm);
  initialize(model, seed);
  return model;
}

TEST(Seq2Seq, SameBitsAloneInABatchAndWithTwoThreads) {
  const NoGrad no_grad;
  for (const Json& config : test::small_seq2seqs()) {
    SCOPED_TRACE(config.dump());
    const Model model = model_of(config);
    const Inputs inputs = inputs_of({3, 70, 1}, {90, 2, 33});
    const ModelOutput together = model.forward(inputs, Context(), true);
    EXPECT_EQ(together.states.size(), 4U);
    for (const int threads : {1, 2}) {
      const ThreadLimit limit(threads);
      for (std::int64_t b = 0; b < 3; ++b) {
        const ModelOutput alone =
            model.forward({.ids = only(inputs.ids, b), .source = only(inputs.source, b)}, Context());
        const Offsets& offsets = inputs.ids.offsets;
        EXPECT_TRUE(same_bits(alone.logits, together.logits.detached_slice(0, offsets.begin(b), offsets.end(b))));
      }
    }
  }
}

TEST(Seq2Seq, WhatTheEncoderReadsMatters) {
  const NoGrad no_grad;
  for (const Json& config : test::small_seq2seqs()) {
    SCOPED_TRACE(config.dump());
    const Model model = model_of(config);
    Inputs inputs = inputs_of({4}, {6});
    const Tensor before = model.forward(inputs, Context()).logits;
    inputs.source = ids_of({6}, 6);
    EXPECT_FALSE(same_bits(model.forward(inputs, Context()).logits, before));
  }
}

TEST(Seq2Seq, SavedAndLoadedItIsTheSame) {
  const NoGrad no_grad;
  for (const Json& config : test::small_seq2seqs()) {
    SCOPED_TRACE(config.dump());
    const Model model = model_of(config);
    const TempFolder folder, again;
    save_model(model, folder.path());
    const auto loaded = load_model(folder.path());
    EXPECT_EQ(loaded->head(), HeadKind::seq2seq_lm);
    save_model(*loaded, again.path());
    for (const char* name : {"model.safetensors", "config.json"}) {
      EXPECT_EQ(read_file(folder.path() / name, 1 << 22), read_file(again.path() / name, 1 << 22)) << name;
    }
    const Inputs inputs = inputs_of({3, 9}, {5, 2});
    EXPECT_TRUE(same_bits(loaded->forward(inputs, Context()).logits, model.forward(inputs, Context()).logits));
    EXPECT_EQ(count_parameters(*loaded), count_parameters(model));
  }
}

// Without a head names have no prefix; the head that is missing then is tied to the words.
TEST(Seq2Seq, WithoutAHead) {
  const NoGrad no_grad;
  for (const char* type : {"bart", "m2m_100", "t5"}) {
    SCOPED_TRACE(type);
    const Model model(parse_model_config(small_seq2seq(type), "config.json"), HeadKind::none);
    const TempFolder folder;
    save_model(model, folder.path());
    EXPECT_TRUE(TensorFiles(folder.path()).contains("shared.weight"));
    EXPECT_EQ(load_model(folder.path())->head(), HeadKind::none);
    EXPECT_EQ(load_model(folder.path(), {.head = HeadKind::seq2seq_lm})->architecture(),
              std::string(model.config().family->class_name) + "ForConditionalGeneration");
  }
}

// The folder's tensors, changed.
void change(const TempFolder& folder, const std::function<void(TensorMap&)>& how) {
  TensorMap tensors = TensorFiles(folder.path()).tensors();
  for (auto& [name, tensor] : tensors) tensor = tensor.detached_clone();
  how(tensors);
  save_safetensors(folder.path() / "model.safetensors", tensors);
}

TEST(Seq2Seq, TablesOfWordsStandUnderAnyOfTheirNames) {
  const NoGrad no_grad;
  const Inputs inputs = inputs_of({3, 9}, {5, 2});
  for (const char* type : {"bart", "t5"}) {
    SCOPED_TRACE(type);
    const std::string prefix = type == std::string("bart") ? "model." : "", shared = prefix + "shared.weight";
    const Model model = model_of(small_seq2seq(type));
    const Tensor expected = model.forward(inputs, Context()).logits;
    const TempFolder folder;
    save_model(model, folder.path());
    const Tensor words = TensorFiles(folder.path()).tensor(shared).detached_clone();
    change(folder, [&](TensorMap& tensors) {
      for (const char* copy : {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}) {
        tensors[prefix + copy] = words;
      }
      tensors["lm_head.weight"] = words;
    });
    EXPECT_TRUE(same_bits(load_model(folder.path())->forward(inputs, Context()).logits, expected));
    change(folder, [&](TensorMap& tensors) { tensors.erase(shared); });
    EXPECT_TRUE(same_bits(load_model(folder.path())->forward(inputs, Context()).logits, expected));
    change(folder, [&](TensorMap& tensors) {
      for (const char* copy : {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}) {
        tensors.erase(prefix + copy);
      }
    });
    const std::string message = error_of(ErrorKind::bad_format, [&] { load_model(folder.path()); });
    EXPECT_NE(message.find(shared), std::string::npos) << message;
  }
}

// HuggingFace's rule, by which Flan-T5's config.json may say that they are tied.
TEST(Seq2Seq, AnOutputOfItsOwnInTheFilesIsNotTied) {
  const NoGrad no_grad;
  const TempFolder folder, again;
  save_model(model_of(small_seq2seq("t5", {{"scale_decoder_outputs", false}})), folder.path());
  change(folder, [](TensorMap& tensors) {
    tensors["lm_head.weight"] = Tensor::full(tensors.at("shared.weight").shape(), 0.5);
  });
  for (const auto storage : {LoadOptions::Storage::f32, LoadOptions::Storage::as_stored}) {
    const auto model = load_model(folder.path(), {.storage = storage});
    const ModelOutput out = model->forward(inputs_of({1}, {2}), Context());
    double sum = 0;
    for (const float each : out.hidden.to_vector<float>()) sum += 0.5 * static_cast<double>(each);
    for (const float logit : out.logits.to_vector<float>()) EXPECT_NEAR(logit, sum, 1e-5);
    save_model(*model, again.path());
    EXPECT_EQ(TensorFiles(again.path()).names(), TensorFiles(folder.path()).names());
  }
}

TEST(Seq2Seq, LayersOfTheDecoderFollowThoseOfTheEncoder) {
  const Model model = model_of(small_seq2seq("mbart"));
  const auto place = [&](const std::string& name) {
    const ParameterPlace found = model.place(name);
    return std::string(to_string(found.part)) + " " + std::to_string(found.depth);
  };
  EXPECT_EQ(place("encoder.word.weight"), "embeddings 0");
  EXPECT_EQ(place("encoder.decoder.position.weight"), "embeddings 0");
  EXPECT_EQ(place("encoder.encoder.layer.1.feed_forward.up.weight"), "layers 2");
  EXPECT_EQ(place("encoder.encoder.final_norm.weight"), "layers 2");
  EXPECT_EQ(place("encoder.decoder.layer.0.cross_attention.query.weight"), "layers 3");
  EXPECT_EQ(place("encoder.decoder.final_norm.bias"), "layers 5");
  EXPECT_EQ(model.info().layers, 5);
  EXPECT_EQ(model.info().encoder.value().layers, 2);
  EXPECT_EQ(model.info().encoder.value().heads, 4);
  EXPECT_EQ(model.info().heads, 2);
}

// As HuggingFace's classifiers of BART do: the text is the source, and one place later what the decoder reads.
TEST(Seq2Seq, AClassifierReadsItsTextTwice) {
  const NoGrad no_grad;
  for (const char* type : {"bart", "mbart"}) {
    ModelConfig config = parse_model_config(small_seq2seq(type, {{"num_labels", 3}}), "config.json");
    Model model(config, HeadKind::sequence_classification);
    initialize(model, 5);
    EXPECT_TRUE(model.architecture().ends_with("ForSequenceClassification"));
    const Packed text(Tensor::from<std::int32_t>({4, 5, 6, 7, 8}, {5}), {2, 3});
    const Tensor found = model.forward({.ids = text}, Context()).logits;
    EXPECT_EQ(found.shape(), Shape({2, 3}));
    const Packed later(Tensor::from<std::int64_t>({2, 4, 2, 6, 7}, {5}), text.offsets);
    const Tensor hidden = model.backbone()->encodes()->encode({.ids = later, .source = text}, Context());
    EXPECT_TRUE(same_bits(found, model.logits(hidden, text.offsets, Context())));
    EXPECT_TRUE(same_bits(model.encode({.ids = text}, Context()), hidden));
    const TempFolder folder;
    save_model(model, folder.path());
    EXPECT_TRUE(same_bits(load_model(folder.path())->forward({.ids = text}, Context()).logits, found));
  }
}

// What configurations of the published models carry besides their sizes.
TEST(Seq2Seq, FieldsOfPublishedModelsAreKnown) {
  const std::vector<std::pair<std::string, Json>> published = {
      {"opus-mt-en-de", Json::parse(R"({"model_type": "marian", "architectures": ["MarianMTModel"],
          "_num_labels": 3, "activation_dropout": 0.0, "activation_function": "swish", "add_bias_logits": false,
          "add_final_layer_norm": false, "attention_dropout": 0.0, "bad_words_ids": [[58100]], "bos_token_id": 0,
          "classif_dropout": 0.0, "classifier_dropout": 0.0, "decoder_layerdrop": 0.0, "decoder_start_token_id": 58100,
          "decoder_vocab_size": 58101, "dropout": 0.1, "encoder_layerdrop": 0.0, "eos_token_id": 0,
          "extra_pos_embeddings": 58101, "forced_eos_token_id": 0, "id2label": {"0": "LABEL_0"}, "init_std": 0.02,
          "is_encoder_decoder": true, "label2id": {"LABEL_0": 0}, "max_length": 512, "normalize_before": false,
          "normalize_embedding": false, "num_beams": 4, "num_hidden_layers": 6, "pad_token_id": 58100,
          "scale_embedding": true, "share_encoder_decoder_embeddings": true, "static_position_embeddings": true,
          "use_cache": true, "vocab_size": 58101})")},
      {"bart-large-cnn", Json::parse(R"({"model_type": "bart", "architectures": ["BartForConditionalGeneration"],
          "_num_labels": 3, "early_stopping": true, "force_bos_token_to_be_generated": true, "forced_bos_token_id": 0,
          "forced_eos_token_id": 2, "gradient_checkpointing": false, "length_penalty": 2.0, "max_length": 142,
          "min_length": 56, "no_repeat_ngram_size": 3, "output_past": true, "prefix": " ", "scale_embedding": false,
          "task_specific_params": {"summarization": {"num_beams": 4}}, "is_encoder_decoder": true})")},
      {"distilbart-cnn-12-6", Json::parse(R"({"model_type": "bart", "architectures": ["BartForConditionalGeneration"],
          "decoder_layers": 6, "extra_pos_embeddings": 2, "replacing_rate": 0, "save_step": 58,
          "static_position_embeddings": false, "student_decoder_layers": null, "student_encoder_layers": null})")},
      {"bart-large-mnli", Json::parse(R"({"model_type": "bart", "architectures": ["BartForSequenceClassification"],
          "classif_dropout": 0.0, "id2label": {"0": "contradiction", "1": "neutral", "2": "entailment"}})")},
      {"mbart-large-50", Json::parse(R"({"model_type": "mbart", "architectures": ["MBartForConditionalGeneration"],
          "add_bias_logits": false, "add_final_layer_norm": true, "max_length": 200, "normalize_before": true,
          "normalize_embedding": true, "num_beams": 5, "output_past": true, "scale_embedding": true,
          "tokenizer_class": "MBart50Tokenizer", "vocab_size": 250054})")},
      {"pegasus-xsum", Json::parse(R"({"model_type": "pegasus", "architectures": ["PegasusForConditionalGeneration"],
          "add_bias_logits": false, "add_final_layer_norm": true, "extra_pos_embeddings": 1, "length_penalty": 0.6,
          "max_length": 64, "max_position_embeddings": 512, "normalize_before": true, "num_beams": 8,
          "static_position_embeddings": true, "task_specific_params": {"summarization_xsum": {"max_length": 64}}})")},
      {"m2m100_418M", Json::parse(R"({"model_type": "m2m_100", "architectures": ["M2M100ForConditionalGeneration"],
          "decoder_layerdrop": 0.05, "early_stopping": true, "encoder_layerdrop": 0.05, "max_length": 200,
          "num_beams": 5, "scale_embedding": true, "gradient_checkpointing": false})")},
      {"nllb-200-distilled-600M", Json::parse(R"({"model_type": "m2m_100", "vocab_size": 256206, "max_length": 200,
          "architectures": ["M2M100ForConditionalGeneration"], "encoder_layerdrop": 0, "scale_embedding": true,
          "tokenizer_class": "NllbTokenizer", "torch_dtype": "float32"})")},
      {"blenderbot_small-90M", Json::parse(R"({"model_type": "blenderbot-small", "activation_function": "gelu",
          "architectures": ["BlenderbotSmallForConditionalGeneration"], "do_blenderbot_90_layernorm": true,
          "extra_layer_norm": false, "layernorm_variant": "xlm", "length_penalty": 0.65, "max_length": 128,
          "min_length": 20, "no_repeat_ngram_size": 3, "normalize_embedding": true, "num_beams": 10,
          "scale_embedding": true, "static_position_embeddings": false, "unk_token_id": 3, "vocab_size": 54944})")},
      {"t5-small", Json::parse(R"({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"],
          "decoder_start_token_id": 0, "n_positions": 512, "output_past": true, "pad_token_id": 0,
          "task_specific_params": {"summarization": {"prefix": "summarize: "}}, "use_cache": true})")},
      {"flan-t5-small", Json::parse(R"({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"],
          "d_ff": 1024, "d_kv": 64, "d_model": 512, "feed_forward_proj": "gated-gelu", "is_gated_act": true,
          "dense_act_fn": "gelu_new", "num_decoder_layers": 8, "num_heads": 6, "num_layers": 8, "output_past": true,
          "relative_attention_max_distance": 128, "tie_word_embeddings": false, "classifier_dropout": 0.0})")},
      {"mt5-small", Json::parse(R"({"model_type": "mt5", "architectures": ["MT5ForConditionalGeneration"],
          "tie_word_embeddings": false, "tokenizer_class": "T5Tokenizer", "num_heads": 6, "vocab_size": 250112})")},
      {"umt5-small", Json::parse(R"({"model_type": "umt5", "architectures": ["UMT5ForConditionalGeneration"],
          "scalable_attention": true, "tie_word_embeddings": false, "num_heads": 6, "vocab_size": 256384})")}};
  for (const auto& [name, fields] : published) {
    SCOPED_TRACE(name);
    const ModelConfig config = parse_model_config(fields, "config.json");
    EXPECT_NE(head_of(config, "config.json"), HeadKind::none);
    EXPECT_TRUE(config.info.encoder);
  }
}

TEST(Seq2Seq, BadInputIsRefused) {
  const Model model = model_of(small_seq2seq("bart"));
  const auto message = [&](const Inputs& inputs) {
    return error_of(ErrorKind::invalid_argument, [&] { model.forward(inputs, Context()); });
  };
  EXPECT_NE(message({.ids = ids_of({3}, 1)}).find("0 sources for 1 sequences"), std::string::npos);
  EXPECT_NE(message(inputs_of({3, 4}, {3})).find("1 sources for 2 sequences"), std::string::npos);
  EXPECT_NE(message(inputs_of({3, 4}, {3, 0})).find("source 1 is empty"), std::string::npos);
  EXPECT_NE(message(inputs_of({3}, {201})).find("source 0 has 201 tokens, the model takes at most 200"),
            std::string::npos);
  EXPECT_NE(message(inputs_of({201}, {3})).find("sequence 0 has 201"), std::string::npos);
  message({.ids = Packed(Tensor::from<std::int64_t>({61}, {1}), {1}), .source = ids_of({3}, 1)});
  message({.ids = ids_of({3}, 1), .source = Packed(Tensor::from<std::int64_t>({61}, {1}), {1})});
  DecodeState state = model.backbone()->decodes()->start();
  const auto decode = [&](const Inputs& inputs) {
    return error_of(ErrorKind::invalid_argument,
                    [&] { model.backbone()->decodes()->decode(inputs, state, Context()); });
  };
  EXPECT_NE(decode({.ids = ids_of({1}, 1)}).find("0 have joined"), std::string::npos);
  EXPECT_NE(decode(inputs_of({1}, {1})).find("have joined with theirs"), std::string::npos);
  Model decoder(parse_model_config(
      {{"model_type", "gpt2"}, {"vocab_size", 47}, {"n_embd", 8}, {"n_head", 2}, {"n_layer", 1}}, "config.json"));
  error_of(ErrorKind::invalid_argument, [&] { decoder.forward(inputs_of({2}, {2}), Context()); });
}

TEST(Seq2Seq, ContradictionsOfConfigsAreRefusedByName) {
  const auto message = [](const Json& config) {
    return error_of(ErrorKind::bad_format, [&] { parse_model_config(config, "config.json"); });
  };
  const auto expect = [&](const std::string& type, const Json& more, const std::string& text) {
    const std::string found = message(small_seq2seq(type, more));
    EXPECT_EQ(found.find("config.json: " + text), 0U) << found;
  };
  expect("bart", {{"is_encoder_decoder", false}}, "is_encoder_decoder is false, expected true");
  expect("bart", {{"encoder_attention_heads", 5}}, "encoder_attention_heads is 5, expected a divisor of d_model, 32");
  expect("marian", {{"decoder_vocab_size", 7}}, "decoder_vocab_size is 7, expected vocab_size, 61");
  expect("pegasus", {{"max_position_embeddings", 1 << 30}}, "max_position_embeddings is 1073741824, expected a size");
  expect("t5", {{"feed_forward_proj", "gated-tanh"}}, "feed_forward_proj is \"gated-tanh\", expected one of");
  expect("t5", {{"relative_attention_num_buckets", 7}}, "relative_attention_num_buckets is 7, expected an even number");
  expect("t5", {{"rope_theta", 7}}, "rope_theta is not a field that is known");
}

TEST(Seq2Seq, SizesThatFilesContradictAreNamed) {
  const TempFolder folder;
  save_model(model_of(small_seq2seq("mbart")), folder.path());
  for (const auto& [field, value] : std::vector<std::pair<std::string, int>>{{"vocab_size", 60},
                                                                             {"d_model", 64},
                                                                             {"encoder_layers", 9000},
                                                                             {"decoder_layers", 4},
                                                                             {"encoder_ffn_dim", 8},
                                                                             {"decoder_ffn_dim", 8},
                                                                             {"max_position_embeddings", 199}}) {
    Json config = small_seq2seq("mbart", {{"architectures", {"MBartForConditionalGeneration"}}});
    config[field] = value;
    folder.write("config.json", config.dump());
    const std::string message = error_of(ErrorKind::bad_format, [&] { load_model(folder.path()); });
    EXPECT_NE(message.find(field + " says"), std::string::npos) << message;
  }
}

TEST(Seq2Seq, LearnsToReverse) {
  Json config = small_seq2seq("marian", {{"vocab_size", 8}, {"scale_embedding", true}, {"init_std", 0.15}});
  config.update({{"encoder_layers", 1}, {"decoder_layers", 1}, {"dropout", 0.0}});
  Model model = model_of(config, 9);
  auto optimizer = make_adam({{parameters(model)}});
  double loss_value = 0;
  for (std::uint64_t step = 0; step < 150; ++step) {
    Ids source, target, answers, lengths;
    for (std::uint64_t row = 0; row < 16; ++row) {
      RandomStream draw{1, stream_id(step, row)};
      const std::uint64_t length = 2 + draw.uniform_integer(3);
      Ids word;
      for (std::uint64_t i = 0; i < length; ++i) word.push_back(1 + static_cast<std::int64_t>(draw.uniform_integer(7)));
      source.insert(source.end(), word.begin(), word.end());
      answers.insert(answers.end(), word.rbegin(), word.rend());
      target.push_back(0);
      target.insert(target.end(), word.rbegin(), word.rend() - 1);
      lengths.push_back(static_cast<std::int64_t>(length));
    }
    const Offsets offsets{std::span<const std::int64_t>(lengths)};
    const auto count = static_cast<std::int64_t>(source.size());
    const Inputs inputs{.ids = Packed(Tensor::from(target, {count}), offsets),
                        .source = Packed(Tensor::from(source, {count}), offsets)};
    const Tensor loss =
        cross_entropy(model.forward(inputs, Context::training(1, step)).logits, Tensor::from(answers, {count}));
    loss_value = loss.item();
    backward(loss);
    optimizer->step(5e-3);
    optimizer->clear_gradients();
  }
  EXPECT_LT(loss_value, 0.5);  // guessing: log 7 = 1.95
}

}  // namespace
}  // namespace heed
