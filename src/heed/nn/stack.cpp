#include "heed/nn/stack.h"

#include <algorithm>
#include <bit>

#include "heed/attention/positions.h"
#include "heed/attention/scores.h"
#include "heed/base/error.h"
#include "heed/tensor/autograd.h"

namespace heed {

DecodeState::DecodeState(const StackConfig& config, DType dtype) {
  const AttentionConfig& attention = config.block.attention;
  const std::int64_t width = attention.head_size(config.block.hidden_size);
  const auto fixed_length = [&](const std::optional<RotaryOptions>& rotary) {
    if (rotary && rotary->scaling.depends_on_length()) {
      fixed_length_ = std::min(fixed_length_, rotary->scaling.original_length);
    }
  };
  fixed_length(attention.rotary);
  for (std::int64_t pass = 0; pass < config.passes(); ++pass) {
    LayerVariant layer;
    if (!config.layer_variants.empty()) {
      layer = config.layer_variants[static_cast<std::size_t>(pass / config.blocks_per_group)];
    }
    fixed_length(layer.rotary);
    caches_.emplace_back(attention.key_head_count(), width, width, dtype, layer.window);
    if (config.block.cross) memories_.emplace_back(attention.key_head_count(), width, width, dtype);
  }
  position_tables_.resize(caches_.size());
  empty_memory_ = attention.empty_memory;
}

Tensor DecodeState::positions(const Offsets& step, std::int64_t first) const {
  if (sequences() == 0) return position_ids(step, first);
  PoolVector<std::int64_t> starts;
  for (std::int64_t b = 0; b < sequences(); ++b) starts.push_back(length(b) + first);
  return position_ids(step, starts);
}

void DecodeState::add_sequences(std::int64_t count) {
  for (KeyValueCache& cache : caches_) cache.add_sequences(count);
  for (KeyValueCache& memory : memories_) memory.add_sequences(count);
}

void DecodeState::add_fork(const DecodeState& other, std::int64_t sequence, std::int64_t length) {
  HEED_CHECK(other.caches_.size() == caches_.size(), "[DecodeState] a fork of a state of ", other.caches_.size(),
             " layers, expected ", caches_.size());
  HEED_CHECK(other.keeps(sequence, length), "[DecodeState] sequence ", sequence, " does not keep its first ", length,
             " tokens");
  const std::int64_t place = sequences();
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    caches_[i].add_fork(other.caches_[i], sequence, length > 0 ? length + empty_memory_ : 0);
  }
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    memories_[i].add_fork(other.memories_[i], sequence, other.memories_[i].length(sequence));
  }
  const auto ids = other.ids(sequence);
  if (ids.empty()) return;
  ids_.resize(static_cast<std::size_t>(place) + 1);
  ids_.back().assign(ids.begin(), ids.begin() + std::min(length, std::ssize(ids)));
}

bool DecodeState::keeps(std::int64_t sequence, std::int64_t length) const {
  const std::int64_t kept = length > 0 ? length + empty_memory_ : 0;
  return std::ranges::all_of(caches_, [&](const KeyValueCache& cache) { return cache.keeps(sequence, kept); });
}

void DecodeState::truncate(std::int64_t sequence, std::int64_t length) {
  for (KeyValueCache& cache : caches_) cache.truncate(sequence, length > 0 ? length + empty_memory_ : 0);
  const auto number = static_cast<std::size_t>(sequence);
  const auto kept = static_cast<std::size_t>(length);
  if (number < ids_.size() && kept < ids_[number].size()) ids_[number].resize(kept);
}

void DecodeState::reorder(std::span<const std::int64_t> source) {
  for (KeyValueCache& cache : caches_) cache.reorder(source);
  for (KeyValueCache& memory : memories_) memory.reorder(source);
  std::vector<std::int64_t> lengths;
  for (const std::int64_t from : source) lengths.push_back(expected_length(from));
  lengths_to_come_ = std::move(lengths);
  if (ids_.empty()) return;
  std::vector<std::vector<std::int64_t>> reordered;
  for (const std::int64_t from : source) {
    const auto number = static_cast<std::size_t>(from);
    reordered.push_back(number < ids_.size() ? ids_[number] : std::vector<std::int64_t>());
  }
  ids_ = std::move(reordered);
}

