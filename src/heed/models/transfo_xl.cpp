// Transformer-XL: relative positions, a memory of earlier segments, adaptive embeddings and softmax. What it computes
// is that of transformers 4.34, the last version that had it.
//
// The memory of a layer is what entered it for the last mem_len tokens before the segment. It is full from the
// beginning on: with zeros, which are attended to like any other state. With same_length every token sees mem_len
// states, its own included, and how a text is cut into segments changes nothing. Without it a token sees the memory and
// its own segment up to itself; encode() and decode() take a text for one segment, read() takes them one by one.
#include <cmath>

#include "heed/base/error.h"
#include "heed/models/config_reader.h"
#include "heed/models/model.h"

namespace heed {
namespace {

struct TransfoXlConfig {
  StackConfig stack{};
  AdaptiveConfig words{};
  std::int64_t memory = 0;
  bool same_length = false;
  double dropout = 0;
};

class TransfoXlBackbone : public Backbone, public Encodes, public Decodes, public Recurs {
 public:
  explicit TransfoXlBackbone(const TransfoXlConfig& config)
      : config_(config), words_(config.words), dropout_(config.dropout), stack_(config.stack) {}

  Tensor encode(const Inputs& inputs, const Context& context, std::vector<Tensor>* hidden) const override {
    return forward(inputs, {.hidden = hidden}, context);
  }
  DecodeState start() const override { return stack_.start(); }
  Tensor finish(const Tensor& hidden) const override { return stack_.finish(hidden); }
  Tensor decode(const Inputs& inputs, DecodeState& state, const Context& context) const override {
    return forward(inputs, {.state = &state}, context);
  }
  SegmentMemory remember() const override { return SegmentMemory(config_.memory); }
  Tensor read(const Inputs& segment, SegmentMemory& memory, const Context& context) const override {
    std::vector<Tensor> hidden;
    Tensor y = forward(segment, {.before = &memory, .hidden = &hidden}, context);
    memory.append(hidden, segment.ids.offsets);
    return y;
  }
  const Encodes* encodes() const override { return this; }
  const Decodes* decodes() const override { return this; }
  const Recurs* recurs() const override { return config_.memory > 0 ? this : nullptr; }

  const Embedding& words() const override { return words_.tables()[0]; }
  const AdaptiveEmbedding* adaptive_words() const override { return &words_; }
  Tensor word_vectors(const Tensor& ids) const override { return words_.forward(ids); }
  ParameterPlace place(std::string_view parameter) const override;
  double operations(const Offsets& offsets) const override { return config_.stack.operations(offsets); }
  void visit(Visitor& visitor) const override {
    visitor.child("word", words_);
    stack_.visit(visitor);
  }

 private:
  Tensor forward(const Inputs& inputs, StackCall call, const Context& context) const;

