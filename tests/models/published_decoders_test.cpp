// What published decoders carry beside their weights: fields of config.json of every family, buffers that older
// programs saved, names of tensors with another beginning.
#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/io/tensor_files.h"
#include "heed/models/load.h"
#include "heed/ops/shape_ops.h"
#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::TempFolder;

ModelConfig parse(const std::string& text) {
  return parse_model_config(parse_json(text, "config.json"), "config.json");
}

// 48 factors per pair of positions, as Phi-3.5 has them.
std::string factors(std::int64_t count) {
  std::string list = "[1.0";
  for (std::int64_t i = 1; i < count; ++i) list += ", 1.5";
  return list + "]";
}

std::string repeated(const std::string& layer_type, std::int64_t count) {
  std::string list = "[\"" + layer_type + "\"";
  for (std::int64_t i = 1; i < count; ++i) list += ", \"" + layer_type + "\"";
  return list + "]";
}

struct PublishedConfig {
  const char* name;
  std::int64_t hidden_size, layers, max_tokens;
  std::string fields;
};

std::vector<PublishedConfig> published_configs() {
  const std::string summary = R"("summary_activation": null, "summary_first_dropout": 0.1,
      "summary_proj_to_labels": true, "summary_type": "cls_index", "summary_use_proj": true, )";
  const std::string gpt2 = summary + R"("activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"],
      "attn_pdrop": 0.1, "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
      "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12,
      "n_positions": 1024, "resid_pdrop": 0.1, "vocab_size": 50257,
      "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}})";
  const std::string llama = R"("architectures": ["LlamaForCausalLM"], "bos_token_id": 1,
      "hidden_act": "silu", "initializer_range": 0.02, "model_type": "llama", "pretraining_tp": 1,
      "rms_norm_eps": 1e-05, "torch_dtype": "bfloat16", "transformers_version": "4.35.0",
      "use_cache": true)";
  const std::string qwen2 = R"("architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0,
      "bos_token_id": 151643, "eos_token_id": 151645, "hidden_act": "silu", "hidden_size": 896,
      "initializer_range": 0.02, "intermediate_size": 4864, "max_position_embeddings": 32768,
      "max_window_layers": 24, "model_type": "qwen2", "num_attention_heads": 14, "num_hidden_layers": 24,
      "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "tie_word_embeddings": true, "use_cache": true,
      "use_sliding_window": false, "vocab_size": 151936)";
  const std::string phi3 = R"("architectures": ["Phi3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
      "auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"}, "embd_pdrop": 0.0, "hidden_act": "silu",
      "hidden_size": 3072, "initializer_range": 0.02, "intermediate_size": 8192, "model_type": "phi3",
      "num_hidden_layers": 32, "original_max_position_embeddings": 4096, "resid_pdrop": 0.0, "rms_norm_eps": 1e-05,
      "rope_theta": 10000.0, "torch_dtype": "bfloat16", "use_cache": true, )";
  const std::string gemma = R"("attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 2,
      "head_dim": 256, "initializer_range": 0.02, "pad_token_id": 0, "rms_norm_eps": 1e-06,
      "torch_dtype": "bfloat16", "transformers_version": "4.42.4", "use_cache": true, )";
  const std::string opt = R"("_remove_final_layer_norm": false, "activation_dropout": 0.0,
      "activation_function": "relu", "architectures": ["OPTForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 2,
      "dropout": 0.1, "eos_token_id": 2, "init_std": 0.02, "layerdrop": 0.0, "max_position_embeddings": 2048,
      "model_type": "opt", "pad_token_id": 1, "prefix": "</s>", "torch_dtype": "float16", "use_cache": true,
      "vocab_size": 50272, )";
  return {
      {"gpt2", 768, 12, 1024, gpt2 + R"(, "n_layer": 12)"},
      {"distilgpt2", 768, 6, 1024,
       gpt2 + R"(, "n_layer": 6, "_num_labels": 1, "id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0})"},
      {"codeparrot-small", 768, 12, 1024,
       gpt2 + R"(, "n_layer": 12, "n_inner": null, "gradient_checkpointing": false, "reorder_and_upcast_attn": true,
          "scale_attn_by_inverse_layer_idx": true, "scale_attn_weights": true, "torch_dtype": "float32")"},
      {"pythia-70m", 512, 6, 2048, R"("architectures": ["GPTNeoXForCausalLM"], "bos_token_id": 0, "eos_token_id": 0,
          "hidden_act": "gelu", "hidden_size": 512, "initializer_range": 0.02, "intermediate_size": 2048,
          "layer_norm_eps": 1e-05, "max_position_embeddings": 2048, "model_type": "gpt_neox",
          "num_attention_heads": 8, "num_hidden_layers": 6, "rotary_emb_base": 10000, "rotary_pct": 0.25,
          "tie_word_embeddings": false, "torch_dtype": "float16", "use_cache": true, "use_parallel_residual": true,
          "vocab_size": 50304)"},
      {"gpt-neox-20b", 6144, 44, 2048, R"("architectures": ["GPTNeoXForCausalLM"], "attention_probs_dropout_prob": 0,
          "bos_token_id": 0, "eos_token_id": 0, "hidden_act": "gelu_fast", "hidden_dropout_prob": 0,
          "hidden_size": 6144, "initializer_range": 0.02, "intermediate_size": 24576, "layer_norm_eps": 1e-05,
          "max_position_embeddings": 2048, "model_type": "gpt_neox", "num_attention_heads": 64,
          "num_hidden_layers": 44, "rotary_emb_base": 10000, "rotary_pct": 0.25, "tie_word_embeddings": false,
          "torch_dtype": "float16", "use_cache": true, "vocab_size": 50432)"},
      {"opt-125m", 768, 12, 2048,
       opt + R"("do_layer_norm_before": true, "ffn_dim": 3072, "hidden_size": 768, "num_attention_heads": 12,
          "num_hidden_layers": 12, "word_embed_proj_dim": 768)"},
      {"opt-350m", 1024, 24, 2048,
       opt + R"("do_layer_norm_before": false, "ffn_dim": 4096, "hidden_size": 1024, "num_attention_heads": 16,
          "num_hidden_layers": 24, "word_embed_proj_dim": 512)"},
      {"bloom-560m", 1024, 24, 2048, R"("apply_residual_connection_post_layernorm": false, "attention_dropout": 0.0,
          "attention_softmax_in_fp32": true, "architectures": ["BloomForCausalLM"], "bias_dropout_fusion": true,
          "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 3, "unk_token_id": 0, "hidden_dropout": 0.0,
          "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "masked_softmax_fusion": true,
          "model_type": "bloom", "n_embed": 1024, "n_inner": null, "n_layer": 24, "num_attention_heads": 16,
          "offset_alibi": 100, "pretraining_tp": 1, "seq_length": 2048, "skip_bias_add": true,
          "skip_bias_add_qkv": false, "slow_but_exact": false, "use_cache": true, "vocab_size": 250880)"},
      {"TinyLlama", 2048, 22, 2048,
       llama + R"(, "attention_bias": false, "hidden_size": 2048, "intermediate_size": 5632,
          "max_position_embeddings": 2048, "num_attention_heads": 32, "num_hidden_layers": 22,
          "num_key_value_heads": 4, "rope_scaling": null, "rope_theta": 10000.0, "eos_token_id": 2,
          "tie_word_embeddings": false, "vocab_size": 32000)"},
      {"SmolLM2-135M", 576, 30, 8192,
       llama + R"(, "attention_bias": false, "attention_dropout": 0.0, "hidden_size": 576, "intermediate_size": 1536,
          "is_llama_config": true, "max_position_embeddings": 8192, "mlp_bias": false, "num_attention_heads": 9,
          "num_hidden_layers": 30, "num_key_value_heads": 3, "rope_interleaved": false, "rope_scaling": null,
          "rope_theta": 100000, "eos_token_id": 2, "tie_word_embeddings": true, "vocab_size": 49152,
          "transformers.js_config": {"kv_cache_dtype": {"q4f16": "float16", "fp16": "float16"}})"},
      {"Llama-3.2-1B", 2048, 16, 131072,
       llama + R"(, "attention_bias": false, "attention_dropout": 0.0, "head_dim": 64, "hidden_size": 2048,
          "eos_token_id": [128001, 128008, 128009], "intermediate_size": 8192, "max_position_embeddings": 131072,
          "mlp_bias": false, "num_attention_heads": 32, "num_hidden_layers": 16, "num_key_value_heads": 8,
          "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                           "original_max_position_embeddings": 8192, "rope_type": "llama3"},
          "rope_theta": 500000.0, "tie_word_embeddings": true, "vocab_size": 128256)"},
      {"Mistral-7B-v0.1", 4096, 32, 32768, R"("architectures": ["MistralForCausalLM"], "bos_token_id": 1,
          "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
          "intermediate_size": 14336, "max_position_embeddings": 32768, "model_type": "mistral",
          "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
          "rope_theta": 10000.0, "sliding_window": 4096, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
          "transformers_version": "4.34.0.dev0", "use_cache": true, "vocab_size": 32000)"},
      {"Mistral-7B-v0.3", 4096, 32, 32768, R"("architectures": ["MistralForCausalLM"], "attention_dropout": 0.0,
          "bos_token_id": 1, "eos_token_id": 2, "head_dim": null, "hidden_act": "silu", "hidden_size": 4096,
          "initializer_range": 0.02, "intermediate_size": 14336, "max_position_embeddings": 32768,
          "model_type": "mistral", "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
          "rms_norm_eps": 1e-05, "rope_theta": 1000000.0, "sliding_window": null, "tie_word_embeddings": false,
          "torch_dtype": "bfloat16", "use_cache": true, "vocab_size": 32768)"},
      {"Qwen2.5-0.5B", 896, 24, 32768,
       qwen2 + R"(, "rope_theta": 1000000.0, "sliding_window": 32768, "torch_dtype": "bfloat16", "use_mrope": false,
          "transformers_version": "4.40.1")"},
      {"Qwen2.5-0.5B as transformers 5 writes it", 896, 24, 32768,
       qwen2 + R"(, "dtype": "bfloat16", "layer_types": )" + repeated("full_attention", 24) +
           R"(, "rope_parameters": {"rope_theta": 1000000.0, "rope_type": "default"}, "sliding_window": null,
          "pad_token_id": null, "use_mrope": false)"},
      {"Qwen3-0.6B", 1024, 28, 40960, R"("architectures": ["Qwen3ForCausalLM"], "attention_bias": false,
          "attention_dropout": 0.0, "bos_token_id": 151643, "eos_token_id": 151645, "head_dim": 128,
          "hidden_act": "silu", "hidden_size": 1024, "initializer_range": 0.02, "intermediate_size": 3072,
          "max_position_embeddings": 40960, "max_window_layers": 28, "model_type": "qwen3",
          "num_attention_heads": 16, "num_hidden_layers": 28, "num_key_value_heads": 8, "rms_norm_eps": 1e-06,
          "rope_scaling": null, "rope_theta": 1000000, "sliding_window": null, "tie_word_embeddings": true,
          "torch_dtype": "bfloat16", "use_cache": true, "use_sliding_window": false, "vocab_size": 151936)"},
      {"gemma-2b", 2048, 18, 8192,
       gemma +
           R"("architectures": ["GemmaForCausalLM"], "eos_token_id": 1, "hidden_act": "gelu", "hidden_activation": null,
          "hidden_size": 2048, "intermediate_size": 16384, "max_position_embeddings": 8192, "model_type": "gemma",
          "num_attention_heads": 8, "num_hidden_layers": 18, "num_key_value_heads": 1, "rope_scaling": null,
          "rope_theta": 10000.0, "vocab_size": 256000)"},
      {"gemma-2-2b", 2304, 26, 8192,
       gemma + R"("architectures": ["Gemma2ForCausalLM"], "eos_token_id": 1, "attn_logit_softcapping": 50.0,
          "cache_implementation": "hybrid", "final_logit_softcapping": 30.0, "hidden_act": "gelu_pytorch_tanh",
          "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 2304, "intermediate_size": 9216,
          "max_position_embeddings": 8192, "model_type": "gemma2", "num_attention_heads": 8, "num_hidden_layers": 26,
          "num_key_value_heads": 4, "query_pre_attn_scalar": 256, "rope_theta": 10000.0, "sliding_window": 4096,
          "sliding_window_size": 4096, "vocab_size": 256000)"},
      {"gemma-3-1b", 1152, 26, 32768,
       gemma + R"("architectures": ["Gemma3ForCausalLM"], "attn_logit_softcapping": null, "eos_token_id": [1, 106],
          "cache_implementation": "hybrid", "final_logit_softcapping": null, "hidden_activation": "gelu_pytorch_tanh",
          "hidden_size": 1152, "intermediate_size": 6912, "max_position_embeddings": 32768,
          "model_type": "gemma3_text", "num_attention_heads": 4, "num_hidden_layers": 26, "num_key_value_heads": 1,
          "query_pre_attn_scalar": 256, "rope_local_base_freq": 10000, "rope_scaling": null, "rope_theta": 1000000,
          "sliding_window": 512, "sliding_window_pattern": 6, "vocab_size": 262144)"},
      {"gemma-3-270m", 640, 18, 32768,
       gemma + R"("_sliding_window_pattern": 6, "eos_token_id": 1, "architectures": ["Gemma3ForCausalLM"],
          "attn_logit_softcapping": null, "final_logit_softcapping": null, "hidden_activation": "gelu_pytorch_tanh",
          "hidden_size": 640, "intermediate_size": 2048, "layer_types": )" +
           repeated("sliding_attention", 18) + R"(, "max_position_embeddings": 32768,
          "model_type": "gemma3_text", "num_attention_heads": 4, "num_hidden_layers": 18, "num_key_value_heads": 1,
          "query_pre_attn_scalar": 256, "rope_local_base_freq": 10000.0, "rope_scaling": null,
          "rope_theta": 1000000.0, "sliding_window": 512, "use_bidirectional_attention": false,
          "vocab_size": 262144)"},
      {"Phi-3-mini-4k", 3072, 32, 4096,
       phi3 + R"("bos_token_id": 1, "eos_token_id": 32000, "max_position_embeddings": 4096,
          "num_attention_heads": 32, "num_key_value_heads": 32, "pad_token_id": 32000, "rope_scaling": null,
          "sliding_window": 2047, "tie_word_embeddings": false, "vocab_size": 32064)"},
      {"Phi-3.5-mini", 3072, 32, 131072,
       phi3 + R"("bos_token_id": 1, "eos_token_id": 32000, "max_position_embeddings": 131072,
          "num_attention_heads": 32, "num_key_value_heads": 32, "pad_token_id": 32000,
          "rope_scaling": {"type": "longrope", "long_factor": )" +
           factors(48) + R"(, "short_factor": )" + factors(48) +
           R"(}, "sliding_window": 262144, "tie_word_embeddings": false, "vocab_size": 32064)"},
      {"Phi-4-mini", 3072, 32, 131072,
       phi3 + R"("bos_token_id": 199999, "eos_token_id": 199999, "full_attn_mod": 1, "interpolate_factor": 1,
          "lm_head_bias": false, "max_position_embeddings": 131072, "mlp_bias": false, "num_attention_heads": 24,
          "num_key_value_heads": 8, "pad_token_id": 199999, "partial_rotary_factor": 0.75,
          "rope_scaling": {"type": "longrope", "long_factor": )" +
           factors(48) + R"(, "short_factor": )" + factors(48) +
           R"(}, "sliding_window": 262144, "tie_word_embeddings": true, "vocab_size": 200064)"},
  };
}