void DecodeState::expect(std::int64_t sequence, std::int64_t length) {
  HEED_CHECK(sequence >= 0 && sequence < sequences(), "[DecodeState] sequence ", sequence, " of ", sequences());
  lengths_to_come_.resize(static_cast<std::size_t>(sequences()), 0);
  lengths_to_come_[static_cast<std::size_t>(sequence)] = length;
}

std::int64_t DecodeState::bytes() const {
  std::int64_t sum = 0;
  for (const KeyValueCache& cache : caches_) sum += cache.bytes();
  for (const KeyValueCache& memory : memories_) sum += memory.bytes();
  return sum;
}

std::span<const std::int64_t> DecodeState::ids(std::int64_t sequence) const {
  const auto number = static_cast<std::size_t>(sequence);
  return number < ids_.size() ? std::span<const std::int64_t>(ids_[number]) : std::span<const std::int64_t>();
}

void DecodeState::append_ids(const Packed& step) {
  ids_.resize(static_cast<std::size_t>(step.offsets.sequences()));
  const Tensor values = step.values.detached_to(DType::i64).detached_contiguous();
  const auto* id = values.data<std::int64_t>();
  for (std::int64_t b = 0; b < step.offsets.sequences(); ++b) {
    auto& own = ids_[static_cast<std::size_t>(b)];
    own.insert(own.end(), id + step.offsets.begin(b), id + step.offsets.end(b));
  }
}

Stack::Stack(const StackConfig& config) : config_(config) {
  HEED_CHECK(config.layers >= 1 && config.group_count() <= config.layers && config.blocks_per_group >= 1, "[Stack] ",
             config.layers, " layers of ", config.groups, " groups with ", config.blocks_per_group, " blocks");
  HEED_CHECK(config.layer_variants.empty() || std::ssize(config.layer_variants) == config.layers, "[Stack] ",
             config.layer_variants.size(), " variants for ", config.layers, " layers");
  for (std::int64_t i = 0; i < config.blocks(); ++i) {
    blocks_.emplace_back(config.block);
    if (config.tie_position_biases && i > 0) blocks_.back().tie_position_biases(blocks_.front());
  }
  const bool normed = config.final_norm && config.block.norm_place != NormPlace::post;
  if (normed) final_norm_.emplace(config.block.hidden_size, config.block.norm);
}

const Block& Stack::block(std::int64_t pass) const {
  const std::int64_t layer = pass / config_.blocks_per_group, within = pass % config_.blocks_per_group;
  const std::int64_t group = layer * config_.group_count() / config_.layers;
  return blocks_[static_cast<std::size_t>(group * config_.blocks_per_group + within)];
}

Tensor Stack::position_codes(const Offsets& offsets, DType dtype) const {
  const AttentionConfig& attention = config_.block.attention;
  return distance_codes(attention.reach(attention.empty_memory + offsets.longest()), config_.block.hidden_size, dtype);
}

void Stack::extend_position_tables(DecodeState& state, const Offsets& step, DType dtype) const {
  const AttentionConfig& attention = config_.block.attention;
  std::int64_t keys = 0;
  for (std::int64_t b = 0; b < step.sequences(); ++b) {
    keys = std::max(keys, (state.sequences() > 0 ? state.length(b) : 0) + step.length(b));
  }
  const auto tables = state.position_tables();
  const std::int64_t reach = attention.reach(keys + attention.empty_memory);
  if (tables.front().defined() && tables.front().size(0) / 2 >= reach) return;
  // Twice as far as before, if nothing else limits it: seldom needed again.
  const auto doubled = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(reach)));
  const Tensor codes = distance_codes(attention.reach(doubled), config_.block.hidden_size, dtype);
  for (std::int64_t pass = 0; pass < config_.passes(); ++pass) {
    tables[static_cast<std::size_t>(pass)] = block(pass).position_table(codes);
  }
}

void Stack::check(const Packed& x, const StackCall& call) const {
  HEED_CHECK(!call.state || static_cast<std::int64_t>(call.state->caches().size()) == config_.passes(),
             "[Stack] a state of another stack: it has ", call.state->caches().size(), " layers, expected ",
             config_.passes());
  HEED_CHECK(!call.before || call.before->layers().empty() ||
                 (std::ssize(call.before->layers()) == config_.passes() && !call.state),
             "[Stack] the memory of another stack, or beside a state");
  if (!call.state || !config_.block.cross) return;
  HEED_CHECK(!call.memory, "[Stack] a memory beside a state, whose sequences have joined with theirs");
  const std::int64_t joined = call.state->sequences();
  HEED_CHECK(joined == x.offsets.sequences(), "[Stack] ", x.offsets.sequences(), " sequences, but ", joined,
             " have joined with a memory");
  for (std::int64_t b = 0; b < joined; ++b) {
    HEED_CHECK(call.state->memory_length(b) > 0, "[Stack] sequence ", b, " has joined without a memory");
  }
}