  TransfoXlConfig config_;
  AdaptiveEmbedding words_;
  Dropout dropout_;
  Stack stack_;
};

Tensor TransfoXlBackbone::forward(const Inputs& inputs, StackCall call, const Context& context) const {
  const Tensor& ids = inputs.ids.values;
  HEED_CHECK(ids.defined() && ids.rank() == 1, "[TransfoXl] ids ", ids.shape(), ", expected [N]");
  HEED_CHECK(!inputs.type_ids.defined(), "[TransfoXl] type ids for a model that has no token types");
  HEED_CHECK(!inputs.vectors.defined() || inputs.vectors.shape() == Shape({ids.size(0), config_.words.hidden_size}),
             "[TransfoXl] vectors ", inputs.vectors.shape(), " for ids ", ids.shape(), ", expected size ",
             config_.words.hidden_size);
  const Offsets& offsets = inputs.ids.offsets;
  Tensor x = inputs.vectors.defined() ? inputs.vectors : words_.forward(ids);
  x = dropout_.forward(x, context.child("embeddings"));
  context.tap(Tap::Kind::embeddings, x);
  call.attention.mask = Mask::causal();
  if (config_.same_length) call.attention.mask = call.attention.mask & Mask::window(config_.memory - 1, 0);
  if (!call.state) {
    call.attention.codes = dropout_.forward(stack_.position_codes(offsets, x.dtype()), context.child("positions"));
  }
  Tensor y = stack_.forward(Packed(x, offsets), call, context);
  y = dropout_.forward(y, context.child("output"));
  if (call.hidden) call.hidden->back() = y;
  return y;
}

ParameterPlace TransfoXlBackbone::place(std::string_view parameter) const {
  constexpr std::string_view kLayer = "layer.";
  if (!parameter.starts_with(kLayer)) return {ParameterPlace::Part::embeddings, 0};
  return {ParameterPlace::Part::layers, std::stoll(std::string(parameter.substr(kLayer.size()))) + 1};
}

// ---- config.json

AdaptiveConfig read_words(ConfigReader& reader, std::int64_t hidden_size) {
  AdaptiveConfig words{.vocab_size = reader.size("vocab_size", 267'735), .hidden_size = hidden_size};
  words.width = reader.size("d_embed", 1024, 1, 1 << 20);
  words.divisor = reader.size("div_val", 4);
  words.cutoffs = reader.get<std::vector<std::int64_t>>("cutoffs", {20'000, 40'000, 200'000});
  constexpr std::size_t kMostClusters = 64;
  if (words.clusters() > kMostClusters) {
    reader.refuse("cutoffs", std::to_string(words.cutoffs.size()) + " numbers",
                  "fewer than " + std::to_string(kMostClusters));
  }
  std::int64_t last = 0;
  for (const std::int64_t cutoff : words.cutoffs) {
    const bool fits = cutoff > last && cutoff < words.vocab_size;
    if (!fits) reader.refuse("cutoffs", Json(words.cutoffs).dump(), "ascending numbers from 1 to vocab_size - 1");
    last = cutoff;
  }
  if (words.cluster_width(words.cutoffs.size()) < 1) {
    reader.refuse("div_val", std::to_string(words.divisor), "one that leaves the last cluster of d_embed a width");
  }
  words.tied = reader.get<bool>("tie_word_embeddings", true);
  const bool shared = reader.get<bool>("proj_share_all_but_first", true);
  words.tied_projections.assign(words.clusters(), shared);
  words.tied_projections[0] = false;
  words.tied_projections = reader.get<std::vector<bool>>("tie_projs", words.tied_projections);
  if (words.tied_projections.size() != words.clusters()) {
    reader.refuse("tie_projs", std::to_string(words.tied_projections.size()) + " values",
                  std::to_string(words.clusters()) + ", one per cluster");
  }
  // How weights start; those of the blocks start as in all models.
  const auto init = reader.choice<Initializer::Kind>(
      "init", "normal", {{"normal", Initializer::Kind::normal}, {"uniform", Initializer::Kind::uniform}});
  const double deviation = reader.positive("init_std", 0.02), bound = reader.positive("init_range", 0.01);
  words.initializer = {init, init == Initializer::Kind::normal ? deviation : bound};
  words.projection_initializer = Initializer::normal(reader.positive("proj_init_std", 0.01));
  return words;
}

TransfoXlConfig read_fields(ConfigReader& reader) {
  TransfoXlConfig xl;
  BlockConfig& block = xl.stack.block;
  block.hidden_size = reader.size("d_model", 1024, 2, 1 << 20);
  if (block.hidden_size % 2 != 0) reader.refuse("d_model", std::to_string(block.hidden_size), "an even number");
  xl.words = read_words(reader, block.hidden_size);
  xl.stack.layers = reader.size("n_layer", 18, 1, 10'000);
  xl.memory = reader.size("mem_len", 1600, 0, 1 << 20);
  xl.same_length = reader.get<bool>("same_length", true);
  if (xl.same_length && xl.memory == 0) reader.refuse("same_length", "true", "false, since mem_len is 0");
  xl.dropout = block.dropout = block.feed_forward.dropout = reader.probability("dropout", 0.1);
  block.attention = {.heads = reader.size("n_head", 16, 1, 1 << 16),
                     .head_dim = reader.size("d_head", 64, 1, 1 << 16),
                     .query_bias = false,
                     .key_bias = false,
                     .value_bias = false,
                     .output_bias = false,
                     .dropout = reader.probability("dropatt", 0),
                     .transformer_xl = true,
                     .empty_memory = xl.memory};
  // Neither a distance beyond clamp_len nor one that nobody sees has a code of its own.
  const auto clamp = reader.get<std::int64_t>("clamp_len", 1000);
  const std::int64_t seen = xl.same_length ? xl.memory - 1 : 0;
  block.attention.position_reach =
      clamp > 0 && seen > 0 ? std::min(clamp, seen) : std::max({clamp, seen, std::int64_t{0}});
  block.feed_forward.intermediate_size = reader.size("d_inner", 4096);
  block.feed_forward.activation = Activation::relu;
  block.norm.epsilon = reader.positive("layer_norm_epsilon", 1e-5);
  block.norm_place = reader.get<bool>("pre_lnorm", false) ? NormPlace::pre : NormPlace::post;
  xl.stack.final_norm = false;
  xl.stack.tie_position_biases = !reader.get<bool>("untie_r", true);
  reader.only("attn_type", 0);
  const auto samples = reader.get<std::int64_t>("sample_softmax", -1);
  if (samples > 0) reader.refuse("sample_softmax", std::to_string(samples), "-1 (nothing else is supported)");
  // Of older files: nobody has them otherwise.
  reader.only("ext_len", 0);
  reader.only("tie_weight", true);
  // Cutoffs alone say whether the softmax is adaptive; how long the segments of training were; how a loss is returned.
  reader.harmless({"adaptive", "tgt_len", "trainer_compatible"});
  return xl;
}

// ---- names

std::vector<PublishedName> backbone_names(const TransfoXlConfig& xl) {
  const std::string layer = "layer.#.", theirs = "layers.#.", attention = theirs + "dec_attn.";
  const std::string biases = xl.stack.tie_position_biases ? "" : attention;
  std::vector<PublishedName> names = {{layer + "attention.query_key_value", attention + "qkv_net"},
                                      {layer + "attention.position", attention + "r_net"},
                                      {layer + "attention.content_bias", biases + "r_w_bias"},
                                      {layer + "attention.position_bias", biases + "r_r_bias"},
                                      {layer + "attention.output", attention + "o_net"},
                                      {layer + "attention_norm", attention + "layer_norm"},
                                      {layer + "feed_forward.up", theirs + "pos_ff.CoreNet.0"},
                                      {layer + "feed_forward.down", theirs + "pos_ff.CoreNet.3"},
                                      {layer + "feed_forward_norm", theirs + "pos_ff.layer_norm"}};
  for (std::size_t i = 0; i < xl.words.tables(); ++i) {
    const std::string number = std::to_string(i);
    names.push_back({"word.table." + number, "word_emb.emb_layers." + number});
    names.push_back({"word.projection." + number + ".weight", "word_emb.emb_projs." + number});
  }
  return names;
}

HeadConfig language_head(const TransfoXlConfig& xl) {
  HeadConfig head{.kind = HeadKind::causal_lm, .adaptive = xl.words};
  head.names = {{"output.cluster.weight", "crit.cluster_weight"}, {"output.cluster.bias", "crit.cluster_bias"}};
  for (std::size_t i = 0; i < xl.words.tables(); ++i) {
    const std::string theirs = "crit.out_layers." + std::to_string(i);
    head.names.push_back({"output.output." + std::to_string(i), theirs});
    if (xl.words.tied) head.copies.push_back({"", theirs + ".weight"});
  }
  for (std::size_t i = 0; i < xl.words.softmax_projections(); ++i) {
    const std::string theirs = "crit.out_projs." + std::to_string(i);
    if (xl.words.ties_projection(i)) {
      head.copies.push_back({"", theirs});
    } else {
      head.names.push_back({"output.projection." + std::to_string(i), theirs});
    }
  }
  // Files that hold every tensor under all its names have the biases once more per layer.
  for (std::int64_t i = 0; xl.stack.tie_position_biases && i < xl.stack.layers; ++i) {
    const std::string attention = "transformer.layers." + std::to_string(i) + ".dec_attn.";
    head.copies.push_back({"", attention + "r_w_bias"});
    head.copies.push_back({"", attention + "r_r_bias"});
  }
  return head;
}

std::vector<SizeCheck> sizes_of(const TransfoXlConfig& xl) {
  const std::size_t last = xl.words.tables() - 1;
  const std::string first = "word_emb.emb_layers.0.weight",
                    narrow = "word_emb.emb_layers." + std::to_string(last) + ".weight";
  const std::int64_t rows = last == 0 ? xl.words.vocab_size : xl.words.end(0);
  std::vector<SizeCheck> sizes = {
      {first, 0, rows, last == 0 ? "vocab_size" : "cutoffs"},
      {first, 1, xl.words.width, "d_embed"},
      {narrow, 0, last == 0 ? rows : xl.words.end(last) - xl.words.begin(last),
       last == 0 ? "vocab_size" : "vocab_size, less the last of cutoffs,"},
      {narrow, 1, xl.words.cluster_width(last), "d_embed, divided by div_val for each cluster,"}};
  const std::string reason = "n_layer says " + std::to_string(xl.stack.layers) + " layers of weights";
  for (const std::int64_t layer : {std::int64_t{0}, xl.stack.layers - 1}) {
    const std::string up = "layers." + std::to_string(layer) + ".pos_ff.CoreNet.0.weight";
    sizes.push_back({up, 0, xl.stack.block.feed_forward.intermediate_size, "d_inner", reason});
    sizes.push_back({up, 1, xl.stack.block.hidden_size, "d_model", reason});
  }
  return sizes;
}

// 1 / 10000^(2i / C), which their module keeps as a tensor.
Tensor inverse_frequencies(std::int64_t hidden_size) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < hidden_size; i += 2) {
    const auto exponent = static_cast<float>(i) / static_cast<float>(hidden_size);
    values.push_back(1 / std::pow(10000.0F, exponent));
  }
  return Tensor::from(values, {std::ssize(values)});
}

void read_transfo_xl(ConfigReader& reader, ModelConfig& config) {
  const TransfoXlConfig xl = read_fields(reader);
  const BlockConfig& block = xl.stack.block;
  config.info = {.model_type = config.info.model_type,
                 .vocab_size = xl.words.vocab_size,
                 .embedding_size = xl.words.width,
                 .hidden_size = block.hidden_size,
                 .intermediate_size = block.feed_forward.intermediate_size,
                 .layers = xl.stack.layers,
                 .heads = block.attention.heads,
                 .attention_layers = xl.stack.layers,
                 .max_tokens = kAnyLength,
                 .memory = xl.memory,
                 .positions = "relative"};
  config.initializer_range = xl.words.initializer.value;
  config.sizes = sizes_of(xl);
  config.names = backbone_names(xl);
  config.constants = {{"pos_emb.inv_freq", inverse_frequencies(block.hidden_size)}};
  config.heads = {language_head(xl),
                  {.kind = HeadKind::sequence_classification,
                   .input = HeadConfig::Input::last_token,
                   .bias = false,
                   .names = {{"output", "score"}}}};
  config.make = [xl] { return std::make_shared<TransfoXlBackbone>(xl); };
}

}  // namespace

const ModelFamily& transfo_xl_family() {
  static const ModelFamily family{.model_type = "transfo-xl",
                                  .class_name = "TransfoXL",
                                  .prefix = "transformer.",
                                  .read = read_transfo_xl,
                                  .unused = {},
                                  .lm_class = "TransfoXLLMHeadModel"};
  return family;
}

}  // namespace heed
