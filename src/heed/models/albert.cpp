// ALBERT: layers that share their weights, and word vectors narrower than the layers.
#include "heed/models/bert.h"

namespace heed {
namespace {

std::vector<PublishedName> albert_names() {
  const std::string layer = "layer.#.", theirs = "encoder.albert_layer_groups.@.albert_layers.#.";
  return {
      {"word", "embeddings.word_embeddings"},
      {"position", "embeddings.position_embeddings"},
      {"token_type", "embeddings.token_type_embeddings"},
      {"embedding_norm", "embeddings.LayerNorm"},
      {"projection", "encoder.embedding_hidden_mapping_in"},
      {layer + "attention.query_key_value", theirs + "attention.{query,key,value}"},
      {layer + "attention.distance", theirs + "attention.distance_embedding.weight", PublishedName::Layout::reversed},
      {layer + "attention.output", theirs + "attention.dense"},
      {layer + "attention_norm", theirs + "attention.LayerNorm"},
      {layer + "feed_forward.up", theirs + "ffn"},
      {layer + "feed_forward.down", theirs + "ffn_output"},
      {layer + "feed_forward_norm", theirs + "full_layer_layer_norm"},
      {"pooler", "pooler"}};
}

void read_albert(ConfigReader& reader, ModelConfig& config) {
  BertConfig bert = bert_defaults(30000, 4096, 64, 16384, 12, 0);
  read_common_fields(reader, bert);
  bert.embedding_size = reader.size("embedding_size", 128, 1, 1 << 20);
  bert.always_projected = true;
  bert.type_vocab_size = reader.size("type_vocab_size", 2, 0);
  bert.stack.groups = reader.size("num_hidden_groups", 1, 1, bert.stack.layers);
  bert.stack.blocks_per_group = reader.size("inner_group_num", 1, 1, 10'000);
  bert.stack.block.feed_forward.activation = reader.activation("hidden_act", "gelu_new");
  bert.positions = read_positions(reader);
  const double dropout = reader.probability("classifier_dropout_prob", 0.1);
  // Of the authors' own program or of other families; never read by HuggingFace's ALBERT.
  reader.harmless({"net_structure_type", "gap_size", "num_memory_blocks", "down_scale_factor", "layers_to_keep",
                   "classifier_dropout"});
  describe(config, reader, bert, albert_names(),
           {.embedding_size = "embedding_size", .layers = "num_hidden_groups and inner_group_num"});
  config.heads = {{.kind = HeadKind::sequence_classification,
                   .input = HeadConfig::Input::pooler,
                   .dropout = dropout,
                   .names = {{"output", "classifier"}}},
                  token_head(HeadKind::token_classification, "classifier", dropout),
                  {.kind = HeadKind::masked_lm,
                   .dense_size = bert.embedding_size,
                   .activation = bert.activation(),
                   .norm = bert.stack.block.norm,
                   .tied = bert.tie_word_embeddings,
                   .names = {{"dense", "predictions.dense"},
                             {"norm", "predictions.LayerNorm"},
                             {"output.weight", "predictions.decoder.weight"},
                             {"output.bias", "predictions.bias"}},
                   .copies = {{"", "predictions.decoder.weight"}, {"predictions.bias", "predictions.decoder.bias"}}},
                  token_head(HeadKind::question_answering, "qa_outputs", 0)};
}

}  // namespace

const ModelFamily& albert_family() {
  static const ModelFamily family{.model_type = "albert",
                                  .class_name = "Albert",
                                  .prefix = "albert.",
                                  .read = read_albert,
                                  .unused = {"sop_classifier."}};
  return family;
}

}  // namespace heed
