// MPNet: positions counted as RoBERTa does, no token types, and one bias of distances for all layers.
#include "heed/models/bert.h"

namespace heed {
namespace {

std::vector<PublishedName> mpnet_names() {
  const std::string layer = "layer.#.", theirs = "encoder.layer.#.";
  return {{"word", "embeddings.word_embeddings"},
          {"position", "embeddings.position_embeddings"},
          {"embedding_norm", "embeddings.LayerNorm"},
          {layer + "attention.query_key_value", theirs + "attention.attn.{q,k,v}"},
          {layer + "attention.distance_bias", "encoder.relative_attention_bias.weight"},
          {layer + "attention.output", theirs + "attention.attn.o"},
          {layer + "attention_norm", theirs + "attention.LayerNorm"},
          {layer + "feed_forward.up", theirs + "intermediate.dense"},
          {layer + "feed_forward.down", theirs + "output.dense"},
          {layer + "feed_forward_norm", theirs + "output.LayerNorm"},
          {"pooler", "pooler.dense"}};
}

void read_mpnet(ConfigReader& reader, ModelConfig& config) {
  BertConfig bert = bert_defaults(30527, 768, 12, 3072, 12, 0.1);
  read_common_fields(reader, bert);
  bert.stack.block.feed_forward.activation = reader.activation("hidden_act", "gelu");
  bert.padding_id = 1;  // not a field
  bert.positions = TextPositions::absolute_and_bias;
  const std::int64_t buckets = reader.size("relative_attention_num_buckets", 32, 2, 4096);
  if (buckets % 2 != 0) reader.refuse("relative_attention_num_buckets", std::to_string(buckets), "an even number");
  bert.stack.block.attention.distance_buckets = buckets;
  bert.stack.tie_position_biases = true;
  // BERT's, which mean nothing to it.
  reader.harmless({"type_vocab_size", "position_embedding_type", "classifier_dropout"});
  describe(config, reader, bert, mpnet_names());
  config.heads = {dense_classifier(Activation::tanh, bert.hidden_size(), bert.dropout()),
                  token_head(HeadKind::token_classification, "classifier", bert.dropout()),
                  lm_head(bert.language_head(), bert.hidden_size(), bert.stack.block.norm, bert.tie_word_embeddings),
                  token_head(HeadKind::question_answering, "qa_outputs", 0)};
}

}  // namespace

const ModelFamily& mpnet_family() {
  static const ModelFamily family{.model_type = "mpnet", .class_name = "MPNet", .prefix = "mpnet.", .read = read_mpnet};
  return family;
}

}  // namespace heed
