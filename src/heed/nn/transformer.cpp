#include "heed/nn/transformer.h"

#include <cmath>

#include "heed/attention/positions.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"

namespace heed {

Stack::Stack(const StackConfig& config) : config_(config) {
  HEED_CHECK(config.layers >= 1, "[Stack] ", config.layers, " layers");
  for (std::int64_t i = 0; i < (config.shared_layers ? 1 : config.layers); ++i) blocks_.emplace_back(config.block);
  if (config.block.pre_norm) final_norm_.emplace(config.block.width, config.block.norm, config.block.epsilon);
}

Tensor Stack::forward(const Packed& x, const AttentionCall& call, const Context& context, const Memory* memory,
                      std::span<KeyValueCache> caches) const {
  HEED_CHECK(caches.empty() || static_cast<std::int64_t>(caches.size()) == config_.layers, "[Stack] ", caches.size(),
             " caches for ", config_.layers, " layers");
  HEED_CHECK(
      !memory || memory->projected.empty() || static_cast<std::int64_t>(memory->projected.size()) == config_.layers,
      "[Stack] a memory projected for ", memory->projected.size(), " layers, found ", config_.layers);
  Tensor y = x.values;
  AttentionCall layer_call = call;
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    if (!caches.empty()) layer_call.cache = &caches[static_cast<std::size_t>(i)];
    y = layer(i).forward(Packed(y, x.offsets), layer_call, context.child("layer", static_cast<std::uint64_t>(i)),
                         memory, static_cast<std::size_t>(i));
  }
  return final_norm_ ? final_norm_->forward(y) : y;
}

void Stack::visit(Visitor& visitor) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) visitor.child("layer", i, blocks_[i]);
  if (final_norm_) visitor.child("final_norm", *final_norm_);
}

Memory Stack::project(Memory memory) const {
  memory.projected.clear();
  for (std::int64_t i = 0; i < config_.layers; ++i) memory.projected.push_back(layer(i).project(memory.tokens));
  return memory;
}

std::vector<KeyValueCache> Stack::make_caches(DType dtype) const {
  const BlockConfig& block = config_.block;
  const std::int64_t key_heads = block.key_heads == 0 ? block.heads : block.key_heads,
                     width = block.width / block.heads;
  return std::vector<KeyValueCache>(static_cast<std::size_t>(config_.layers),
                                    KeyValueCache(key_heads, width, width, dtype));
}

namespace {

EncoderDecoderConfig completed(EncoderDecoderConfig config) {
  config.decoder.block.cross = true;
  HEED_CHECK(!config.share_embeddings || config.source_vocabulary == config.target_vocabulary,
             "[EncoderDecoder] shared embeddings need equal vocabularies, found ", config.source_vocabulary, " and ",
             config.target_vocabulary);
  HEED_CHECK(config.encoder.block.width == config.decoder.block.width, "[EncoderDecoder] encoder width ",
             config.encoder.block.width, " and decoder width ", config.decoder.block.width);
  HEED_CHECK(!config.share_layers || config.encoder.layers == config.decoder.layers,
             "[EncoderDecoder] shared layers need equal stacks, found ", config.encoder.layers, " and ",
             config.decoder.layers, " layers");
  return config;
}

// Deviation 1 / sqrt(width): after the factor sqrt(width) embeddings are as large as positions.
Initializer embedding_initializer(std::int64_t width) {
  return Initializer::normal(1 / std::sqrt(static_cast<double>(width)));
}

}  // namespace

EncoderDecoder::EncoderDecoder(const EncoderDecoderConfig& config)
    : config_(completed(config)),
      source_embedding_(config_.source_vocabulary, config_.encoder.block.width,
                        embedding_initializer(config_.encoder.block.width)),
      target_embedding_(config_.target_vocabulary, config_.decoder.block.width,
                        embedding_initializer(config_.decoder.block.width)),
      encoder_(config_.encoder),
      decoder_(config_.decoder),
      output_(config_.decoder.block.width, config_.target_vocabulary, false) {
  if (config_.share_embeddings) target_embedding_.tie(source_embedding_);
  if (config_.share_layers) tie(encoder_.stack, decoder_.stack);
  if (config_.tie_output) output_.tie(target_embedding_);
}

Tensor EncoderDecoder::embed(const Embedding& table, const Packed& ids, std::int64_t start) const {
  const std::int64_t width = config_.encoder.block.width;
  const Tensor tokens = scale(table.forward(ids.values), std::sqrt(static_cast<double>(width)));
  const Tensor positions = sinusoidal_positions(start + ids.offsets.longest(), width, tokens.dtype());
  return add(tokens, embedding(positions, position_ids(ids.offsets, start)));
}

Packed EncoderDecoder::encode(const Packed& source, const Context& context) const {
  const Packed x(embed(source_embedding_, source, 0), source.offsets);
  return Packed(encoder_.forward(x, {}, context.child("encoder")), source.offsets);
}

Tensor EncoderDecoder::decode(const Packed& target, const Packed& memory, const Context& context,
                              std::span<KeyValueCache> caches, std::int64_t start) const {
  return decode(target, Memory{memory}, context, caches, start);
}

Tensor EncoderDecoder::decode(const Packed& target, const Memory& memory, const Context& context,
                              std::span<KeyValueCache> caches, std::int64_t start) const {
  const Packed x(embed(target_embedding_, target, start), target.offsets);
  const Tensor hidden = decoder_.forward(x, context.child("decoder"), &memory, caches);
  return output_.forward(hidden);
}

void EncoderDecoder::visit(Visitor& visitor) {
  visitor.child("source_embedding", source_embedding_);
  visitor.child("target_embedding", target_embedding_);
  visitor.child("encoder", encoder_);
  visitor.child("decoder", decoder_);
  visitor.child("output", output_);
}

}  // namespace heed