TEST(ModelConfig, FieldsOfPublishedDecodersAreKnown) {
  for (const auto& [name, hidden_size, layers, max_tokens, fields] : published_configs()) {
    SCOPED_TRACE(name);
    const ModelConfig config = parse("{" + fields + "}");
    EXPECT_EQ(config.info.hidden_size, hidden_size);
    EXPECT_EQ(config.info.layers, layers);
    EXPECT_EQ(config.info.max_tokens, max_tokens);
    EXPECT_EQ(head_of(config, "config.json"), HeadKind::causal_lm);
  }
}

// Those that would change the result are refused where they say anything else.
TEST(ModelConfig, FieldsOfPublishedDecodersThatWouldMatterAreRefused) {
  const std::pair<const char*, const char*> fields[] = {
      {"qwen2", R"("use_mrope": true)"},      {"phi3", R"("full_attn_mod": 2)"},
      {"phi3", R"("interpolate_factor": 4)"}, {"phi3", R"("lm_head_bias": true)"},
      {"phi3", R"("mlp_bias": true)"},        {"gpt2", R"("scale_attn_by_inverse_layer_idx": 1)"}};
  for (const auto& [type, field] : fields) {
    const std::string text = std::string(R"({"model_type": ")") + type + "\", " + field + "}";
    const std::string message = error_of(ErrorKind::bad_format, [&] { parse(text); });
    const std::string name(field + 1, std::string(field).find('"', 1) - 1);
    EXPECT_TRUE(message.starts_with("config.json: " + name + " is ")) << message;
  }
}

