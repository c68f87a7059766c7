#include "heed/models/decoder.h"

#include <algorithm>

#include "heed/attention/positions.h"
#include "heed/base/error.h"
#include "heed/models/published.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"

namespace heed {
namespace {

std::vector<SizeCheck> sizes_of(const DecoderConfig& decoder, const std::vector<PublishedName>& names,
                                const DecoderSizeFields& fields) {
  const auto tensor = [&](std::string_view ours, std::int64_t block = 0) {
    return published_name(names, ours, block, 1) + ".weight";
  };
  std::vector<SizeCheck> sizes = {{tensor("word"), 0, decoder.vocab_size, "vocab_size"},
                                  {tensor("word"), 1, decoder.word_size(),
                                   decoder.embedding_size > 0 ? "word_embed_proj_dim" : fields.hidden_size}};
  if (decoder.position_rows > 0) sizes.push_back({tensor("position"), 0, decoder.position_rows, fields.positions});
  const std::string down = "layer.#.feed_forward.down";
  const auto name = std::ranges::find(names, down, &PublishedName::ours);
  const std::size_t input = name->layout == PublishedName::Layout::transposed ? 0 : 1;
  const std::string reason = fields.layers + " says " + std::to_string(decoder.stack.layers) + " layers of weights";
  for (const std::int64_t block : {std::int64_t{0}, decoder.stack.layers - 1}) {
    sizes.push_back({tensor(down, block), input, decoder.stack.block.feed_forward.intermediate_size,
                     fields.intermediate_size, reason});
    sizes.push_back({tensor(down, block), 1 - input, decoder.hidden_size(), fields.hidden_size, reason});
  }
  return sizes;
}

std::string positions_of(const DecoderConfig& decoder) {
  if (decoder.alibi) return "a bias by distance";
  if (decoder.stack.block.attention.rotary) return "rotary";
  return decoder.position_rows > 0 ? "absolute" : "none";
}

// Files with stretched positions may state the length before they were.
std::int64_t longest_of(const DecoderConfig& decoder) {
  const auto& rotary = decoder.stack.block.attention.rotary;
  if (!rotary) return decoder.max_tokens;
  const RopeScaling& scaling = rotary->scaling;
  if (scaling.kind != RopeScaling::Kind::dynamic && scaling.kind != RopeScaling::Kind::yarn) return decoder.max_tokens;
  const double stretched = static_cast<double>(scaling.original_length) * scaling.factor;
  constexpr double kMost = 1 << 24;
  return std::max(decoder.max_tokens, static_cast<std::int64_t>(std::min(stretched, kMost)));
}

}  // namespace

void describe(ModelConfig& config, const DecoderConfig& given, std::vector<PublishedName> names,
              const DecoderSizeFields& fields, double logit_cap) {
  DecoderConfig decoder = given;
  decoder.max_tokens = longest_of(given);
  const BlockConfig& block = decoder.stack.block;
  config.info = {.model_type = config.info.model_type,
                 .vocab_size = decoder.vocab_size,
                 .embedding_size = decoder.word_size(),
                 .hidden_size = decoder.hidden_size(),
                 .intermediate_size = block.feed_forward.intermediate_size,
                 .output_size = decoder.word_size(),
                 .layers = decoder.stack.layers,
                 .heads = block.attention.heads,
                 .head_dim = block.attention.head_size(decoder.hidden_size()),
                 .key_heads = block.attention.key_head_count(),
                 .attention_layers = decoder.stack.layers,
                 .position_rows = decoder.position_rows,
                 .max_tokens = decoder.max_tokens,
                 .positions = positions_of(decoder)};
  config.initializer_range = decoder.initializer_range;
  config.sizes = sizes_of(decoder, names, fields);
  config.names = std::move(names);
  config.make = [decoder] { return std::make_shared<DecoderBackbone>(decoder); };
  config.heads = {{.kind = HeadKind::causal_lm,
                   .tied = decoder.tie_word_embeddings,
                   .bias = false,
                   .soft_cap = logit_cap,
                   .names = {{"output", "lm_head"}},
                   .copies = {{"", "lm_head.weight"}}},
                  {.kind = HeadKind::sequence_classification,
                   .input = HeadConfig::Input::last_token,
                   .bias = false,
                   .names = {{"output", "score"}}}};
}

DecoderBackbone::DecoderBackbone(const DecoderConfig& config)
    : config_(config),
      word_(config.vocab_size, config.word_size(), Initializer::normal(config.initializer_range)),
      dropout_(config.embedding_dropout),
      stack_(config.stack) {
  const auto initializer = Initializer::normal(config.initializer_range);
  if (config.position_rows > 0) position_.emplace(config.position_rows, config.hidden_size(), initializer);
  if (config.embedding_norm) embedding_norm_.emplace(config.hidden_size(), *config.embedding_norm);
  if (config.word_size() != config.hidden_size()) {
    projection_in_.emplace(config.word_size(), config.hidden_size(), false, initializer);
    projection_out_.emplace(config.hidden_size(), config.word_size(), false, initializer);
  }
}

Tensor DecoderBackbone::forward(const Inputs& inputs, StackCall call, const Context& context) const {
  check(inputs, call.state);
  const Offsets& offsets = inputs.ids.offsets;
  Tensor x = inputs.vectors.defined() ? inputs.vectors : word_.forward(inputs.ids.values);
  if (config_.embedding_scale != 1) x = scale(x, config_.embedding_scale);
  if (embedding_norm_) x = embedding_norm_->forward(x);
  if (projection_in_) x = projection_in_->forward(x);
  if (position_) {
    const std::int64_t first = config_.position_offset;
    x = add(x, position_->forward(call.state ? call.state->positions(offsets, first) : position_ids(offsets, first)));
  }
  x = dropout_.forward(x, context.child("embeddings"));
  context.tap(Tap::Kind::embeddings, x);
  call.attention.mask = Mask::causal();
  if (config_.alibi) call.attention.terms.push_back(alibi_term());
  if (config_.score_cap > 0) call.attention.terms.push_back(soft_cap_term(config_.score_cap));
  Tensor y = stack_.forward(Packed(x, offsets), call, context);
  if (projection_out_) y = projection_out_->forward(y);
  // HuggingFace's last hidden state is what the final norm, and the projection, made of it.
  if (call.hidden) call.hidden->back() = y;
  return y;
}

Tensor DecoderBackbone::encode(const Inputs& inputs, const Context& context, std::vector<Tensor>* hidden) const {
  return forward(inputs, {.hidden = hidden}, context);
}

// Longrope turns the tokens of a text by other factors once it is longer than the model was trained for. The text is
// computed again then, so that steps have the bits of the whole.
Tensor DecoderBackbone::decode(const Inputs& inputs, DecodeState& state, const Context& context) const {
  const auto& rotary = config_.stack.block.attention.rotary;
  if (!rotary || rotary->scaling.kind != RopeScaling::Kind::longrope)
    return forward(inputs, {.state = &state}, context);
  HEED_CHECK(!inputs.vectors.defined(), "[DecoderBackbone] vectors for a model that may have to read its text again");
  std::vector<bool> again;
  const std::int64_t limit = rotary->scaling.original_length;
  for (std::int64_t b = 0; b < inputs.ids.offsets.sequences(); ++b) {
    const std::int64_t before = state.sequences() > 0 ? state.length(b) : 0;
    again.push_back(before > 0 && std::max(before, state.expected_length(b)) <= limit &&
                    before + inputs.ids.offsets.length(b) > limit);
  }
  if (std::ranges::find(again, true) != again.end()) return decode_again(inputs, again, state, context);
  Tensor y = forward(inputs, {.state = &state}, context);
  state.append_ids(inputs.ids);
  return y;
}

// Reads the chosen sequences from their first token on.
Tensor DecoderBackbone::decode_again(const Inputs& inputs, const std::vector<bool>& again, DecodeState& state,
                                     const Context& context) const {
  const Offsets& step = inputs.ids.offsets;
  const Tensor values = inputs.ids.values.detached_to(DType::i64).detached_contiguous();
  const auto* id = values.data<std::int64_t>();
  DecodeState next = state;  // so that the state is what it was if the pass ends early
  std::vector<std::int64_t> ids, lengths, rows;
  for (std::int64_t b = 0; b < step.sequences(); ++b) {
    const std::size_t begin = ids.size();
    if (again[static_cast<std::size_t>(b)]) {
      std::ranges::copy(state.ids(b), std::back_inserter(ids));
      next.truncate(b, 0);
    }
    for (std::int64_t i = step.begin(b); i < step.end(b); ++i) {
      rows.push_back(std::ssize(ids));
      ids.push_back(id[i]);
    }
    lengths.push_back(static_cast<std::int64_t>(ids.size() - begin));
  }
  const Inputs all{.ids = Packed(Tensor::from(ids, {std::ssize(ids)}), Offsets(lengths))};
  const Tensor y = forward(all, {.state = &next}, context);
  next.append_ids(all.ids);
  state = std::move(next);
  return take_rows(y, Tensor::from(rows, {std::ssize(rows)}));
}

Tensor DecoderBackbone::finish(const Tensor& hidden) const {
  const Tensor y = stack_.finish(hidden);
  return projection_out_ ? projection_out_->forward(y) : y;
}

void DecoderBackbone::check(const Inputs& inputs, const DecodeState* state) const {
  const Tensor& ids = inputs.ids.values;
  HEED_CHECK(ids.defined() && ids.rank() == 1, "[DecoderBackbone] ids ", ids.shape(), ", expected [N]");
  HEED_CHECK(!inputs.type_ids.defined(), "[DecoderBackbone] type ids for a model that has no token types");
  HEED_CHECK(!inputs.vectors.defined() || inputs.vectors.shape() == Shape({ids.size(0), config_.word_size()}),
             "[DecoderBackbone] vectors ", inputs.vectors.shape(), " for ids ", ids.shape(), ", expected size ",
             config_.word_size());
  const Offsets& offsets = inputs.ids.offsets;
  for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
    const std::int64_t length = offsets.length(b) + (state && state->sequences() > 0 ? state->length(b) : 0);
    HEED_CHECK(length <= config_.max_tokens, "[DecoderBackbone] sequence ", b, " has ", length,
               " tokens, the model takes at most ", config_.max_tokens);
  }
}

ParameterPlace DecoderBackbone::place(std::string_view parameter) const {
  constexpr std::string_view kLayer = "layer.";
  if (parameter.starts_with(kLayer)) {
    return {ParameterPlace::Part::layers, std::stoll(std::string(parameter.substr(kLayer.size()))) + 1};
  }
  if (parameter.starts_with("final_norm") || parameter.starts_with("projection_out")) {
    return {ParameterPlace::Part::layers, config_.stack.layers};
  }
  return {ParameterPlace::Part::embeddings, 0};
}

void DecoderBackbone::visit(Visitor& visitor) const {
  visitor.child("word", word_);
  if (position_) visitor.child("position", *position_);
  if (embedding_norm_) visitor.child("embedding_norm", *embedding_norm_);
  if (projection_in_) visitor.child("projection_in", *projection_in_);
  stack_.visit(visitor);
  if (projection_out_) visitor.child("projection_out", *projection_out_);
}

}  // namespace heed
