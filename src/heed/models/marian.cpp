// Marian, the OPUS-MT models: post-norm, sinusoidal positions, and perhaps a vocabulary for each language.
#include "heed/models/bart.h"

namespace heed {
namespace {

void read_marian(ConfigReader& reader, ModelConfig& config) {
  Seq2SeqConfig marian = read_bart_fields(reader, NormPlace::post, {.vocab_size = 58101, .padding_id = 58100});
  marian.positions = Seq2SeqConfig::Positions::waves;
  const bool shared = reader.get<bool>("share_encoder_decoder_embeddings", true);
  marian.share_words = marian.share_words && shared;
  marian.vocab_size = reader.size("decoder_vocab_size", marian.source_vocab_size);
  if (marian.share_words && marian.vocab_size != marian.source_vocab_size) {
    reader.refuse("decoder_vocab_size", std::to_string(marian.vocab_size),
                  "vocab_size, " + std::to_string(marian.source_vocab_size) + ", as the halves share their words");
  }
  reader.harmless({"tokenizer_config"});
  describe(config, marian, bart_names(false), {.vocab_size = "decoder_vocab_size"});
}

}  // namespace

const ModelFamily& marian_family() {
  static const ModelFamily family{
      .model_type = "marian",
      .class_name = "Marian",
      .prefix = "model.",
      .read = read_marian,
      .unused = {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"},
      .lm_class = "MarianMTModel"};
  return family;
}

}  // namespace heed
