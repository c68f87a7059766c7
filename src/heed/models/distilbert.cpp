// DistilBERT: BERT without token types and pooler, under names of its own.
#include "heed/models/encoder_family.h"

namespace heed {
namespace {

EncoderConfig read_distilbert(ConfigReader& reader) {
  EncoderConfig config;
  config.vocabulary = reader.size("vocab_size", 30522);
  config.width = config.embedding_width = reader.size("dim", 768, 1, 1 << 20);
  config.layers = config.groups = reader.size("n_layers", 6, 1, 10'000);
  config.heads = reader.size("n_heads", 12, 1, 1 << 16);
  if (config.width % config.heads != 0) {
    reader.refuse("n_heads", std::to_string(config.heads), "a divisor of dim, " + std::to_string(config.width));
  }
  config.inner = reader.size("hidden_dim", 3072);
  config.positions = reader.size("max_position_embeddings", 512);
  config.activation = reader.activation("activation", "gelu");
  config.epsilon = 1e-12;  // not a field
  config.dropout = config.token_dropout = reader.probability("dropout", 0.1);
  config.attention_dropout = reader.probability("attention_dropout", 0.1);
  config.sequence_dropout = reader.probability("seq_classif_dropout", 0.2);
  config.answer_dropout = reader.probability("qa_dropout", 0.1);
  config.initializer_deviation = reader.positive("initializer_range", 0.02);
  config.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", true);
  config.labels = reader.labels();
  // How the table of positions starts; files hold it trained. And tie_weights_, which was never read.
  reader.harmless({"sinusoidal_pos_embds", "tie_weights_"});
  return config;
}

}  // namespace

const EncoderFamily& distilbert_family() {
  const std::string layer = "layer.#.", theirs = "transformer.layer.#.";
  static const EncoderFamily family{
      .model_type = "distilbert",
      .class_name = "DistilBert",
      .prefix = "distilbert.",
      .read_config = read_distilbert,
      .fields = {.embedding_width = "dim", .width = "dim", .inner = "hidden_dim", .layers = "n_layers"},
      .names = {{"word", "embeddings.word_embeddings"},
                {"position", "embeddings.position_embeddings"},
                {"embedding_norm", "embeddings.LayerNorm"},
                {layer + "attention.query_key_value", theirs + "attention.{q_lin,k_lin,v_lin}"},
                {layer + "attention.output", theirs + "attention.out_lin"},
                {layer + "attention_norm", theirs + "sa_layer_norm"},
                {layer + "feed_forward.up", theirs + "ffn.lin1"},
                {layer + "feed_forward.down", theirs + "ffn.lin2"},
                {layer + "feed_forward_norm", theirs + "output_layer_norm"}},
      .heads = {{.head = Head::sequence_classification,
                 .input = HeadDescription::Input::first_token,
                 .dense = true,
                 .activation = Activation::relu,
                 .names = {{"dense", "pre_classifier"}, {"output", "classifier"}}},
                token_head("classifier"),
                {.head = Head::masked_lm,
                 .dense = true,
                 .hidden_activation = true,
                 .norm = true,
                 .names = {{"dense", "vocab_transform"}, {"norm", "vocab_layer_norm"}, {"output", "vocab_projector"}},
                 .copies = {{"", "vocab_projector.weight"}}},
                answer_head("qa_outputs")}};
  return family;
}

}  // namespace heed
