// OPT: trained positions that begin at the third row; the 350m one is post-norm and has narrower word vectors.
#include "heed/models/decoder.h"

namespace heed {
namespace {

constexpr std::int64_t kFirstRow = 2;

std::vector<PublishedName> opt_names() {
  const std::string layer = "layer.#.", theirs = "layers.#.";
  return {{"word", "embed_tokens"},
          {"position", "embed_positions"},
          {"projection_in", "project_in"},
          {"projection_out", "project_out"},
          {layer + "attention.query_key_value", theirs + "self_attn.{q_proj,k_proj,v_proj}"},
          {layer + "attention.output", theirs + "self_attn.out_proj"},
          {layer + "attention_norm", theirs + "self_attn_layer_norm"},
          {layer + "feed_forward.up", theirs + "fc1"},
          {layer + "feed_forward.down", theirs + "fc2"},
          {layer + "feed_forward_norm", theirs + "final_layer_norm"},
          {"final_norm", "final_layer_norm"}};
}

void read_opt(ConfigReader& reader, ModelConfig& config) {
  DecoderConfig opt;
  BlockConfig& block = opt.stack.block;
  opt.vocab_size = reader.size("vocab_size", 50272);
  block.hidden_size = reader.size("hidden_size", 768, 1, 1 << 20);
  const std::int64_t words = reader.size("word_embed_proj_dim", block.hidden_size, 1, 1 << 20);
  if (words != block.hidden_size) opt.embedding_size = words;
  opt.stack.layers = reader.size("num_hidden_layers", 12, 1, 10'000);
  block.attention.heads = reader.divisor("num_attention_heads", 12, "hidden_size", block.hidden_size);
  block.feed_forward.intermediate_size = reader.size("ffn_dim", 3072);
  block.feed_forward.activation = reader.activation("activation_function", "relu");
  opt.max_tokens = reader.size("max_position_embeddings", 2048);
  opt.position_rows = opt.max_tokens + kFirstRow;
  opt.position_offset = kFirstRow;
  block.dropout = reader.probability("dropout", 0.1);
  block.attention.dropout = reader.probability("attention_dropout", 0);
  opt.initializer_range = reader.positive("init_std", 0.02);
  opt.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", true);
  block.norm_place = reader.get<bool>("do_layer_norm_before", true) ? NormPlace::pre : NormPlace::post;
  const bool bias = reader.get<bool>("enable_bias", true);
  AttentionConfig& attention = block.attention;
  attention.query_bias = attention.key_bias = attention.value_bias = attention.output_bias = bias;
  block.feed_forward.bias = bias;
  reader.only("layer_norm_elementwise_affine", true);
  reader.only("_remove_final_layer_norm", false);
  reader.harmless({"layerdrop", "activation_dropout"});  // of training alone
  describe(config, opt, opt_names(), {.intermediate_size = "ffn_dim"});
}

}  // namespace

const ModelFamily& opt_family() {
  static const ModelFamily family{.model_type = "opt",
                                  .class_name = "OPT",
                                  .prefix = "model.decoder.",
                                  .read = read_opt,
                                  .bare_prefix = "decoder."};
  return family;
}

}  // namespace heed
