// RoBERTa and XLM-RoBERTa: BERT's blocks, positions that begin after the padding's, heads with a layer of their own.
#include "heed/models/bert.h"

namespace heed {
namespace {

void read_roberta(ConfigReader& reader, ModelConfig& config) {
  BertConfig bert = bert_defaults(50265, 768, 12, 3072, 12, 0.1);
  const double dropout = read_bert_fields(reader, bert);
  bert.padding_id = reader.size("pad_token_id", 1, 0);
  describe(config, reader, bert, bert_names());
  config.heads = {dense_classifier(Activation::tanh, bert.hidden_size(), dropout),
                  token_head(HeadKind::token_classification, "classifier", dropout),
                  lm_head(bert.language_head(), bert.hidden_size(), bert.stack.block.norm, bert.tie_word_embeddings),
                  token_head(HeadKind::question_answering, "qa_outputs", 0)};
}

}  // namespace

const ModelFamily& roberta_family() {
  static const ModelFamily family{
      .model_type = "roberta", .class_name = "Roberta", .prefix = "roberta.", .read = read_roberta};
  return family;
}

const ModelFamily& xlm_roberta_family() {
  static const ModelFamily family{
      .model_type = "xlm-roberta", .class_name = "XLMRoberta", .prefix = "roberta.", .read = read_roberta};
  return family;
}

}  // namespace heed