// The scores after the last of many tokens, by a layer of the model that the fields describe.
Tensor last_logits(const std::string& fields, std::int64_t tokens) {
  Model model(parse(R"({"vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
                        "num_key_value_heads": 2, "intermediate_size": 12, "max_position_embeddings": 8192, )" +
                    fields + "}"),
              HeadKind::causal_lm);
  initialize(model, 3);
  std::vector<std::int32_t> ids;
  for (std::int64_t i = 0; i < tokens; ++i) ids.push_back(static_cast<std::int32_t>(i % 19));
  const Packed packed(Tensor::from(ids, {tokens}), Offsets({tokens}));
  return model.logits_of_rows(slice(model.encode({.ids = packed}, Context()), 0, tokens - 1, tokens), Context());
}

// HuggingFace's classes have a window of 4,096 where the field is absent, and none where it is null.
TEST(PublishedDecoders, AbsentWindowsAreNotNull) {
  for (const std::string type :
       {R"("model_type": "mistral")", R"("model_type": "qwen2", "use_sliding_window": true, "max_window_layers": 0)"}) {
    SCOPED_TRACE(type);
    const auto logits = [&](const std::string& window) { return last_logits(type + window, 4100); };
    const Tensor absent = logits("");
    EXPECT_TRUE(same_bits(absent, logits(R"(, "sliding_window": 4096)")));
    EXPECT_FALSE(same_bits(absent, logits(R"(, "sliding_window": null)")));
    EXPECT_FALSE(same_bits(absent, logits(R"(, "sliding_window": 4095)")));
  }
}

