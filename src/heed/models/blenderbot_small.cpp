// Blenderbot Small: BART with positions from the first row on, which the decoder adds after its norm.
#include "heed/models/bart.h"

namespace heed {
namespace {

void read_blenderbot_small(ConfigReader& reader, ModelConfig& config) {
  Seq2SeqConfig small = read_bart_fields(
      reader, NormPlace::post,
      {.hidden_size = 512, .layers = 8, .intermediate_size = 2048, .max_tokens = 512, .padding_id = 0});
  small.positions = Seq2SeqConfig::Positions::trained;
  small.embedding_norm = true;
  small.decoder_norm_first = true;
  describe(config, small, bart_names());
}

}  // namespace

const ModelFamily& blenderbot_small_family() {
  static const ModelFamily family{.model_type = "blenderbot-small",
                                  .class_name = "BlenderbotSmall",
                                  .prefix = "model.",
                                  .read = read_blenderbot_small};
  return family;
}

}  // namespace heed
