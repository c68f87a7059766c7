// Gemma: scaled word vectors and norms whose factors are 1 + weight. Gemma 2 adds norms after each part, soft caps and
// windows in every other layer; Gemma 3 norms queries and keys, and its windowed layers turn by a base of their own.
#include <cmath>

#include "heed/models/llama.h"
#include "heed/models/rope.h"

namespace heed {
namespace {

struct GemmaSizes {
  std::int64_t vocab_size, hidden_size, intermediate_size, layers, heads, key_heads, max_tokens;
};

DecoderConfig read_gemma_fields(ConfigReader& reader, const GemmaSizes& sizes) {
  DecoderConfig gemma{.vocab_size = sizes.vocab_size, .max_tokens = sizes.max_tokens};
  gemma.stack = {.block = {.hidden_size = sizes.hidden_size,
                           .attention = {.heads = sizes.heads, .key_heads = sizes.key_heads, .head_dim = 256},
                           .feed_forward = {.intermediate_size = sizes.intermediate_size},
                           .norm = {.kind = NormKind::rms, .epsilon = 1e-6, .plus_one = true}},
                 .layers = sizes.layers};
  read_llama_fields(reader, gemma);
  AttentionConfig& attention = gemma.stack.block.attention;
  attention.query_bias = attention.key_bias = attention.value_bias = attention.output_bias =
      reader.get<bool>("attention_bias", false);
  // The published code rounds it to the type of the weights; for f32 that is this.
  gemma.embedding_scale = static_cast<double>(static_cast<float>(std::sqrt(static_cast<double>(gemma.hidden_size()))));
  return gemma;
}

// Names the activation once as hidden_act, once as hidden_activation; the latter counts.
void read_activation(ConfigReader& reader, DecoderConfig& gemma) {
  const bool newer = !reader.get<Json>("hidden_activation", Json()).is_null();
  reader.harmless({"hidden_act"});
  gemma.stack.block.feed_forward.activation =
      newer ? reader.activation("hidden_activation", "gelu_pytorch_tanh") : Activation::gelu_tanh;
}

void read_gemma(ConfigReader& reader, ModelConfig& config) {
  DecoderConfig gemma = read_gemma_fields(reader, {256000, 3072, 24576, 28, 16, 16, 8192});
  read_activation(reader, gemma);
  AttentionConfig& attention = gemma.stack.block.attention;
  attention.rotary = read_rope(reader, {.head_dim = attention.head_dim, .max_positions = gemma.max_tokens});
  reader.only("use_bidirectional_attention", Json());
  describe(config, gemma, llama_names(gemma));
}

// What Gemma 2 and 3 share: four norms per block, windows in some layers, soft caps.
std::vector<PublishedName> sandwich_names(const DecoderConfig& config) {
  std::vector<PublishedName> names = llama_names(config);
  std::erase_if(names, [](const PublishedName& name) { return name.ours == "layer.#.feed_forward_norm"; });
  const std::string layer = "layer.#.", theirs = "layers.#.";
  names.push_back({layer + "attention_norm_after", theirs + "post_attention_layernorm"});
  names.push_back({layer + "feed_forward_norm", theirs + "pre_feedforward_layernorm"});
  names.push_back({layer + "feed_forward_norm_after", theirs + "post_feedforward_layernorm"});
  return names;
}

double read_cap(ConfigReader& reader, const std::string& field, std::optional<double> fallback) {
  const Json value = reader.get<Json>(field, fallback ? Json(*fallback) : Json());
  return value.is_null() ? 0 : reader.positive(field, fallback.value_or(1));
}

// Layer i is windowed unless (i + 1) is a multiple of `pattern`, or as layer_types says.
std::vector<bool> windowed_layers(ConfigReader& reader, const DecoderConfig& gemma, std::int64_t pattern) {
  const auto types = reader.get<std::vector<std::string>>("layer_types", {});
  if (!types.empty() && std::ssize(types) != gemma.stack.layers) {
    reader.refuse("layer_types", std::to_string(types.size()) + " types", std::to_string(gemma.stack.layers));
  }
  std::vector<bool> windowed;
  for (std::int64_t i = 0; i < gemma.stack.layers; ++i) {
    windowed.push_back(types.empty() ? (i + 1) % pattern != 0
                                     : types[static_cast<std::size_t>(i)] == "sliding_attention");
  }
  return windowed;
}

void read_scale(ConfigReader& reader, DecoderConfig& gemma) {
  gemma.stack.block.norm_place = NormPlace::sandwich;
  gemma.stack.block.attention.scale = 1 / std::sqrt(reader.positive("query_pre_attn_scalar", 256));
}

void read_gemma2(ConfigReader& reader, ModelConfig& config) {
  DecoderConfig gemma = read_gemma_fields(reader, {256000, 2304, 9216, 26, 8, 4, 8192});
  read_activation(reader, gemma);
  read_scale(reader, gemma);
  AttentionConfig& attention = gemma.stack.block.attention;
  attention.rotary = read_rope(reader, {.head_dim = attention.head_dim, .max_positions = gemma.max_tokens});
  const std::int64_t window = reader.size("sliding_window", 4096);
  for (const bool windowed : windowed_layers(reader, gemma, 2)) {
    gemma.stack.layer_variants.push_back({.window = windowed ? window : 0});
  }
  gemma.score_cap = read_cap(reader, "attn_logit_softcapping", 50);
  reader.harmless({"cache_implementation", "sliding_window_size"});
  reader.only("use_bidirectional_attention", Json());
  describe(config, gemma, sandwich_names(gemma), {}, read_cap(reader, "final_logit_softcapping", 30));
}

void read_gemma3(ConfigReader& reader, ModelConfig& config) {
  DecoderConfig gemma = read_gemma_fields(reader, {262208, 2304, 9216, 26, 8, 4, 131072});
  read_activation(reader, gemma);
  read_scale(reader, gemma);
  AttentionConfig& attention = gemma.stack.block.attention;
  attention.query_key_norm = gemma.stack.block.norm;
  RopeDefaults defaults{.head_dim = attention.head_dim, .max_positions = gemma.max_tokens, .theta = 1e6};
  attention.rotary = read_rope(reader, defaults, "full_attention");
  RotaryOptions local = read_rope(reader, defaults, "sliding_attention");
  const double local_base = reader.positive("rope_local_base_freq", 10000);
  if (reader.get<Json>("rope_parameters", Json()).is_null()) local.base = local_base;
  const std::int64_t window = reader.size("sliding_window", 4096);
  const std::int64_t older = reader.size("_sliding_window_pattern", 6, 1, 10'000);
  const std::int64_t pattern = reader.size("sliding_window_pattern", older, 1, 10'000);
  for (const bool windowed : windowed_layers(reader, gemma, pattern)) {
    gemma.stack.layer_variants.push_back(windowed ? LayerVariant{.window = window, .rotary = local} : LayerVariant{});
  }
  gemma.score_cap = read_cap(reader, "attn_logit_softcapping", {});
  reader.harmless({"cache_implementation"});
  reader.only("use_bidirectional_attention", false);
  describe(config, gemma, sandwich_names(gemma), {}, read_cap(reader, "final_logit_softcapping", {}));
}

}  // namespace

const ModelFamily& gemma_family() {
  static const ModelFamily family{.model_type = "gemma", .class_name = "Gemma", .prefix = "model.", .read = read_gemma};
  return family;
}

const ModelFamily& gemma2_family() {
  static const ModelFamily family{
      .model_type = "gemma2", .class_name = "Gemma2", .prefix = "model.", .read = read_gemma2};
  return family;
}

const ModelFamily& gemma3_family() {
  static const ModelFamily family{
      .model_type = "gemma3_text", .class_name = "Gemma3", .prefix = "model.", .read = read_gemma3};
  return family;
}

}  // namespace heed
