// Qwen2 (and 2.5), whose queries, keys and values have biases, and Qwen3, which norms them instead.
#include "heed/models/llama.h"
#include "heed/models/rope.h"

namespace heed {
namespace {

// Layers from max_window_layers on see a window, if there is one; newer files list the layers' types.
void read_windows(ConfigReader& reader, DecoderConfig& config) {
  const std::int64_t layers = config.stack.layers;
  const bool windowed = reader.get<bool>("use_sliding_window", false);
  const std::int64_t first = reader.size("max_window_layers", 28, 0, 10'000);
  const auto types = reader.get<std::vector<std::string>>("layer_types", {});
  if (!types.empty() && std::ssize(types) != layers) {
    reader.refuse("layer_types", std::to_string(types.size()) + " types", std::to_string(layers));
  }
  reader.harmless({"sliding_window"});
  if (!windowed || reader.is_null("sliding_window")) return;
  const std::int64_t window = reader.size("sliding_window", 4096);
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool own = types.empty() ? i >= first : types[static_cast<std::size_t>(i)] == "sliding_attention";
    config.stack.layer_variants.push_back({.window = own ? window : 0});
  }
}

DecoderConfig read_qwen(ConfigReader& reader, std::int64_t head_dim) {
  DecoderConfig qwen{.vocab_size = 151936, .max_tokens = 32768, .tie_word_embeddings = false};
  qwen.stack = {.block = {.hidden_size = 4096,
                          .attention = {.heads = 32, .key_heads = 32, .head_dim = head_dim},
                          .feed_forward = {.intermediate_size = 22016},
                          .norm = {.kind = NormKind::rms, .epsilon = 1e-6}},
                .layers = 32};
  read_llama_fields(reader, qwen);
  AttentionConfig& attention = qwen.stack.block.attention;
  qwen.stack.block.feed_forward.activation = reader.activation("hidden_act", "silu");
  attention.rotary = read_rope(reader, {.head_dim = attention.head_dim, .max_positions = qwen.max_tokens});
  read_windows(reader, qwen);
  return qwen;
}

void read_qwen2(ConfigReader& reader, ModelConfig& config) {
  DecoderConfig qwen = read_qwen(reader, 0);
  AttentionConfig& attention = qwen.stack.block.attention;
  attention.query_bias = attention.key_bias = attention.value_bias = true;
  reader.only("use_mrope", false);  // positions in pictures
  describe(config, qwen, llama_names(qwen));
}

void read_qwen3(ConfigReader& reader, ModelConfig& config) {
  DecoderConfig qwen = read_qwen(reader, 128);
  AttentionConfig& attention = qwen.stack.block.attention;
  attention.query_bias = attention.key_bias = attention.value_bias = attention.output_bias =
      reader.get<bool>("attention_bias", false);
  attention.query_key_norm = qwen.stack.block.norm;
  describe(config, qwen, llama_names(qwen));
}

}  // namespace

const ModelFamily& qwen2_family() {
  static const ModelFamily family{.model_type = "qwen2", .class_name = "Qwen2", .prefix = "model.", .read = read_qwen2};
  return family;
}

const ModelFamily& qwen3_family() {
  static const ModelFamily family{.model_type = "qwen3", .class_name = "Qwen3", .prefix = "model.", .read = read_qwen3};
  return family;
}

}  // namespace heed
