// LLaMA 1 to 3, TinyLlama, SmolLM and others of their shape; Mistral, whose queries see a window of the last tokens.
#include "heed/models/llama.h"

#include "heed/models/rope.h"

namespace heed {

void read_llama_fields(ConfigReader& reader, DecoderConfig& config) {
  BlockConfig& block = config.stack.block;
  AttentionConfig& attention = block.attention;
  config.vocab_size = reader.size("vocab_size", config.vocab_size);
  block.hidden_size = reader.size("hidden_size", block.hidden_size, 1, 1 << 20);
  block.feed_forward.intermediate_size = reader.size("intermediate_size", block.feed_forward.intermediate_size);
  config.stack.layers = reader.size("num_hidden_layers", config.stack.layers, 1, 10'000);
  attention.heads = reader.size("num_attention_heads", attention.heads, 1, 1 << 16);
  const bool grouped = attention.key_heads > 0 && !reader.is_null("num_key_value_heads");
  const std::int64_t key_heads = grouped ? std::min(attention.key_heads, attention.heads) : attention.heads;
  attention.key_heads = reader.divisor("num_key_value_heads", key_heads, "num_attention_heads", attention.heads);
  // Without it the heads divide the hidden size.
  attention.head_dim = reader.size("head_dim", attention.head_dim, 0, 1 << 16);
  if (attention.head_dim == 0) {
    static_cast<void>(reader.divisor("num_attention_heads", attention.heads, "hidden_size", block.hidden_size));
    attention.head_dim = block.hidden_size / attention.heads;
  }
  config.max_tokens = reader.size("max_position_embeddings", config.max_tokens);
  block.norm.kind = NormKind::rms;
  block.norm.epsilon = reader.positive("rms_norm_eps", block.norm.epsilon);
  attention.dropout = reader.probability("attention_dropout", 0);
  config.initializer_range = reader.positive("initializer_range", config.initializer_range);
  config.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", config.tie_word_embeddings);
  block.feed_forward.gated = true;
  block.feed_forward.bias = false;
  attention.query_bias = attention.key_bias = attention.value_bias = attention.output_bias = false;
}

std::vector<PublishedName> llama_names(const DecoderConfig& config) {
  const AttentionConfig& attention = config.stack.block.attention;
  const std::string layer = "layer.#.", theirs = "layers.#.";
  return {{"word", "embed_tokens"},
          {layer + "attention.query_key_value",
           theirs + "self_attn.{q_proj,k_proj,v_proj}",
           PublishedName::Layout::same,
           {attention.heads, attention.key_head_count(), attention.key_head_count()}},
          {layer + "attention.output", theirs + "self_attn.o_proj"},
          {layer + "attention.query_norm", theirs + "self_attn.q_norm"},
          {layer + "attention.key_norm", theirs + "self_attn.k_norm"},
          {layer + "attention_norm", theirs + "input_layernorm"},
          {layer + "feed_forward.gate_up", theirs + "mlp.{gate_proj,up_proj}"},
          {layer + "feed_forward.down", theirs + "mlp.down_proj"},
          {layer + "feed_forward_norm", theirs + "post_attention_layernorm"},
          {"final_norm", "norm"}};
}

namespace {

DecoderConfig llama_defaults(std::int64_t vocab_size, std::int64_t intermediate_size, std::int64_t max_tokens) {
  DecoderConfig config{.vocab_size = vocab_size, .max_tokens = max_tokens, .tie_word_embeddings = false};
  config.stack = {.block = {.hidden_size = 4096,
                            .attention = {.heads = 32},
                            .feed_forward = {.intermediate_size = intermediate_size, .activation = Activation::silu},
                            .norm = {.kind = NormKind::rms, .epsilon = 1e-6}},
                  .layers = 32};
  return config;
}

void read_llama(ConfigReader& reader, ModelConfig& config) {
  DecoderConfig llama = llama_defaults(32000, 11008, 2048);
  read_llama_fields(reader, llama);
  AttentionConfig& attention = llama.stack.block.attention;
  llama.stack.block.feed_forward.activation = reader.activation("hidden_act", "silu");
  attention.query_bias = attention.key_bias = attention.value_bias = attention.output_bias =
      reader.get<bool>("attention_bias", false);
  llama.stack.block.feed_forward.bias = reader.get<bool>("mlp_bias", false);
  attention.rotary = read_rope(reader, {.head_dim = attention.head_dim, .max_positions = llama.max_tokens});
  reader.harmless({"pretraining_tp", "rope_interleaved", "is_llama_config", "max_sequence_length"});
  describe(config, llama, llama_names(llama));
}

void read_mistral(ConfigReader& reader, ModelConfig& config) {
  DecoderConfig mistral = llama_defaults(32000, 14336, 4096 * 32);
  mistral.stack.block.attention.key_heads = 8;
  read_llama_fields(reader, mistral);
  mistral.stack.block.feed_forward.activation = reader.activation("hidden_act", "silu");
  mistral.stack.block.attention.rotary =
      read_rope(reader, {.head_dim = mistral.stack.block.attention.head_dim, .max_positions = mistral.max_tokens});
  // null: none; absent: that of the first release.
  const std::int64_t window = reader.size("sliding_window", 4096);
  if (!reader.is_null("sliding_window")) {
    mistral.stack.layer_variants.assign(static_cast<std::size_t>(mistral.stack.layers), {.window = window});
  }
  describe(config, mistral, llama_names(mistral));
}

}  // namespace

const ModelFamily& llama_family() {
  static const ModelFamily family{.model_type = "llama",
                                  .class_name = "Llama",
                                  .prefix = "model.",
                                  .read = read_llama,
                                  .unused = {"model.rotary_emb.", "model.layers.#.self_attn.rotary_emb.inv_freq"}};
  return family;
}

const ModelFamily& mistral_family() {
  static const ModelFamily family{.model_type = "mistral",
                                  .class_name = "Mistral",
                                  .prefix = "model.",
                                  .read = read_mistral,
                                  .unused = {"model.layers.#.self_attn.rotary_emb.inv_freq"}};
  return family;
}

}  // namespace heed
