// Pegasus: pre-norm, sinusoidal positions that files hold, whatever they are.
#include "heed/models/bart.h"

namespace heed {
namespace {

void read_pegasus(ConfigReader& reader, ModelConfig& config) {
  Seq2SeqConfig pegasus = read_bart_fields(reader, NormPlace::pre, {.padding_id = 0});
  pegasus.positions = Seq2SeqConfig::Positions::waves;
  describe(config, pegasus, bart_names());
}

}  // namespace

const ModelFamily& pegasus_family() {
  static const ModelFamily family{
      .model_type = "pegasus", .class_name = "Pegasus", .prefix = "model.", .read = read_pegasus};
  return family;
}

}  // namespace heed
