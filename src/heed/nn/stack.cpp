#include "heed/nn/stack.h"

#include "heed/attention/positions.h"
#include "heed/base/error.h"
#include "heed/tensor/autograd.h"

namespace heed {

DecodeState::DecodeState(const StackConfig& config, DType dtype) {
  const AttentionConfig& attention = config.block.attention;
  const std::int64_t width = attention.head_size(config.block.hidden_size);
  caches_.assign(static_cast<std::size_t>(config.passes()),
                 KeyValueCache(attention.key_head_count(), width, width, dtype));
}

Tensor DecodeState::positions(const Offsets& step, std::int64_t first) const {
  if (sequences() == 0) return position_ids(step, first);
  PoolVector<std::int64_t> starts = caches_.front().lengths();
  for (std::int64_t& each : starts) each += first;
  return position_ids(step, starts);
}

void DecodeState::add_sequences(std::int64_t count) {
  for (KeyValueCache& cache : caches_) cache.add_sequences(count);
}

void DecodeState::truncate(std::int64_t sequence, std::int64_t length) {
  for (KeyValueCache& cache : caches_) cache.truncate(sequence, length);
}

void DecodeState::reorder(std::span<const std::int64_t> source) {
  for (KeyValueCache& cache : caches_) cache.reorder(source);
}

Stack::Stack(const StackConfig& config) : config_(config) {
  HEED_CHECK(config.layers >= 1 && config.group_count() <= config.layers && config.blocks_per_group >= 1, "[Stack] ",
             config.layers, " layers of ", config.groups, " groups with ", config.blocks_per_group, " blocks");
  HEED_CHECK(config.layer_variants.empty() || std::ssize(config.layer_variants) == config.layers, "[Stack] ",
             config.layer_variants.size(), " variants for ", config.layers, " layers");
  for (std::int64_t i = 0; i < config.blocks(); ++i) blocks_.emplace_back(config.block);
  if (config.block.norm_place != NormPlace::post) final_norm_.emplace(config.block.hidden_size, config.block.norm);
}

const Block& Stack::block(std::int64_t pass) const {
  const std::int64_t layer = pass / config_.blocks_per_group, within = pass % config_.blocks_per_group;
  const std::int64_t group = layer * config_.group_count() / config_.layers;
  return blocks_[static_cast<std::size_t>(group * config_.blocks_per_group + within)];
}

Tensor Stack::forward(const Packed& x, const StackCall& call, const Context& context) const {
  HEED_CHECK(!call.memory || call.memory->projected.empty() ||
                 static_cast<std::int64_t>(call.memory->projected.size()) == config_.passes(),
             "[Stack] a memory projected for ", call.memory->projected.size(), " layers, found ", config_.passes());
  HEED_CHECK(!call.state || static_cast<std::int64_t>(call.state->caches().size()) == config_.passes(),
             "[Stack] a state of another stack: it has ", call.state->caches().size(), " layers, expected ",
             config_.passes());
  const auto table = [&](const RotaryOptions& options) {
    return rotary_table(options, config_.block.attention.head_size(config_.block.hidden_size), x.offsets,
                        call.state ? &call.state->caches().front() : nullptr, x.values.dtype());
  };
  // Before the first layer: its cache grows with it.
  RotaryTable common, own;
  if (config_.block.attention.rotary) common = table(*config_.block.attention.rotary);
  for (const LayerVariant& each : config_.layer_variants) {
    if (each.rotary && !own.cosines.defined()) own = table(*each.rotary);
  }
  Tensor y = x.values;
  if (call.hidden) *call.hidden = {y};
  for (std::int64_t pass = 0; pass < config_.passes(); ++pass) {
    context.check_stop("[Stack]");
    const auto layer = static_cast<std::uint64_t>(pass / config_.blocks_per_group),
               within = static_cast<std::uint64_t>(pass % config_.blocks_per_group);
    const Context at_layer = context.child("layer", layer).at_layer(pass);
    const Context part = config_.blocks_per_group == 1 ? at_layer : at_layer.child("block", within);
    AttentionCall attention = call.attention;
    attention.rotary = common;
    if (!config_.layer_variants.empty()) {
      const LayerVariant& different = config_.layer_variants[layer];
      if (different.window > 0) attention.mask = attention.mask & Mask::window(different.window - 1, 0);
      if (different.rotary) attention.rotary = own;
    }
    if (call.state) attention.cache = &call.state->caches()[static_cast<std::size_t>(pass)];
    const auto run = [&block = block(pass), offsets = x.offsets, attention, part, pass,
                      memory = call.memory ? std::optional(*call.memory) : std::nullopt](std::span<const Tensor> in) {
      const Packed tokens(in[0], offsets);
      if (!memory) return block.forward(tokens, attention, part);
      Memory read = *memory;
      read.tokens.values = in[1];
      return block.forward(tokens, attention, part, &read, static_cast<std::size_t>(pass));
    };
    // The memory is an input: gradients flow into it too.
    std::vector<Tensor> inputs = {y};
    if (call.memory) inputs.push_back(call.memory->tokens.values);
    y = context.recomputes() ? checkpoint(run, inputs) : run(inputs);
    if (call.hidden && (pass + 1) % config_.blocks_per_group == 0) call.hidden->push_back(y);
  }
  return final_norm_ ? final_norm_->forward(y) : y;
}

Memory Stack::project(Memory memory) const {
  memory.projected.clear();
  for (std::int64_t pass = 0; pass < config_.passes(); ++pass) {
    memory.projected.push_back(block(pass).project(memory.tokens));
  }
  return memory;
}

void Stack::visit(Visitor& visitor) const {
  for (std::size_t i = 0; i < blocks_.size(); ++i) visitor.child("layer", i, blocks_[i]);
  if (final_norm_) visitor.child("final_norm", *final_norm_);
}

}  // namespace heed
