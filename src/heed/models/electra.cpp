// ELECTRA: BERT's blocks with narrow word vectors; a generator that fills masks and a discriminator that finds what it
// put there.
#include "heed/models/bert.h"

namespace heed {
namespace {

void read_electra(ConfigReader& reader, ModelConfig& config) {
  BertConfig bert = bert_defaults(30522, 256, 4, 1024, 12, 0.1);
  const double dropout = read_bert_fields(reader, bert);
  bert.embedding_size = reader.size("embedding_size", 128, 1, 1 << 20);
  reader.harmless({"generator_size"});  // of the model that it was trained with
  describe(config, reader, bert, bert_names(), {.embedding_size = "embedding_size"});
  config.heads = {dense_classifier(Activation::gelu, bert.hidden_size(), dropout),
                  token_head(HeadKind::token_classification, "classifier", dropout),
                  {.kind = bert.language_head(),
                   .dense_size = bert.embedding_size,
                   .activation = Activation::gelu,
                   .norm = bert.stack.block.norm,
                   .tied = bert.tie_word_embeddings,
                   .names = {{"dense", "generator_predictions.dense"},
                             {"norm", "generator_predictions.LayerNorm"},
                             {"output", "generator_lm_head"}},
                   .copies = {{"", "generator_lm_head.weight"}}},
                  token_head(HeadKind::question_answering, "qa_outputs", 0),
                  {.kind = HeadKind::replaced_token,
                   .dense_size = bert.hidden_size(),
                   .activation = bert.activation(),
                   .names = {{"dense", "discriminator_predictions.dense"},
                             {"output", "discriminator_predictions.dense_prediction"}}}};
}

}  // namespace

const ModelFamily& electra_family() {
  static const ModelFamily family{
      .model_type = "electra", .class_name = "Electra", .prefix = "electra.", .read = read_electra};
  return family;
}

}  // namespace heed
