// MPNet: positions counted as RoBERTa does, no token types, and one bias of distances for all layers.
#include "heed/models/encoder_family.h"

namespace heed {
namespace {

EncoderConfig read_mpnet(ConfigReader& reader) {
  EncoderConfig config{.vocabulary = 30527, .width = 768, .heads = 12, .inner = 3072, .positions = 512, .layers = 12};
  config.dropout = config.attention_dropout = 0.1;
  read_common_fields(reader, config);
  config.activation = reader.activation("hidden_act", "gelu");
  config.padding_id = 1;  // not a field
  config.position_kind = TextPositions::absolute_and_bias;
  config.distance_buckets = reader.size("relative_attention_num_buckets", 32, 2, 4096);
  if (config.distance_buckets % 2 != 0) {
    reader.refuse("relative_attention_num_buckets", std::to_string(config.distance_buckets), "an even number");
  }
  config.sequence_dropout = config.token_dropout = config.dropout;
  return config;
}

}  // namespace

const EncoderFamily& mpnet_family() {
  const std::string layer = "layer.#.", theirs = "encoder.layer.#.";
  static const EncoderFamily family{
      .model_type = "mpnet",
      .class_name = "MPNet",
      .prefix = "mpnet.",
      .read_config = read_mpnet,
      .names = {{"word", "embeddings.word_embeddings"},
                {"position", "embeddings.position_embeddings"},
                {"embedding_norm", "embeddings.LayerNorm"},
                {"distance_bias", "encoder.relative_attention_bias.weight"},
                {layer + "attention.query_key_value", theirs + "attention.attn.{q,k,v}"},
                {layer + "attention.output", theirs + "attention.attn.o"},
                {layer + "attention_norm", theirs + "attention.LayerNorm"},
                {layer + "feed_forward.up", theirs + "intermediate.dense"},
                {layer + "feed_forward.down", theirs + "output.dense"},
                {layer + "feed_forward_norm", theirs + "output.LayerNorm"},
                {"pooler", "pooler.dense"}},
      .heads = {dense_classifier(Activation::tanh), token_head("classifier"), lm_head(), answer_head("qa_outputs")}};
  return family;
}

}  // namespace heed
