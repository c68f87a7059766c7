// GPT-2: trained positions, pre-norm, and matrices stored [in, out].
#include <cmath>

#include "heed/models/decoder.h"

namespace heed {
namespace {

std::vector<PublishedName> gpt2_names() {
  constexpr auto kTransposed = PublishedName::Layout::transposed;
  const std::string layer = "layer.#.", theirs = "h.#.";
  return {{"word", "wte"},
          {"position", "wpe"},
          {layer + "attention.query_key_value", theirs + "attn.c_attn", kTransposed},
          {layer + "attention.output", theirs + "attn.c_proj", kTransposed},
          {layer + "attention_norm", theirs + "ln_1"},
          {layer + "feed_forward.up", theirs + "mlp.c_fc", kTransposed},
          {layer + "feed_forward.down", theirs + "mlp.c_proj", kTransposed},
          {layer + "feed_forward_norm", theirs + "ln_2"},
          {"final_norm", "ln_f"}};
}

// The scores of the second layer are divided by 2, those of the third by 3 ...
void scale_by_layer(StackConfig& stack) {
  const AttentionConfig& attention = stack.block.attention;
  const double head_dim = static_cast<double>(attention.head_size(stack.block.hidden_size));
  const double scale = attention.scale.value_or(1 / std::sqrt(head_dim));
  for (std::int64_t i = 0; i < stack.layers; ++i) {
    stack.layer_variants.push_back({.scale = scale / static_cast<double>(i + 1)});
  }
}

void read_gpt2(ConfigReader& reader, ModelConfig& config) {
  DecoderConfig gpt;
  BlockConfig& block = gpt.stack.block;
  gpt.vocab_size = reader.size("vocab_size", 50257);
  block.hidden_size = reader.size("n_embd", 768, 1, 1 << 20);
  gpt.stack.layers = reader.size("n_layer", 12, 1, 10'000);
  block.attention.heads = reader.divisor("n_head", 12, "n_embd", block.hidden_size);
  const bool inner = !reader.get<Json>("n_inner", Json()).is_null();
  block.feed_forward.intermediate_size = inner ? reader.size("n_inner", 1) : 4 * block.hidden_size;
  block.feed_forward.activation = reader.activation("activation_function", "gelu_new");
  gpt.position_rows = gpt.max_tokens = reader.size("n_positions", 1024);
  block.norm.epsilon = reader.positive("layer_norm_epsilon", 1e-5);
  block.dropout = reader.probability("resid_pdrop", 0.1);
  block.attention.dropout = reader.probability("attn_pdrop", 0.1);
  gpt.embedding_dropout = reader.probability("embd_pdrop", 0.1);
  gpt.initializer_range = reader.positive("initializer_range", 0.02);
  gpt.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", true);
  if (!reader.get<bool>("scale_attn_weights", true)) block.attention.scale = 1;
  if (reader.get<bool>("scale_attn_by_inverse_layer_idx", false)) scale_by_layer(gpt.stack);
  // The same sums in another precision; of older files and of training programs.
  reader.harmless({"reorder_and_upcast_attn", "n_ctx", "n_special", "predict_special_tokens", "gradient_checkpointing",
                   "resid_dropout", "attention_dropout", "embed_dropout"});
  describe(config, gpt, gpt2_names(),
           {.hidden_size = "n_embd", .intermediate_size = "n_inner", .layers = "n_layer", .positions = "n_positions"});
}

}  // namespace

const ModelFamily& gpt2_family() {
  static const ModelFamily family{.model_type = "gpt2",
                                  .class_name = "GPT2",
                                  .prefix = "transformer.",
                                  .read = read_gpt2,
                                  .unused = {"transformer.h.#.attn.bias", "transformer.h.#.attn.masked_bias"},
                                  .lm_class = "GPT2LMHeadModel"};
  return family;
}

}  // namespace heed
