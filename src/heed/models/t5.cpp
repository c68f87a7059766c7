// T5, mT5 and UMT5: RMS norm before each part, no biases, scores that are not scaled, and a bias of them by distance,
// which all layers share, or in UMT5 each layer has for itself.
#include <cmath>

#include "heed/models/seq2seq.h"

namespace heed {
namespace {

std::vector<PublishedName> t5_names() {
  std::vector<PublishedName> names;
  for (const std::string half : {"encoder.", "decoder."}) {
    const bool of_decoder = half == "decoder.";
    const std::string layer = half + "layer.#.", theirs = half + "block.#.layer.";
    const std::string last = theirs + (of_decoder ? "2." : "1."), inner = last + "DenseReluDense.";
    names.insert(names.end(),
                 {{layer + "attention.query_key_value", theirs + "0.SelfAttention.{q,k,v}"},
                  {layer + "attention.output", theirs + "0.SelfAttention.o"},
                  {layer + "attention.distance_bias", theirs + "0.SelfAttention.relative_attention_bias.weight"},
                  {layer + "attention_norm", theirs + "0.layer_norm"},
                  {layer + "feed_forward.up", inner + "wi"},
                  {layer + "feed_forward.gate_up", inner + "{wi_0,wi_1}"},
                  {layer + "feed_forward.down", inner + "wo"},
                  {layer + "feed_forward_norm", last + "layer_norm"},
                  {half + "final_norm", half + "final_layer_norm"}});
    if (!of_decoder) continue;
    for (const auto& [ours, part] : {std::pair("query", "q"), {"key", "k"}, {"value", "v"}, {"output", "o"}}) {
      names.push_back({layer + "cross_attention." + ours, theirs + "1.EncDecAttention." + part});
    }
    names.push_back({layer + "cross_norm", theirs + "1.layer_norm"});
  }
  return names;
}

// "relu", or "gated-gelu".
void read_feed_forward(ConfigReader& reader, FeedForwardConfig& feed_forward, const char* fallback) {
  const std::string name = reader.get<std::string>("feed_forward_proj", fallback);
  constexpr std::string_view kGated = "gated-";
  feed_forward.gated = name.starts_with(kGated);
  feed_forward.bias = false;
  feed_forward.activation = reader.choice<Activation>("feed_forward_proj", fallback,
                                                      {{"relu", Activation::relu},
                                                       {"gelu", Activation::gelu},
                                                       {"gelu_new", Activation::gelu_tanh},
                                                       {"silu", Activation::silu},
                                                       {"gated-gelu", Activation::gelu_tanh},  // by HuggingFace's rule
                                                       {"gated-gelu_new", Activation::gelu_tanh},
                                                       {"gated-relu", Activation::relu},
                                                       {"gated-silu", Activation::silu}});
}

// What the three differ by, where config.json does not say.
struct T5Variant {
  std::int64_t vocab_size = 32128, layers = 6, heads = 8, intermediate_size = 2048;
  const char* feed_forward = "relu";
  bool shares_bias = true;
  bool scales_output = true;  // if the output is tied to the table of words
};

void read_t5_like(ConfigReader& reader, ModelConfig& config, const T5Variant& variant) {
  Seq2SeqConfig t5;
  reader.only("is_encoder_decoder", true);
  t5.vocab_size = t5.source_vocab_size = reader.size("vocab_size", variant.vocab_size);
  BlockConfig block{.hidden_size = reader.size("d_model", 512, 1, 1 << 20)};
  AttentionConfig& attention = block.attention;
  attention.heads = reader.size("num_heads", variant.heads, 1, 1 << 16);
  attention.head_dim = reader.size("d_kv", 64, 1, 1 << 16);
  attention.query_bias = attention.key_bias = attention.value_bias = attention.output_bias = false;
  attention.scale = 1;
  attention.distance_buckets = reader.size("relative_attention_num_buckets", 32, 2, 4096);
  attention.bucket_options.max_distance = reader.size("relative_attention_max_distance", 128);
  const std::int64_t reach = attention.bucket_options.max_distance;
  if (attention.distance_buckets % 2 != 0 || reach <= attention.distance_buckets / 2) {
    reader.refuse("relative_attention_num_buckets", std::to_string(attention.distance_buckets),
                  "an even number, less than twice relative_attention_max_distance, " + std::to_string(reach));
  }
  block.feed_forward.intermediate_size = reader.size("d_ff", variant.intermediate_size);
  read_feed_forward(reader, block.feed_forward, variant.feed_forward);
  block.norm = {.kind = NormKind::rms, .epsilon = reader.positive("layer_norm_epsilon", 1e-6)};
  const double dropout = reader.probability("dropout_rate", 0.1);
  block.dropout = block.attention.dropout = block.feed_forward.dropout = dropout;
  t5.embedding_dropout = t5.output_dropout = dropout;
  t5.encoder = {.block = block,
                .layers = reader.size("num_layers", variant.layers, 1, 10'000),
                .tie_position_biases = variant.shares_bias};
  t5.decoder = t5.encoder;
  t5.decoder.layers = reader.size("num_decoder_layers", t5.encoder.layers, 1, 10'000);
  t5.decoder.block.attention.bucket_options.bidirectional = false;
  t5.max_tokens = kAnyLength;
  // The halves always share their words. Whether the output does is a matter of the files too (models/load.h); what
  // config.json says of it was, before there was a field for that, whether the output is scaled.
  t5.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", true);
  const bool scales = variant.scales_output && t5.tie_word_embeddings;
  if (reader.get<bool>("scale_decoder_outputs", scales)) {
    t5.output_scale = 1 / std::sqrt(static_cast<double>(block.hidden_size));
  }
  t5.initializer_range = reader.positive("initializer_factor", 1);
  reader.harmless({"classifier_dropout", "dense_act_fn", "is_gated_act", "n_positions", "scalable_attention"});
  describe(config, t5, t5_names(),
           {.encoder_layers = "num_layers",
            .decoder_layers = "num_decoder_layers",
            .encoder_intermediate_size = "d_ff",
            .decoder_intermediate_size = "d_ff"});
}

void read_t5(ConfigReader& reader, ModelConfig& config) {
  read_t5_like(reader, config, {});
}

constexpr T5Variant kMultilingual{.vocab_size = 250112,
                                  .layers = 8,
                                  .heads = 6,
                                  .intermediate_size = 1024,
                                  .feed_forward = "gated-gelu",
                                  .scales_output = false};

void read_mt5(ConfigReader& reader, ModelConfig& config) {
  read_t5_like(reader, config, kMultilingual);
}

void read_umt5(ConfigReader& reader, ModelConfig& config) {
  T5Variant variant = kMultilingual;
  variant.shares_bias = false;
  read_t5_like(reader, config, variant);
}

// Of the first release: a table that cross-attention had and did not need.
constexpr const char* kUnusedBias = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight";

}  // namespace

const ModelFamily& t5_family() {
  static const ModelFamily family{
      .model_type = "t5", .class_name = "T5", .prefix = "", .read = read_t5, .unused = {kUnusedBias}};
  return family;
}

const ModelFamily& mt5_family() {
  static const ModelFamily family{
      .model_type = "mt5", .class_name = "MT5", .prefix = "", .read = read_mt5, .unused = {kUnusedBias}};
  return family;
}

const ModelFamily& umt5_family() {
  static const ModelFamily family{.model_type = "umt5", .class_name = "UMT5", .prefix = "", .read = read_umt5};
  return family;
}

}  // namespace heed
