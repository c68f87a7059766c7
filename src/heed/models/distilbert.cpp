// DistilBERT: BERT without token types and pooler, under names of its own.
#include "heed/models/bert.h"

namespace heed {
namespace {

std::vector<PublishedName> distilbert_names() {
  const std::string layer = "layer.#.", theirs = "transformer.layer.#.";
  return {{"word", "embeddings.word_embeddings"},
          {"position", "embeddings.position_embeddings"},
          {"embedding_norm", "embeddings.LayerNorm"},
          {layer + "attention.query_key_value", theirs + "attention.{q_lin,k_lin,v_lin}"},
          {layer + "attention.output", theirs + "attention.out_lin"},
          {layer + "attention_norm", theirs + "sa_layer_norm"},
          {layer + "feed_forward.up", theirs + "ffn.lin1"},
          {layer + "feed_forward.down", theirs + "ffn.lin2"},
          {layer + "feed_forward_norm", theirs + "output_layer_norm"}};
}

void read_distilbert(ConfigReader& reader, ModelConfig& config) {
  BertConfig bert = bert_defaults(30522, 768, 12, 3072, 6, 0.1);  // its epsilon, 1e-12, is not a field
  BlockConfig& block = bert.stack.block;
  bert.vocab_size = reader.size("vocab_size", bert.vocab_size);
  block.hidden_size = bert.embedding_size = reader.size("dim", block.hidden_size, 1, 1 << 20);
  bert.stack.layers = reader.size("n_layers", bert.stack.layers, 1, 10'000);
  block.attention.heads = reader.divisor("n_heads", block.attention.heads, "dim", block.hidden_size);
  block.feed_forward.intermediate_size = reader.size("hidden_dim", block.feed_forward.intermediate_size);
  bert.position_rows = reader.size("max_position_embeddings", bert.position_rows);
  block.feed_forward.activation = reader.activation("activation", "gelu");
  block.dropout = reader.probability("dropout", 0.1);
  block.attention.dropout = reader.probability("attention_dropout", 0.1);
  const double sequence_dropout = reader.probability("seq_classif_dropout", 0.2);
  const double answer_dropout = reader.probability("qa_dropout", 0.1);
  bert.initializer_range = reader.positive("initializer_range", 0.02);
  bert.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", true);
  // How the table of positions starts; files hold it trained. The others were never read.
  reader.harmless({"sinusoidal_pos_embds", "tie_weights_", "position_embedding_type", "classifier_dropout"});
  describe(config, reader, bert, distilbert_names(),
           {.embedding_size = "dim", .hidden_size = "dim", .intermediate_size = "hidden_dim", .layers = "n_layers"});
  config.heads = {{.kind = HeadKind::sequence_classification,
                   .input = HeadConfig::Input::first_token,
                   .dense_size = bert.hidden_size(),
                   .activation = Activation::relu,
                   .dropout = sequence_dropout,
                   .names = {{"dense", "pre_classifier"}, {"output", "classifier"}}},
                  token_head(HeadKind::token_classification, "classifier", bert.dropout()),
                  {.kind = HeadKind::masked_lm,
                   .dense_size = bert.hidden_size(),
                   .activation = bert.activation(),
                   .norm = block.norm,
                   .tied = bert.tie_word_embeddings,
                   .names = {{"dense", "vocab_transform"}, {"norm", "vocab_layer_norm"}, {"output", "vocab_projector"}},
                   .copies = {{"", "vocab_projector.weight"}}},
                  token_head(HeadKind::question_answering, "qa_outputs", answer_dropout)};
}

}  // namespace

const ModelFamily& distilbert_family() {
  static const ModelFamily family{
      .model_type = "distilbert", .class_name = "DistilBert", .prefix = "distilbert.", .read = read_distilbert};
  return family;
}

}  // namespace heed
