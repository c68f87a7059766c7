#include "heed/models/seq2seq.h"

#include <algorithm>
#include <cmath>

#include "heed/attention/positions.h"
#include "heed/base/error.h"
#include "heed/models/published.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

using Positions = Seq2SeqConfig::Positions;

// Row p: sin(p f), then cos(p f), for frequencies f that fall from 1 to about 1/10000. fairseq's last one is just that,
// and it computes in f32.
Tensor wave_table(const Seq2SeqConfig& config) {
  const std::int64_t width = config.hidden_size(), sines = (width + 1) / 2;
  Tensor table = Tensor::zeros({config.position_rows, width});
  auto* out = table.mutable_data<float>();
  const bool fairseq = config.positions == Positions::fairseq_waves;
  const auto step = static_cast<float>(std::log(10000.0) / static_cast<double>(width / 2 - 1));
  for (std::int64_t column = 0; column < width; ++column) {
    const bool is_sine = column < (fairseq ? width / 2 : sines);
    const std::int64_t i = is_sine ? column : column - (fairseq ? width / 2 : sines);
    if (fairseq && i >= width / 2) continue;
    const float frequency = std::exp(static_cast<float>(i) * -step);
    const double divisor = std::pow(10000.0, 2 * static_cast<double>(i) / static_cast<double>(width));
    for (std::int64_t p = 0; p < config.position_rows; ++p) {
      const double angle =
          fairseq ? static_cast<double>(static_cast<float>(p) * frequency) : static_cast<double>(p) / divisor;
      out[p * width + column] = static_cast<float>(is_sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

std::string to_text(const Seq2SeqConfig& config) {
  if (config.encoder.block.attention.distance_buckets > 0) return "a bias by distance";
  switch (config.positions) {
    case Positions::none: return "none";
    case Positions::trained: return "absolute";
    case Positions::waves:
    case Positions::fairseq_waves: return "sinusoidal";
  }
  return "";
}

void add_sizes(std::vector<SizeCheck>& sizes, const std::vector<PublishedName>& names, const std::string& half,
               const StackConfig& stack, const std::string& layers, const std::string& intermediate_size,
               const std::string& hidden_size) {
  const std::string reason = layers + " says " + std::to_string(stack.layers) + " layers of weights";
  for (const std::int64_t block : {std::int64_t{0}, stack.layers - 1}) {
    const std::string down = published_name(names, half + ".layer.#.feed_forward.down", block, 1) + ".weight";
    sizes.push_back({down, 1, stack.block.feed_forward.intermediate_size, intermediate_size, reason});
    sizes.push_back({down, 0, stack.block.hidden_size, hidden_size, reason});
  }
}

// Tables of words stand in files under any of three names.
void add_tables(ModelConfig& config, const Seq2SeqConfig& seq2seq, const Seq2SeqSizeFields& fields) {
  const std::string shared = "shared", encoder = "encoder.embed_tokens", decoder = "decoder.embed_tokens";
  const auto add = [&](const std::string& ours, const std::string& theirs, const std::vector<std::string>& others,
                       std::int64_t vocab_size, const std::string& field) {
    config.names.push_back({ours, theirs});
    for (const std::string& other : others) config.copies.emplace_back(theirs + ".weight", other + ".weight");
    config.sizes.push_back({theirs + ".weight", 0, vocab_size, field});
    config.sizes.push_back({theirs + ".weight", 1, seq2seq.hidden_size(), fields.hidden_size});
  };
  if (seq2seq.share_words) {
    add("word", shared, {encoder, decoder}, seq2seq.vocab_size, fields.vocab_size);
    return;
  }
  add("word", encoder, {shared, decoder}, seq2seq.source_vocab_size, fields.source_vocab_size);
  add("decoder_word", decoder, {shared, encoder}, seq2seq.vocab_size, fields.vocab_size);
  config.head_table = "decoder_word";
}

ModelInfo info_of(const Seq2SeqConfig& seq2seq, const std::string& model_type) {
  const BlockConfig &encoder = seq2seq.encoder.block, &decoder = seq2seq.decoder.block;
  return {.model_type = model_type,
          .vocab_size = seq2seq.vocab_size,
          .embedding_size = seq2seq.hidden_size(),
          .hidden_size = seq2seq.hidden_size(),
          .intermediate_size = decoder.feed_forward.intermediate_size,
          .layers = seq2seq.encoder.layers + seq2seq.decoder.layers,
          .heads = decoder.attention.heads,
          .head_dim = decoder.attention.head_size(seq2seq.hidden_size()),
          .attention_layers = seq2seq.encoder.layers + 2 * seq2seq.decoder.layers,
          .position_rows = seq2seq.positions == Positions::trained ? seq2seq.position_rows : 0,
          .max_tokens = seq2seq.max_tokens,
          .positions = to_text(seq2seq),
          .encoder = ModelInfo::Encoder{.vocab_size = seq2seq.source_vocab_size,
                                        .intermediate_size = encoder.feed_forward.intermediate_size,
                                        .layers = seq2seq.encoder.layers,
                                        .heads = encoder.attention.heads,
                                        .max_tokens = seq2seq.max_tokens}};
}

}  // namespace

void describe(ModelConfig& config, const Seq2SeqConfig& given, std::vector<PublishedName> names,
              const Seq2SeqSizeFields& fields) {
  Seq2SeqConfig seq2seq = given;
  seq2seq.decoder.block.cross = true;
  config.info = info_of(seq2seq, config.info.model_type);
  config.initializer_range = seq2seq.initializer_range;
  config.names = std::move(names);
  add_tables(config, seq2seq, fields);
  if (seq2seq.positions == Positions::trained) {
    for (const std::string half : {"encoder", "decoder"}) {
      const std::string table = published_name(config.names, half + ".position", 0, 1) + ".weight";
      config.sizes.push_back({table, 0, seq2seq.position_rows, fields.positions});
    }
  }
  add_sizes(config.sizes, config.names, "encoder", seq2seq.encoder, fields.encoder_layers,
            fields.encoder_intermediate_size, fields.hidden_size);
  add_sizes(config.sizes, config.names, "decoder", seq2seq.decoder, fields.decoder_layers,
            fields.decoder_intermediate_size, fields.hidden_size);
  config.make = [seq2seq] { return std::make_shared<Seq2SeqBackbone>(seq2seq); };
  HeadConfig head{.kind = HeadKind::seq2seq_lm,
                  .tied = seq2seq.tie_word_embeddings,
                  .bias = false,
                  .input_scale = seq2seq.output_scale,
                  .logits_bias = seq2seq.logits_bias,
                  .names = {{"output", "lm_head"}},
                  .copies = {{"", "lm_head.weight"}}};
  if (seq2seq.logits_bias) head.names.push_back({"logits_bias", "final_logits_bias"});
  config.heads = {std::move(head)};
}

Seq2SeqHalf::Seq2SeqHalf(const Seq2SeqConfig& config, const StackConfig& stack, bool norm_first)
    : scale_(config.embedding_scale),
      norm_first_(norm_first),
      position_offset_(config.position_offset),
      embedding_dropout_(config.embedding_dropout),
      output_dropout_(config.output_dropout),
      stack_(stack) {
  if (config.positions == Positions::trained) {
    position_.emplace(config.position_rows, config.hidden_size(), Initializer::normal(config.initializer_range));
  } else if (config.positions != Positions::none) {
    waves_ = wave_table(config);
  }
  if (config.embedding_norm) embedding_norm_.emplace(config.hidden_size(), stack.block.norm);
}

Tensor Seq2SeqHalf::forward(const Packed& words, StackCall call, const Context& context) const {
  const Offsets& offsets = words.offsets;
  Tensor x = scale_ == 1 ? words.values : scale(words.values, scale_);
  if (embedding_norm_ && norm_first_) x = embedding_norm_->forward(x);
  if (position_ || waves_.defined()) {
    const Tensor ids =
        call.state ? call.state->positions(offsets, position_offset_) : position_ids(offsets, position_offset_);
    x = add(x, position_ ? position_->forward(ids) : take_rows(waves_, ids));
  }
  if (embedding_norm_ && !norm_first_) x = embedding_norm_->forward(x);
  x = embedding_dropout_.forward(x, context.child("embeddings"));
  context.tap(Tap::Kind::embeddings, x);
  const Tensor y = output_dropout_.forward(stack_.forward(Packed(x, offsets), call, context), context.child("output"));
  // HuggingFace's last hidden state is what the final norm made of it.
  if (call.hidden) call.hidden->back() = y;
  return y;
}

void Seq2SeqHalf::visit(Visitor& visitor) const {
  if (position_) visitor.child("position", *position_);
  visitor.buffer("position.weight", waves_);
  if (embedding_norm_) visitor.child("embedding_norm", *embedding_norm_);
  stack_.visit(visitor);
}

Seq2SeqBackbone::Seq2SeqBackbone(const Seq2SeqConfig& config)
    : config_(config),
      word_(config.source_vocab_size, config.hidden_size(), Initializer::normal(config.initializer_range)),
      encoder_(config, config.encoder, false),
      decoder_(config, config.decoder, config.decoder_norm_first) {
  HEED_CHECK(!config.share_words || config.source_vocab_size == config.vocab_size,
             "[Seq2SeqBackbone] one table of words for ", config.source_vocab_size, " and ", config.vocab_size);
  if (config.share_words) return;
  decoder_word_.emplace(config.vocab_size, config.hidden_size(), Initializer::normal(config.initializer_range));
}

Tensor Seq2SeqBackbone::vectors_of(const Embedding& words, const Tensor& ids) const {
  const Tensor vectors = words.forward(ids);
  if (!config_.padding_id || !grad_enabled() || !vectors.requires_grad()) return vectors;
  const Tensor padding = Tensor::from<std::int64_t>({*config_.padding_id}, {1});
  std::vector<std::int64_t> rows = ids.detached_to(DType::i64).to_vector<std::int64_t>();
  if (std::ranges::find(rows, *config_.padding_id) == rows.end()) return vectors;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = rows[i] == *config_.padding_id ? ids.count() : static_cast<std::int64_t>(i);
  }
  const std::vector<Tensor> table = {vectors, words.forward(padding).detach()};
  return take_rows(concat(table, 0), Tensor::from(rows, {ids.count()}));
}

Tensor Seq2SeqBackbone::read(const Packed& source, const Context& context, std::vector<Tensor>* hidden) const {
  check(source, "source");
  for (std::int64_t b = 0; b < source.offsets.sequences(); ++b) {
    HEED_CHECK(source.offsets.length(b) > 0, "[Seq2SeqBackbone] source ", b, " is empty");
  }
  const Packed words(vectors_of(word_, source.values), source.offsets);
  return encoder_.forward(words, {.hidden = hidden}, context.child("encoder"));
}

void Seq2SeqBackbone::join(const Packed& sources, DecodeState& state, const Context& context) const {
  const Packed memory(read(sources, context, nullptr), sources.offsets);
  decoder_.stack().join(memory, state, context);
}

Tensor Seq2SeqBackbone::write(const Inputs& inputs, StackCall call, const Context& context) const {
  check(inputs.ids, "sequence", call.state);
  HEED_CHECK(!inputs.type_ids.defined(), "[Seq2SeqBackbone] type ids for a model that has no token types");
  const Tensor& ids = inputs.ids.values;
  HEED_CHECK(!inputs.vectors.defined() || inputs.vectors.shape() == Shape({ids.size(0), config_.hidden_size()}),
             "[Seq2SeqBackbone] vectors ", inputs.vectors.shape(), " for ids ", ids.shape(), ", expected size ",
             config_.hidden_size());
  call.attention.mask = Mask::causal();
  const Packed words(inputs.vectors.defined() ? inputs.vectors : vectors_of(this->words(), ids), inputs.ids.offsets);
  return decoder_.forward(words, call, context.child("decoder").in(Tap::Part::decoder));
}

Tensor Seq2SeqBackbone::encode(const Inputs& inputs, const Context& context, std::vector<Tensor>* hidden) const {
  const std::int64_t sources = inputs.source.offsets.sequences(), sequences = inputs.ids.offsets.sequences();
  HEED_CHECK(sources == sequences, "[Seq2SeqBackbone] ", sources, " sources for ", sequences,
             " sequences, expected one for each");
  const Memory memory{.tokens = Packed(read(inputs.source, context, nullptr), inputs.source.offsets)};
  return write(inputs, {.memory = &memory, .hidden = hidden}, context);
}

Tensor Seq2SeqBackbone::decode(const Inputs& inputs, DecodeState& state, const Context& context) const {
  HEED_CHECK(!inputs.source.values.defined(), "[Seq2SeqBackbone] sources for sequences that have joined with theirs");
  return write(inputs, {.state = &state}, context);
}

void Seq2SeqBackbone::check(const Packed& ids, const char* what, const DecodeState* state) const {
  HEED_CHECK(ids.values.defined() && ids.values.rank() == 1, "[Seq2SeqBackbone] ids of a ", what, " ",
             ids.values.shape(), ", expected [N]");
  for (std::int64_t b = 0; b < ids.offsets.sequences(); ++b) {
    const std::int64_t length = ids.offsets.length(b) + (state && state->sequences() > b ? state->length(b) : 0);
    HEED_CHECK(length <= config_.max_tokens, "[Seq2SeqBackbone] ", what, " ", b, " has ", length,
               " tokens, the model takes at most ", config_.max_tokens);
  }
}

double Seq2SeqBackbone::operations(const Offsets& offsets) const {
  return config_.encoder.operations(offsets) + config_.decoder.operations(offsets);
}

// Layers of the encoder, then those of the decoder.
ParameterPlace Seq2SeqBackbone::place(std::string_view parameter) const {
  constexpr std::string_view kEncoder = "encoder.", kDecoder = "decoder.", kLayer = "layer.";
  const bool of_decoder = parameter.starts_with(kDecoder);
  if (!of_decoder && !parameter.starts_with(kEncoder)) return {ParameterPlace::Part::embeddings, 0};
  const std::string_view rest = parameter.substr(of_decoder ? kDecoder.size() : kEncoder.size());
  const std::int64_t before = of_decoder ? config_.encoder.layers : 0;
  if (rest.starts_with(kLayer)) {
    return {ParameterPlace::Part::layers, before + std::stoll(std::string(rest.substr(kLayer.size()))) + 1};
  }
  if (rest.starts_with("final_norm")) {
    return {ParameterPlace::Part::layers, before + (of_decoder ? config_.decoder : config_.encoder).layers};
  }
  return {ParameterPlace::Part::embeddings, 0};
}

void Seq2SeqBackbone::visit(Visitor& visitor) const {
  visitor.child("word", word_);
  if (decoder_word_) visitor.child("decoder_word", *decoder_word_);
  visitor.child("encoder", encoder_);
  visitor.child("decoder", decoder_);
}

}  // namespace heed