Tensor Stack::forward(const Packed& x, const StackCall& call, const Context& context) const {
  check(x, call);
  const auto table = [&](const RotaryOptions& options) {
    return rotary_table(options, config_.block.attention.head_size(config_.block.hidden_size), x.offsets,
                        call.state ? &call.state->caches().front() : nullptr, x.values.dtype(),
                        call.state ? call.state->lengths_to_come() : std::span<const std::int64_t>());
  };
  // Before the first layer: its cache grows with it.
  RotaryTable common, own;
  if (config_.block.attention.rotary) common = table(*config_.block.attention.rotary);
  for (const LayerVariant& each : config_.layer_variants) {
    if (each.rotary && !own.cosines.defined()) own = table(*each.rotary);
  }
  Tensor codes = call.attention.codes;
  if (config_.block.attention.transformer_xl && call.state) {
    extend_position_tables(*call.state, x.offsets, x.values.dtype());
  } else if (config_.block.attention.transformer_xl && !codes.defined()) {
    codes = position_codes(x.offsets, x.values.dtype());
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
    attention.codes = codes;
    if (call.state) attention.position_table = call.state->position_tables()[static_cast<std::size_t>(pass)];
    if (call.before && !call.before->layers().empty()) attention.before = call.before->layers()[layer];
    if (!config_.layer_variants.empty()) {
      const LayerVariant& different = config_.layer_variants[layer];
      if (different.window > 0) attention.mask = attention.mask & Mask::window(different.window - 1, 0);
      if (different.rotary) attention.rotary = own;
      if (different.scale) attention.scale = different.scale;
    }
    if (call.state) attention.cache = &call.state->caches()[static_cast<std::size_t>(pass)];
    std::optional<Memory> memory;
    if (call.memory) memory = *call.memory;
    if (call.state && config_.block.cross) {
      memory = Memory{.cache = &call.state->memories()[static_cast<std::size_t>(pass)]};
    }
    const auto run = [&block = block(pass), offsets = x.offsets, attention, part, memory](std::span<const Tensor> in) {
      const Packed tokens(in[0], offsets);
      if (!memory) return block.forward(tokens, attention, part);
      Memory read = *memory;
      if (in.size() > 1) read.tokens.values = in[1];
      return block.forward(tokens, attention, part, &read);
    };
    // The memory is an input: gradients flow into it too.
    std::vector<Tensor> inputs = {y};
    if (call.memory) inputs.push_back(call.memory->tokens.values);
    y = context.recomputes() ? checkpoint(run, inputs) : run(inputs);
    if (call.hidden && (pass + 1) % config_.blocks_per_group == 0) call.hidden->push_back(y);
  }
  return finish(y);
}

Tensor Stack::finish(const Tensor& x) const {
  return final_norm_ ? final_norm_->forward(x) : x;
}

void Stack::join(const Packed& memory, DecodeState& state, const Context& context) const {
  HEED_CHECK(std::ssize(state.memories()) == config_.passes(), "[Stack] a state that keeps ", state.memories().size(),
             " memories joined by sequences with ", config_.block.cross ? config_.passes() : 0);
  const std::int64_t before = state.sequences();
  DecodeState joined = state;  // shares all pages
  joined.add_sequences(memory.offsets.sequences());
  std::vector<std::int64_t> added(static_cast<std::size_t>(before), 0);
  for (std::int64_t b = 0; b < memory.offsets.sequences(); ++b) added.push_back(memory.offsets.length(b));
  for (std::int64_t pass = 0; pass < config_.passes(); ++pass) {
    context.check_stop("[Stack]");
    const KeysValues projected = block(pass).project(memory);
    joined.memories()[static_cast<std::size_t>(pass)].append(projected.keys, projected.values, Offsets(added));
  }
  state = std::move(joined);
}

void Stack::visit(Visitor& visitor) const {
  for (std::size_t i = 0; i < blocks_.size(); ++i) visitor.child("layer", i, blocks_[i]);
  if (final_norm_) visitor.child("final_norm", *final_norm_);
}

}  // namespace heed
