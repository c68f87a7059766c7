// ALBERT: layers that share their weights, and word vectors narrower than the layers.
#include "heed/models/encoder_family.h"

namespace heed {
namespace {

EncoderConfig read_albert(ConfigReader& reader) {
  EncoderConfig config{.vocabulary = 30000, .width = 4096, .heads = 64, .inner = 16384, .positions = 512, .layers = 12};
  read_common_fields(reader, config);
  config.embedding_width = reader.size("embedding_size", 128, 1, 1 << 20);
  config.always_projected = true;
  config.types = reader.size("type_vocab_size", 2, 0);
  config.groups = reader.size("num_hidden_groups", 1, 1, config.layers);
  config.blocks_per_group = reader.size("inner_group_num", 1, 1, 10'000);
  config.activation = reader.activation("hidden_act", "gelu_new");
  config.position_kind = reader.position_kind();
  config.sequence_dropout = reader.probability("classifier_dropout_prob", 0.1);
  config.token_dropout = config.sequence_dropout;
  // Of the authors' own program; never read by HuggingFace's.
  reader.harmless({"net_structure_type", "gap_size", "num_memory_blocks", "down_scale_factor"});
  return config;
}

}  // namespace

const EncoderFamily& albert_family() {
  const std::string layer = "layer.#.", theirs = "encoder.albert_layer_groups.@.albert_layers.#.";
  static const EncoderFamily family{
      .model_type = "albert",
      .class_name = "Albert",
      .prefix = "albert.",
      .read_config = read_albert,
      .fields = {.embedding_width = "embedding_size", .layers = "num_hidden_groups and inner_group_num"},
      .names = {{"word", "embeddings.word_embeddings"},
                {"position", "embeddings.position_embeddings"},
                {"token_type", "embeddings.token_type_embeddings"},
                {"embedding_norm", "embeddings.LayerNorm"},
                {"projection", "encoder.embedding_hidden_mapping_in"},
                {layer + "attention.query_key_value", theirs + "attention.{query,key,value}"},
                {layer + "attention.distance", theirs + "attention.distance_embedding.weight", true},
                {layer + "attention.output", theirs + "attention.dense"},
                {layer + "attention_norm", theirs + "attention.LayerNorm"},
                {layer + "feed_forward.up", theirs + "ffn"},
                {layer + "feed_forward.down", theirs + "ffn_output"},
                {layer + "feed_forward_norm", theirs + "full_layer_layer_norm"},
                {"pooler", "pooler"}},
      .heads = {{.head = Head::sequence_classification,
                 .input = HeadDescription::Input::pooler,
                 .names = {{"output", "classifier"}}},
                token_head("classifier"),
                {.head = Head::masked_lm,
                 .dense = true,
                 .hidden_activation = true,
                 .norm = true,
                 .to_embedding_width = true,
                 .names = {{"dense", "predictions.dense"},
                           {"norm", "predictions.LayerNorm"},
                           {"output.weight", "predictions.decoder.weight"},
                           {"output.bias", "predictions.bias"}},
                 .copies = {{"", "predictions.decoder.weight"}, {"predictions.bias", "predictions.decoder.bias"}}},
                answer_head("qa_outputs")},
      .unused = {"sop_classifier."}};
  return family;
}

}  // namespace heed
