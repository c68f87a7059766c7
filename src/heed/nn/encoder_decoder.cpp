#include "heed/nn/encoder_decoder.h"

#include <algorithm>
#include <cmath>

#include "heed/attention/positions.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"

namespace heed {
namespace {

EncoderDecoderConfig completed(EncoderDecoderConfig config) {
  config.decoder.block.cross = true;
  HEED_CHECK(!config.share_embeddings || config.source_vocabulary == config.target_vocabulary,
             "[EncoderDecoder] shared embeddings need equal vocabularies, found ", config.source_vocabulary, " and ",
             config.target_vocabulary);
  HEED_CHECK(config.encoder.block.hidden_size == config.decoder.block.hidden_size, "[EncoderDecoder] hidden sizes ",
             config.encoder.block.hidden_size, " and ", config.decoder.block.hidden_size);
  HEED_CHECK(!config.share_layers || config.encoder.layers == config.decoder.layers,
             "[EncoderDecoder] shared layers need equal stacks, found ", config.encoder.layers, " and ",
             config.decoder.layers, " layers");
  return config;
}

// Deviation 1 / sqrt(hidden size): after the factor sqrt(hidden size) embeddings are as large as positions.
Initializer embedding_initializer(std::int64_t hidden_size) {
  return Initializer::normal(1 / std::sqrt(static_cast<double>(hidden_size)));
}

}  // namespace

EncoderDecoder::EncoderDecoder(const EncoderDecoderConfig& config)
    : config_(completed(config)),
      source_embedding_(config_.source_vocabulary, config_.encoder.block.hidden_size,
                        embedding_initializer(config_.encoder.block.hidden_size)),
      target_embedding_(config_.target_vocabulary, config_.decoder.block.hidden_size,
                        embedding_initializer(config_.decoder.block.hidden_size)),
      encoder_(config_.encoder),
      decoder_(config_.decoder),
      output_(config_.decoder.block.hidden_size, config_.target_vocabulary, false) {
  if (config_.share_embeddings) target_embedding_.tie(source_embedding_);
  if (config_.share_layers) tie(encoder_, decoder_);
  if (config_.tie_output) output_.tie(target_embedding_);
}

Tensor EncoderDecoder::embed(const Embedding& table, const Packed& ids, const Tensor& positions) const {
  const std::int64_t width = config_.encoder.block.hidden_size;
  const Tensor tokens = scale(table.forward(ids.values), std::sqrt(static_cast<double>(width)));
  const auto* first = positions.data<std::int64_t>();
  const std::int64_t longest = positions.count() > 0 ? *std::max_element(first, first + positions.count()) + 1 : 0;
  return add(tokens, take_rows(sinusoidal_positions(longest, width, tokens.dtype()), positions));
}

Packed EncoderDecoder::encode(const Packed& source, const Context& context) const {
  const Packed x(embed(source_embedding_, source, position_ids(source.offsets)), source.offsets);
  return Packed(encoder_.forward(x, {}, context.child("encoder")), source.offsets);
}

Tensor EncoderDecoder::decode(const Packed& target, const Memory& memory, const Context& context,
                              DecodeState* state) const {
  const Tensor positions = state ? state->positions(target.offsets) : position_ids(target.offsets);
  const Packed x(embed(target_embedding_, target, positions), target.offsets);
  const StackCall call{.attention = {.mask = Mask::causal()}, .memory = &memory, .state = state};
  const Tensor hidden = decoder_.forward(x, call, context.child("decoder").in(Tap::Part::decoder));
  return output_.forward(hidden);
}

void EncoderDecoder::visit(Visitor& visitor) const {
  visitor.child("source_embedding", source_embedding_);
  visitor.child("target_embedding", target_embedding_);
  visitor.child("encoder", encoder_);
  visitor.child("decoder", decoder_);
  visitor.child("output", output_);
}

}  // namespace heed
