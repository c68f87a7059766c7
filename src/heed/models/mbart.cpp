// mBART: BART with norms before each part and after the last layer.
#include "heed/models/bart.h"

namespace heed {
namespace {

void read_mbart(ConfigReader& reader, ModelConfig& config) {
  Seq2SeqConfig mbart = read_bart_fields(reader, NormPlace::pre);
  mbart.positions = Seq2SeqConfig::Positions::trained;
  mbart.position_offset = 2;
  mbart.position_rows += mbart.position_offset;
  mbart.embedding_norm = true;
  describe(config, mbart, bart_names());
  add_bart_classifier(reader, config);
}

}  // namespace

const ModelFamily& mbart_family() {
  static const ModelFamily family{.model_type = "mbart", .class_name = "MBart", .prefix = "model.", .read = read_mbart};
  return family;
}

}  // namespace heed
