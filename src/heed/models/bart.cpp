// BART: post-norm, trained positions from the third row on, a norm of the embeddings.
#include "heed/models/bart.h"

#include <cmath>

namespace heed {

Seq2SeqConfig read_bart_fields(ConfigReader& reader, NormPlace norm_place, const BartSizes& sizes) {
  Seq2SeqConfig config;
  reader.only("is_encoder_decoder", true);
  config.vocab_size = config.source_vocab_size = reader.size("vocab_size", sizes.vocab_size);
  config.padding_id = reader.get<std::int64_t>("pad_token_id", sizes.padding_id);
  BlockConfig block{.hidden_size = reader.size("d_model", sizes.hidden_size, 4, 1 << 20)};
  block.feed_forward.activation = reader.activation("activation_function", sizes.activation);
  block.feed_forward.dropout = reader.probability("activation_dropout", 0);
  block.attention.dropout = reader.probability("attention_dropout", 0);
  block.dropout = config.embedding_dropout = reader.probability("dropout", 0.1);
  block.norm_place = norm_place;
  const auto read_half = [&](StackConfig& half, const std::string& name) {
    half.block = block;
    half.layers = reader.size(name + "_layers", sizes.layers, 1, 10'000);
    half.block.attention.heads = reader.divisor(name + "_attention_heads", sizes.heads, "d_model", block.hidden_size);
    half.block.feed_forward.intermediate_size = reader.size(name + "_ffn_dim", sizes.intermediate_size);
  };
  read_half(config.encoder, "encoder");
  read_half(config.decoder, "decoder");
  constexpr std::int64_t kMostPositions = 1 << 16;  // tables of sines are computed, whatever the files hold
  config.max_tokens = config.position_rows =
      reader.size("max_position_embeddings", sizes.max_tokens, 1, kMostPositions);
  if (reader.get<bool>("scale_embedding", false)) {
    config.embedding_scale = std::sqrt(static_cast<double>(block.hidden_size));
  }
  config.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", true);
  config.share_words = config.tie_word_embeddings;
  config.logits_bias = true;
  config.initializer_range = reader.positive("init_std", 0.02);
  // The encoder's layers again; layers left out in training, which heed does not do; and what converters wrote of a
  // family's shape, which HuggingFace takes from the model_type too.
  reader.harmless({"num_hidden_layers",
                   "encoder_layerdrop",
                   "decoder_layerdrop",
                   "classif_dropout",
                   "classifier_dropout",
                   "add_bias_logits",
                   "add_final_layer_norm",
                   "do_blenderbot_90_layernorm",
                   "extra_layer_norm",
                   "extra_pos_embeddings",
                   "force_bos_token_to_be_generated",
                   "layernorm_variant",
                   "normalize_before",
                   "normalize_embedding",
                   "kobart_version",
                   "replacing_rate",
                   "save_step",
                   "static_position_embeddings",
                   "student_decoder_layers",
                   "student_encoder_layers"});
  return config;
}

std::vector<PublishedName> bart_names(bool with_positions) {
  std::vector<PublishedName> names;
  for (const std::string half : {"encoder.", "decoder."}) {
    const std::string layer = half + "layer.#.", theirs = half + "layers.#.";
    if (with_positions) names.push_back({half + "position", half + "embed_positions"});
    names.insert(names.end(), {{half + "embedding_norm", half + "layernorm_embedding"},
                               {layer + "attention.query_key_value", theirs + "self_attn.{q_proj,k_proj,v_proj}"},
                               {layer + "attention.output", theirs + "self_attn.out_proj"},
                               {layer + "attention_norm", theirs + "self_attn_layer_norm"},
                               {layer + "feed_forward.up", theirs + "fc1"},
                               {layer + "feed_forward.down", theirs + "fc2"},
                               {layer + "feed_forward_norm", theirs + "final_layer_norm"},
                               {half + "final_norm", half + "layer_norm"}});
  }
  const std::string layer = "decoder.layer.#.cross_", theirs = "decoder.layers.#.encoder_attn";
  names.insert(names.end(), {{layer + "attention.query", theirs + ".q_proj"},
                             {layer + "attention.key", theirs + ".k_proj"},
                             {layer + "attention.value", theirs + ".v_proj"},
                             {layer + "attention.output", theirs + ".out_proj"},
                             {layer + "norm", theirs + "_layer_norm"}});
  return names;
}

void add_bart_classifier(ConfigReader& reader, ModelConfig& config) {
  config.decoder_start = reader.size("decoder_start_token_id", 2, 0, config.info.vocab_size - 1);
  config.heads.push_back(
      {.kind = HeadKind::sequence_classification,
       .input = HeadConfig::Input::last_token,
       .reads_itself = true,
       .dense_size = config.info.hidden_size,
       .activation = Activation::tanh,
       .dropout = reader.probability("classifier_dropout", 0),
       .dropout_before_dense = true,
       .names = {{"dense", "classification_head.dense"}, {"output", "classification_head.out_proj"}}});
}

namespace {

void read_bart(ConfigReader& reader, ModelConfig& config) {
  Seq2SeqConfig bart = read_bart_fields(reader, NormPlace::post);
  bart.positions = Seq2SeqConfig::Positions::trained;
  bart.position_offset = 2;
  bart.position_rows += bart.position_offset;
  bart.embedding_norm = true;
  describe(config, bart, bart_names());
  add_bart_classifier(reader, config);
}

}  // namespace

const ModelFamily& bart_family() {
  static const ModelFamily family{.model_type = "bart", .class_name = "Bart", .prefix = "model.", .read = read_bart};
  return family;
}

}  // namespace heed