// Mistral has 8 heads of keys where the field is absent, and all where it is null.
TEST(PublishedDecoders, AbsentKeyHeadsAreNotNull) {
  const std::string fields = R"({"model_type": "mistral", "num_attention_heads": 16, "hidden_size": 32)";
  const auto numbers = [&](const std::string& key_heads) {
    const std::string rest = R"(, "vocab_size": 20, "num_hidden_layers": 1, "intermediate_size": 12)";
    return count_parameters(Model(parse(fields + rest + key_heads + "}"), HeadKind::causal_lm));
  };
  EXPECT_EQ(numbers(""), numbers(R"(, "num_key_value_heads": 8)"));
  EXPECT_EQ(numbers(R"(, "num_key_value_heads": null)"), numbers(R"(, "num_key_value_heads": 16)"));
}

// Two layers of a family.
std::string small(const std::string& type) {
  if (type == "gpt2") {
    return R"({"model_type": "gpt2", "vocab_size": 20, "n_embd": 8, "n_layer": 2, "n_head": 2, "n_positions": 16})";
  }
  return R"({"model_type": ")" + type +
         R"(", "vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
            "num_key_value_heads": 2, "intermediate_size": 12, "max_position_embeddings": 16, "rotary_pct": 1})";
}

ModelConfig small_config(const std::string& type) {
  Json fields = parse_json(small(type), type);
  if (type != "gpt_neox") fields.erase("rotary_pct");
  if (type == "gpt_neox") fields.erase("num_key_value_heads");
  return parse_model_config(fields, type);
}

