// M2M-100 and NLLB: pre-norm, fairseq's sinusoidal positions, which begin after the padding id.
#include "heed/models/bart.h"

namespace heed {
namespace {

void read_m2m_100(ConfigReader& reader, ModelConfig& config) {
  Seq2SeqConfig m2m = read_bart_fields(reader, NormPlace::pre, {.vocab_size = 128112, .activation = "relu"});
  m2m.positions = Seq2SeqConfig::Positions::fairseq_waves;
  m2m.position_offset = reader.size("pad_token_id", 1, 0) + 1;
  m2m.position_rows += m2m.position_offset;
  m2m.logits_bias = false;
  describe(config, m2m, bart_names(false));
}

}  // namespace

const ModelFamily& m2m_100_family() {
  static const ModelFamily family{
      .model_type = "m2m_100",
      .class_name = "M2M100",
      .prefix = "model.",
      .read = read_m2m_100,
      .unused = {"model.encoder.embed_positions.weights", "model.decoder.embed_positions.weights",
                 "model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"}};
  return family;
}

}  // namespace heed
