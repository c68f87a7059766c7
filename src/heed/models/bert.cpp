// BERT, and what has its blocks under its names: RoBERTa, XLM-RoBERTa, ELECTRA.
#include "heed/models/encoder_family.h"

namespace heed {
namespace {

std::vector<PublishedName> encoder_names() {
  const std::string layer = "layer.#.", theirs = "encoder.layer.#.";
  return {{"word", "embeddings.word_embeddings"},
          {"position", "embeddings.position_embeddings"},
          {"token_type", "embeddings.token_type_embeddings"},
          {"embedding_norm", "embeddings.LayerNorm"},
          {"projection", "embeddings_project"},
          {layer + "attention.query_key_value", theirs + "attention.self.{query,key,value}"},
          {layer + "attention.distance", theirs + "attention.self.distance_embedding.weight", true},
          {layer + "attention.output", theirs + "attention.output.dense"},
          {layer + "attention_norm", theirs + "attention.output.LayerNorm"},
          {layer + "feed_forward.up", theirs + "intermediate.dense"},
          {layer + "feed_forward.down", theirs + "output.dense"},
          {layer + "feed_forward_norm", theirs + "output.LayerNorm"},
          {"pooler", "pooler.dense"}};
}

void read_bert_fields(ConfigReader& reader, EncoderConfig& config) {
  read_common_fields(reader, config);
  config.types = reader.size("type_vocab_size", 2, 0);
  config.activation = reader.activation("hidden_act", "gelu");
  config.position_kind = reader.position_kind();
  config.sequence_dropout = config.token_dropout = reader.probability("classifier_dropout", config.dropout);
}

EncoderConfig read_bert(ConfigReader& reader) {
  EncoderConfig config{.vocabulary = 30522, .width = 768, .heads = 12, .inner = 3072, .positions = 512, .layers = 12};
  config.dropout = config.attention_dropout = 0.1;
  read_bert_fields(reader, config);
  return config;
}

EncoderConfig read_roberta(ConfigReader& reader) {
  EncoderConfig config{.vocabulary = 50265, .width = 768, .heads = 12, .inner = 3072, .positions = 512, .layers = 12};
  config.dropout = config.attention_dropout = 0.1;
  read_bert_fields(reader, config);
  config.padding_id = reader.size("pad_token_id", 1, 0);
  return config;
}

EncoderConfig read_electra(ConfigReader& reader) {
  EncoderConfig config{.vocabulary = 30522, .width = 256, .heads = 4, .inner = 1024, .positions = 512, .layers = 12};
  config.dropout = config.attention_dropout = 0.1;
  read_bert_fields(reader, config);
  config.embedding_width = reader.size("embedding_size", 128, 1, 1 << 20);
  // Of the head for multiple choice.
  reader.harmless({"summary_activation", "summary_last_dropout", "summary_type", "summary_use_proj", "summary_hidden",
                   "summary_first_dropout", "summary_proj_to_labels"});
  return config;
}

HeadDescription bert_masked_lm() {
  return {.head = Head::masked_lm,
          .dense = true,
          .hidden_activation = true,
          .norm = true,
          .names = {{"dense", "cls.predictions.transform.dense"},
                    {"norm", "cls.predictions.transform.LayerNorm"},
                    {"output.weight", "cls.predictions.decoder.weight"},
                    {"output.bias", "cls.predictions.bias"}},
          .copies = {{"", "cls.predictions.decoder.weight"}, {"cls.predictions.bias", "cls.predictions.decoder.bias"}}};
}

HeadDescription electra_masked_lm() {
  return {.head = Head::masked_lm,
          .dense = true,
          .activation = Activation::gelu,
          .norm = true,
          .to_embedding_width = true,
          .names = {{"dense", "generator_predictions.dense"},
                    {"norm", "generator_predictions.LayerNorm"},
                    {"output", "generator_lm_head"}},
          .copies = {{"", "generator_lm_head.weight"}}};
}

HeadDescription electra_discriminator() {
  return {.head = Head::replaced_token,
          .dense = true,
          .hidden_activation = true,
          .names = {{"dense", "discriminator_predictions.dense"},
                    {"output", "discriminator_predictions.dense_prediction"}}};
}

EncoderFamily roberta_like(std::string model_type, std::string class_name) {
  return {
      .model_type = std::move(model_type),
      .class_name = std::move(class_name),
      .prefix = "roberta.",
      .read_config = read_roberta,
      .names = encoder_names(),
      .heads = {dense_classifier(Activation::tanh), token_head("classifier"), lm_head(), answer_head("qa_outputs")}};
}

}  // namespace

const EncoderFamily& bert_family() {
  using Input = HeadDescription::Input;
  static const EncoderFamily family{
      .model_type = "bert",
      .class_name = "Bert",
      .prefix = "bert.",
      .read_config = read_bert,
      .names = encoder_names(),
      .heads = {{.head = Head::sequence_classification, .input = Input::pooler, .names = {{"output", "classifier"}}},
                token_head("classifier"),
                bert_masked_lm(),
                answer_head("qa_outputs"),
                {.head = Head::next_sentence, .input = Input::pooler, .names = {{"output", "cls.seq_relationship"}}}}};
  return family;
}

const EncoderFamily& roberta_family() {
  static const EncoderFamily family = roberta_like("roberta", "Roberta");
  return family;
}

const EncoderFamily& xlm_roberta_family() {
  static const EncoderFamily family = roberta_like("xlm-roberta", "XLMRoberta");
  return family;
}

const EncoderFamily& electra_family() {
  static const EncoderFamily family{.model_type = "electra",
                                    .class_name = "Electra",
                                    .prefix = "electra.",
                                    .read_config = read_electra,
                                    .fields = {.embedding_width = "embedding_size"},
                                    .names = encoder_names(),
                                    .heads = {dense_classifier(Activation::gelu), token_head("classifier"),
                                              electra_masked_lm(), answer_head("qa_outputs"), electra_discriminator()}};
  return family;
}

}  // namespace heed