Tensor logits_of(const Model& model) {
  const std::vector<std::int64_t> ids = {3, 1, 4, 1, 5};
  return model.forward({.ids = Packed(Tensor::from(ids, {5}), Offsets({5}))}, Context()).logits;
}

// A model of the family, saved, and its tensors.
class SavedDecoder {
 public:
  explicit SavedDecoder(const std::string& type) : model(small_config(type), HeadKind::causal_lm) {
    initialize(model, 3);
    save_model(model, folder.path());
    // Owned: the file is written again.
    for (const auto& [name, tensor] : TensorFiles(folder.path()).tensors())
      tensors.emplace(name, tensor.detached_clone());
  }
  void write() const { save_safetensors(folder.path() / "model.safetensors", tensors); }

  TempFolder folder;
  Model model;
  TensorMap tensors;
};

const std::map<std::string, std::vector<std::string>> kBuffers = {
    {"gpt2", {"transformer.h.#.attn.bias", "transformer.h.#.attn.masked_bias"}},
    {"gpt_neox",
     {"gpt_neox.layers.#.attention.bias", "gpt_neox.layers.#.attention.masked_bias",
      "gpt_neox.layers.#.attention.rotary_emb.inv_freq"}},
    {"llama", {"model.layers.#.self_attn.rotary_emb.inv_freq"}},
    {"mistral", {"model.layers.#.self_attn.rotary_emb.inv_freq"}}};

