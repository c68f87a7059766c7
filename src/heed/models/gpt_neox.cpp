// GPT-NeoX and Pythia: rotary positions for a part of each head, attention and feed-forward side by side.
#include "heed/models/decoder.h"
#include "heed/models/rope.h"

namespace heed {
namespace {

std::vector<PublishedName> gpt_neox_names() {
  const std::string layer = "layer.#.", theirs = "layers.#.";
  return {{"word", "embed_in"},
          {layer + "attention.query_key_value", theirs + "attention.query_key_value", PublishedName::Layout::by_head},
          {layer + "attention.output", theirs + "attention.dense"},
          {layer + "attention_norm", theirs + "input_layernorm"},
          {layer + "feed_forward.up", theirs + "mlp.dense_h_to_4h"},
          {layer + "feed_forward.down", theirs + "mlp.dense_4h_to_h"},
          {layer + "feed_forward_norm", theirs + "post_attention_layernorm"},
          {"final_norm", "final_layer_norm"}};
}

void read_gpt_neox(ConfigReader& reader, ModelConfig& config) {
  DecoderConfig neox;
  BlockConfig& block = neox.stack.block;
  AttentionConfig& attention = block.attention;
  neox.vocab_size = reader.size("vocab_size", 50432);
  block.hidden_size = reader.size("hidden_size", 6144, 1, 1 << 20);
  neox.stack.layers = reader.size("num_hidden_layers", 44, 1, 10'000);
  attention.heads = reader.divisor("num_attention_heads", 64, "hidden_size", block.hidden_size);
  attention.head_dim = block.hidden_size / attention.heads;
  block.feed_forward.intermediate_size = reader.size("intermediate_size", 24576);
  block.feed_forward.activation = reader.activation("hidden_act", "gelu");
  neox.max_tokens = reader.size("max_position_embeddings", 2048);
  block.norm.epsilon = reader.positive("layer_norm_eps", 1e-5);
  block.dropout = reader.probability("hidden_dropout", 0);
  neox.embedding_dropout = block.dropout;
  attention.dropout = reader.probability("attention_dropout", 0);
  attention.query_bias = attention.key_bias = attention.value_bias = attention.output_bias =
      reader.get<bool>("attention_bias", true);
  block.parallel = reader.get<bool>("use_parallel_residual", true);
  attention.rotary = read_rope(reader, {.head_dim = attention.head_dim,
                                        .max_positions = neox.max_tokens,
                                        .theta = reader.positive("rotary_emb_base", 10000),
                                        .partial = reader.positive("rotary_pct", 0.25)});
  neox.initializer_range = reader.positive("initializer_range", 0.02);
  neox.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", false);
  // Of a head for token labels; a name of the first release that nothing reads.
  reader.harmless({"classifier_dropout", "attention_probs_dropout_prob", "hidden_dropout_prob"});
  describe(config, neox, gpt_neox_names());
  config.heads[0].names = {{"output", "embed_out"}};
  config.heads[0].copies = {{"", "embed_out.weight"}};
}

}  // namespace

const ModelFamily& gpt_neox_family() {
  static const ModelFamily family{
      .model_type = "gpt_neox",
      .class_name = "GPTNeoX",
      .prefix = "gpt_neox.",
      .read = read_gpt_neox,
      .unused = {"gpt_neox.layers.#.attention.bias", "gpt_neox.layers.#.attention.masked_bias",
                 "gpt_neox.layers.#.attention.rotary_emb.inv_freq"}};
  return family;
}

}  // namespace heed
