// Phi-3, 3.5 and 4: LLaMA's blocks with fused projections and factors per pair of rotary positions.
#include "heed/models/llama.h"
#include "heed/models/rope.h"

namespace heed {
namespace {

std::vector<PublishedName> phi3_names() {
  const std::string layer = "layer.#.", theirs = "layers.#.";
  return {{"word", "embed_tokens"},
          {layer + "attention.query_key_value", theirs + "self_attn.qkv_proj"},
          {layer + "attention.output", theirs + "self_attn.o_proj"},
          {layer + "attention_norm", theirs + "input_layernorm"},
          {layer + "feed_forward.gate_up", theirs + "mlp.gate_up_proj"},
          {layer + "feed_forward.down", theirs + "mlp.down_proj"},
          {layer + "feed_forward_norm", theirs + "post_attention_layernorm"},
          {"final_norm", "norm"}};
}

void read_phi3(ConfigReader& reader, ModelConfig& config) {
  DecoderConfig phi{.vocab_size = 32064, .max_tokens = 4096, .tie_word_embeddings = false};
  phi.stack = {.block = {.hidden_size = 3072,
                         .attention = {.heads = 32},
                         .feed_forward = {.intermediate_size = 8192},
                         .norm = {.kind = NormKind::rms, .epsilon = 1e-5}},
               .layers = 32};
  read_llama_fields(reader, phi);
  BlockConfig& block = phi.stack.block;
  block.feed_forward.activation = reader.activation("hidden_act", "silu");
  block.dropout = reader.probability("resid_pdrop", 0);
  phi.embedding_dropout = reader.probability("embd_pdrop", 0);
  block.attention.rotary = read_rope(reader, {.head_dim = block.attention.head_dim, .max_positions = phi.max_tokens});
  if (!reader.get<Json>("sliding_window", Json()).is_null()) {
    const std::int64_t window = reader.size("sliding_window", 4096);
    phi.stack.layer_variants.assign(static_cast<std::size_t>(phi.stack.layers), {.window = window});
  }
  // Of Phi-4-mini's own code; with these values it is the same model.
  for (const char* bias : {"attention_bias", "mlp_bias", "lm_head_bias"}) reader.only(bias, false);
  reader.only("full_attn_mod", 1);
  reader.only("interpolate_factor", 1);
  describe(config, phi, phi3_names());
}

}  // namespace

const ModelFamily& phi3_family() {
  static const ModelFamily family{.model_type = "phi3", .class_name = "Phi3", .prefix = "model.", .read = read_phi3};
  return family;
}

}  // namespace heed