TEST(PublishedDecoders, BuffersOfOlderFilesAreLeft) {
  for (const auto& [type, buffers] : kBuffers) {
    SCOPED_TRACE(type);
    SavedDecoder saved(type);
    for (const std::string& buffer : buffers) {
      for (const char* layer : {"0", "1"}) {
        const std::size_t number = buffer.find('#');
        const Tensor values = buffer.ends_with(".masked_bias") ? Tensor::from(std::vector<float>{-1e4F}, Shape())
                                                               : Tensor::zeros({1, 1, 16, 16});
        saved.tensors.emplace(buffer.substr(0, number) + layer + buffer.substr(number + 1), values);
      }
    }
    saved.write();
    EXPECT_TRUE(same_bits(logits_of(*load_model(saved.folder.path())), logits_of(saved.model)));
    EXPECT_TRUE(same_bits(logits_of(*load_model(saved.folder.path(), {.storage = LoadOptions::Storage::as_stored})),
                          logits_of(saved.model)));
  }
}

// Without the prefix, as openai's gpt2 has its tensors, and masks of one byte each.
TEST(PublishedDecoders, Gpt2FilesWithoutPrefixAndWithMasksOfBytes) {
  SavedDecoder saved("gpt2");
  TensorMap bare;
  for (const auto& [name, values] : saved.tensors) {
    bare.emplace(name.substr(std::string("transformer.").size()), values);
  }
  bare.emplace("h.0.attn.bias", Tensor::zeros({1, 1, 4, 4}));
  saved.tensors = bare;
  saved.write();
  // The 64 bytes of these 16 numbers as those of 64.
  const fs::path file = saved.folder.path() / "model.safetensors";
  const std::string bytes = read_file(file, 1 << 24);
  const std::size_t header = std::min(bytes.find("{\"h.0.attn.bias"), bytes.find("\"h.0.attn.bias"));
  ASSERT_NE(header, std::string::npos);
  const std::size_t shape = bytes.find("[1,1,4,4]", header), type = bytes.find("\"F32\"", header);
  ASSERT_LT(std::max(shape, type), bytes.find('}', header));
  for (const std::string name : {"\"U8\" ", "\"BOOL\""}) {
    std::string written = bytes;
    written.replace(shape, 9, name.size() == 5 ? "[1,1,8,8]" : "[1,1,64]");
    written.replace(written.find("\"F32\"", header), 5, name);
    ASSERT_EQ(written.size(), bytes.size());
    replace_file(file, written);
    EXPECT_TRUE(same_bits(logits_of(*load_model(saved.folder.path())), logits_of(saved.model))) << name;
  }
}

TEST(PublishedDecoders, OtherTensorsAndBiasesThatMissAreStillErrors) {
  SavedDecoder saved("gpt2");
  const TensorMap all = saved.tensors;
  saved.tensors.erase("transformer.h.1.attn.c_attn.bias");
  saved.write();
  std::string message = error_of(ErrorKind::bad_format, [&] { load_model(saved.folder.path()); });
  EXPECT_NE(message.find("missing transformer.h.1.attn.c_attn.bias"), std::string::npos) << message;
  for (const char* name :
       {"transformer.h.0.attn.biases", "transformer.h.x.attn.bias", "transformer.h.0.mlp.bias",
        "transformer.h..attn.bias", "transformer.h.0.attn.bias.more", "x.transformer.h.0.attn.bias"}) {
    saved.tensors = all;
    saved.tensors.emplace(name, Tensor::zeros({4}));
    saved.write();
    message = error_of(ErrorKind::bad_format, [&] { load_model(saved.folder.path()); });
    EXPECT_NE(message.find(std::string("unknown ") + name), std::string::npos) << message;
  }
}

// The published OPT files leave out the first part of the prefix; so do OPTModel's own.
TEST(PublishedDecoders, OptFilesThatBeginWithDecoder) {
  const ModelConfig config = parse(R"({"model_type": "opt", "vocab_size": 20, "hidden_size": 8, "ffn_dim": 12,
      "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 16, "word_embed_proj_dim": 6})");
  Model model(config, HeadKind::causal_lm);
  initialize(model, 3);
  const TempFolder folder;
  save_model(model, folder.path());
  TensorMap bare;
  for (const auto& [name, tensor] : TensorFiles(folder.path()).tensors()) {
    ASSERT_TRUE(name.starts_with("model.decoder.")) << name;
    bare.emplace(name.substr(std::string("model.").size()), tensor.detached_clone());
  }
  save_safetensors(folder.path() / "model.safetensors", bare);
  EXPECT_TRUE(same_bits(logits_of(*load_model(folder.path())), logits_of(model)));

  Model headless(config, HeadKind::none);
  initialize(headless, 3);
  const TempFolder second;
  save_model(headless, second.path());
  for (const std::string& name : TensorFiles(second.path()).names()) EXPECT_TRUE(name.starts_with("decoder.")) << name;
  load_model(second.path());
}

}  // namespace
}  // namespace heed
