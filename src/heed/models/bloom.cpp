// BLOOM: no positions but ALiBi's, and a norm of the word vectors.
#include "heed/models/decoder.h"

namespace heed {
namespace {

std::vector<PublishedName> bloom_names() {
  const std::string layer = "layer.#.", theirs = "h.#.";
  return {
      {"word", "word_embeddings"},
      {"embedding_norm", "word_embeddings_layernorm"},
      {layer + "attention.query_key_value", theirs + "self_attention.query_key_value", PublishedName::Layout::by_head},
      {layer + "attention.output", theirs + "self_attention.dense"},
      {layer + "attention_norm", theirs + "input_layernorm"},
      {layer + "feed_forward.up", theirs + "mlp.dense_h_to_4h"},
      {layer + "feed_forward.down", theirs + "mlp.dense_4h_to_h"},
      {layer + "feed_forward_norm", theirs + "post_attention_layernorm"},
      {"final_norm", "ln_f"}};
}

void read_bloom(ConfigReader& reader, ModelConfig& config) {
  // Distances have no end; the limit is that of the published training.
  DecoderConfig bloom{.alibi = true};
  BlockConfig& block = bloom.stack.block;
  bloom.vocab_size = reader.size("vocab_size", 250880);
  // Older files say n_embed, layers and heads by other names.
  const std::int64_t older_size = reader.size("n_embed", 64, 1, 1 << 20);
  block.hidden_size = reader.size("hidden_size", older_size, 1, 1 << 20);
  const std::int64_t older_heads = reader.size("num_attention_heads", 8, 1, 1 << 16);
  bloom.stack.layers = reader.size("n_layer", reader.size("num_hidden_layers", 2, 1, 10'000), 1, 10'000);
  block.attention.heads = reader.divisor("n_head", older_heads, "hidden_size", block.hidden_size);
  block.feed_forward.intermediate_size = 4 * block.hidden_size;
  block.feed_forward.activation = Activation::gelu_tanh;
  bloom.max_tokens = reader.size("seq_length", 2048);
  block.norm.epsilon = reader.positive("layer_norm_epsilon", 1e-5);
  bloom.embedding_norm = block.norm;
  block.dropout = reader.probability("hidden_dropout", 0);
  block.attention.dropout = reader.probability("attention_dropout", 0);
  bloom.initializer_range = reader.positive("initializer_range", 0.02);
  bloom.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", true);
  reader.only("apply_residual_connection_post_layernorm", false);
  // How it was trained, and other orders of the same sums.
  reader.harmless({"pretraining_tp", "slow_but_exact", "attention_softmax_in_fp32", "bias_dropout_fusion",
                   "masked_softmax_fusion", "offset_alibi", "unk_token_id", "skip_bias_add", "skip_bias_add_qkv",
                   "n_inner"});
  describe(config, bloom, bloom_names(),
           {.intermediate_size = "hidden_size", .layers = "n_layer", .positions = "seq_length"});
}

}  // namespace

const ModelFamily& bloom_family() {
  static const ModelFamily family{
      .model_type = "bloom", .class_name = "Bloom", .prefix = "transformer.", .read = read_bloom};
  return family;
}

}  // namespace heed
