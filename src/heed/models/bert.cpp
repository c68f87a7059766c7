#include "heed/models/bert.h"

#include "heed/attention/positions.h"
#include "heed/base/error.h"
#include "heed/models/published.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"

namespace heed {

// ---- configuration

BertConfig bert_defaults(std::int64_t vocab_size, std::int64_t hidden_size, std::int64_t heads,
                         std::int64_t intermediate_size, std::int64_t layers, double dropout) {
  BertConfig config{.vocab_size = vocab_size, .position_rows = 512};
  config.stack = {.block = {.hidden_size = hidden_size,
                            .attention = {.heads = heads, .dropout = dropout},
                            .feed_forward = {.intermediate_size = intermediate_size},
                            .norm = {.epsilon = 1e-12},
                            .norm_place = NormPlace::post,
                            .dropout = dropout},
                  .layers = layers};
  return config;
}

void read_common_fields(ConfigReader& reader, BertConfig& config) {
  BlockConfig& block = config.stack.block;
  config.vocab_size = reader.size("vocab_size", config.vocab_size);
  block.hidden_size = reader.size("hidden_size", block.hidden_size, 1, 1 << 20);
  config.embedding_size = block.hidden_size;
  config.stack.layers = reader.size("num_hidden_layers", config.stack.layers, 1, 10'000);
  block.attention.heads =
      reader.divisor("num_attention_heads", block.attention.heads, "hidden_size", block.hidden_size);
  block.feed_forward.intermediate_size = reader.size("intermediate_size", block.feed_forward.intermediate_size);
  config.position_rows = reader.size("max_position_embeddings", config.position_rows);
  block.norm.epsilon = reader.positive("layer_norm_eps", block.norm.epsilon);
  block.dropout = reader.probability("hidden_dropout_prob", block.dropout);
  block.attention.dropout = reader.probability("attention_probs_dropout_prob", block.attention.dropout);
  config.initializer_range = reader.positive("initializer_range", config.initializer_range);
  config.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", true);
}

TextPositions read_positions(ConfigReader& reader) {
  return reader.choice<TextPositions>("position_embedding_type", "absolute",
                                      {{"absolute", TextPositions::absolute},
                                       {"relative_key", TextPositions::relative_key},
                                       {"relative_key_query", TextPositions::relative_key_query}});
}

double read_bert_fields(ConfigReader& reader, BertConfig& config) {
  read_common_fields(reader, config);
  config.type_vocab_size = reader.size("type_vocab_size", 2, 0);
  config.stack.block.feed_forward.activation = reader.activation("hidden_act", "gelu");
  config.positions = read_positions(reader);
  config.is_decoder = reader.get<bool>("is_decoder", false);
  reader.harmless({"embedding_size", "emb_size"});  // of word vectors; ELECTRA's are the only ones of another size
  return reader.probability("classifier_dropout", config.dropout());
}

// ---- published names

std::vector<PublishedName> bert_names() {
  const std::string layer = "layer.#.", theirs = "encoder.layer.#.";
  return {{"word", "embeddings.word_embeddings"},
          {"position", "embeddings.position_embeddings"},
          {"token_type", "embeddings.token_type_embeddings"},
          {"embedding_norm", "embeddings.LayerNorm"},
          {"projection", "embeddings_project"},
          {layer + "attention.query_key_value", theirs + "attention.self.{query,key,value}"},
          {layer + "attention.distance", theirs + "attention.self.distance_embedding.weight",
           PublishedName::Layout::reversed},
          {layer + "attention.output", theirs + "attention.output.dense"},
          {layer + "attention_norm", theirs + "attention.output.LayerNorm"},
          {layer + "feed_forward.up", theirs + "intermediate.dense"},
          {layer + "feed_forward.down", theirs + "output.dense"},
          {layer + "feed_forward_norm", theirs + "output.LayerNorm"},
          {"pooler", "pooler.dense"}};
}

namespace {

std::string to_text(TextPositions positions) {
  switch (positions) {
    case TextPositions::absolute: return "absolute";
    case TextPositions::relative_key: return "relative to keys";
    case TextPositions::relative_key_query: return "relative to keys and queries";
    case TextPositions::absolute_and_bias: return "absolute, and a bias by distance";
  }
  return "";
}

std::vector<SizeCheck> sizes_of(const BertConfig& bert, const std::vector<PublishedName>& names,
                                const SizeFields& fields) {
  const auto tensor = [&](std::string_view ours, std::int64_t block = 0) {
    return published_name(names, ours, block, bert.stack.blocks_per_group) + ".weight";
  };
  std::vector<SizeCheck> sizes = {{tensor("word"), 0, bert.vocab_size, fields.vocab_size},
                                  {tensor("word"), 1, bert.embedding_size, fields.embedding_size},
                                  {tensor("position"), 0, bert.position_rows, fields.positions}};
  if (bert.type_vocab_size > 0) sizes.push_back({tensor("token_type"), 0, bert.type_vocab_size, fields.types});
  const std::int64_t blocks = bert.stack.blocks();
  const std::string reason = fields.layers + " says " + std::to_string(blocks) + " layers of weights";
  const FeedForwardConfig& feed_forward = bert.stack.block.feed_forward;
  for (const std::int64_t block : {std::int64_t{0}, blocks - 1}) {
    const std::string up = tensor("layer.#.feed_forward.up", block);
    sizes.push_back({up, 0, feed_forward.intermediate_size, fields.intermediate_size, reason});
    sizes.push_back({up, 1, bert.hidden_size(), fields.hidden_size, reason});
  }
  return sizes;
}

// Relative positions are the attention's own, as far as the table of positions reaches.
StackConfig stack_of(const BertConfig& config) {
  StackConfig stack = config.stack;
  const bool with_queries = config.positions == TextPositions::relative_key_query;
  if (config.positions == TextPositions::relative_key || with_queries) {
    stack.block.attention.relative_reach = config.position_rows - 1;
    stack.block.attention.relative_queries = with_queries;
  }
  return stack;
}

}  // namespace

void describe(ModelConfig& config, ConfigReader& reader, const BertConfig& bert, std::vector<PublishedName> names,
              const SizeFields& fields) {
  if (bert.max_tokens() < 1) {
    reader.refuse("max_position_embeddings", std::to_string(bert.position_rows), "more than pad_token_id + 1");
  }
  const BlockConfig& block = bert.stack.block;
  config.info = {.model_type = config.info.model_type,
                 .vocab_size = bert.vocab_size,
                 .embedding_size = bert.embedding_size,
                 .hidden_size = bert.hidden_size(),
                 .intermediate_size = block.feed_forward.intermediate_size,
                 .layers = bert.stack.layers,
                 .heads = block.attention.heads,
                 .attention_layers = bert.stack.passes(),
                 .shared_layers = bert.stack.group_count() < bert.stack.layers,
                 .type_vocab_size = bert.type_vocab_size,
                 .position_rows = bert.position_rows,
                 .max_tokens = bert.max_tokens(),
                 .positions = to_text(bert.positions)};
  config.initializer_range = bert.initializer_range;
  config.sizes = sizes_of(bert, names, fields);
  config.names = std::move(names);
  config.blocks_per_group = bert.stack.blocks_per_group;
  config.make = [bert] { return std::make_shared<BertBackbone>(bert); };
}

// ---- forward

BertBackbone::BertBackbone(const BertConfig& config)
    : config_(config),
      word_(config.vocab_size, config.embedding_size, Initializer::normal(config.initializer_range)),
      position_(config.position_rows, config.embedding_size, Initializer::normal(config.initializer_range)),
      embedding_norm_(config.embedding_size, config.stack.block.norm),
      dropout_(config.dropout()),
      stack_(stack_of(config)) {
  const auto initializer = Initializer::normal(config.initializer_range);
  if (config.type_vocab_size > 0) token_type_.emplace(config.type_vocab_size, config.embedding_size, initializer);
  if (config.embedding_size != config.hidden_size() || config.always_projected) {
    projection_.emplace(config.embedding_size, config.hidden_size(), true, initializer);
  }
}

Tensor BertBackbone::encode(const Inputs& inputs, const Context& context, std::vector<Tensor>* hidden) const {
  return forward(inputs, {.hidden = hidden}, context);
}

Tensor BertBackbone::decode(const Inputs& inputs, DecodeState& state, const Context& context) const {
  return forward(inputs, {.state = &state}, context);
}

Tensor BertBackbone::forward(const Inputs& inputs, StackCall call, const Context& context) const {
  check(inputs, call.state);
  const Tensor x = embed(inputs, call.state, context.child("embeddings"));
  context.tap(Tap::Kind::embeddings, x);
  if (config_.is_decoder) call.attention.mask = Mask::causal();
  return stack_.forward(Packed(x, inputs.ids.offsets), call, context);
}

Tensor BertBackbone::embed(const Inputs& inputs, const DecodeState* state, const Context& context) const {
  Tensor x = inputs.vectors.defined() ? inputs.vectors : word_.forward(inputs.ids.values);
  if (token_type_) {
    // Type 0 everywhere is one row for all tokens.
    x = add(x, token_type_->forward(inputs.type_ids.defined() ? inputs.type_ids : Tensor::zeros({1}, DType::i64)));
  } else {
    HEED_CHECK(!inputs.type_ids.defined(), "[BertBackbone] type ids for a model that has no token types");
  }
  const bool absolute =
      config_.positions == TextPositions::absolute || config_.positions == TextPositions::absolute_and_bias;
  const Tensor normalized = absolute
                                ? embedding_norm_.forward(x, position_.forward(position_numbers(inputs.ids, state)))
                                : embedding_norm_.forward(x);
  const Tensor y = dropout_.forward(normalized, context);
  return projection_ ? projection_->forward(y) : y;
}

Tensor BertBackbone::position_numbers(const Packed& ids, const DecodeState* state) const {
  if (!config_.padding_id) return state ? state->positions(ids.offsets) : position_ids(ids.offsets);
  // RoBERTa's rule: tokens are numbered from padding_id + 1 on, a padding token among them has padding_id and does not
  // count. A decoder, which writes token by token, does count it.
  Tensor result = Tensor::empty({ids.offsets.tokens()}, DType::i64);
  const Tensor flat = ids.values.detached_contiguous();
  visit_index("BertBackbone", flat.dtype(), [&](auto index) {
    const auto* id = flat.data<decltype(index)>();
    auto* position = result.mutable_data<std::int64_t>();
    for (std::int64_t b = 0; b < ids.offsets.sequences(); ++b) {
      std::int64_t next = *config_.padding_id + (state && state->sequences() > 0 ? state->length(b) : 0);
      for (std::int64_t t = ids.offsets.begin(b); t < ids.offsets.end(b); ++t) {
        const bool padding = static_cast<std::int64_t>(id[t]) == *config_.padding_id;
        if (!padding || config_.is_decoder) ++next;
        position[t] = padding ? *config_.padding_id : next;
      }
    }
  });
  return result;
}

void BertBackbone::check(const Inputs& inputs, const DecodeState* state) const {
  const Tensor& ids = inputs.ids.values;
  HEED_CHECK(ids.defined() && ids.rank() == 1, "[BertBackbone] ids ", ids.shape(), ", expected [N]");
  HEED_CHECK(!inputs.type_ids.defined() || inputs.type_ids.shape() == ids.shape(), "[BertBackbone] type ids ",
             inputs.type_ids.shape(), " for ids ", ids.shape());
  HEED_CHECK(!inputs.vectors.defined() || inputs.vectors.shape() == Shape({ids.size(0), config_.embedding_size}),
             "[BertBackbone] vectors ", inputs.vectors.shape(), " for ids ", ids.shape(), ", expected size ",
             config_.embedding_size);
  const Offsets& offsets = inputs.ids.offsets;
  for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
    const std::int64_t length = offsets.length(b) + (state && state->sequences() > 0 ? state->length(b) : 0);
    HEED_CHECK(length <= config_.max_tokens(), "[BertBackbone] sequence ", b, " has ", length,
               " tokens, the model takes at most ", config_.max_tokens());
  }
}

ParameterPlace BertBackbone::place(std::string_view parameter) const {
  constexpr std::string_view kLayer = "layer.";
  if (!parameter.starts_with(kLayer)) return {ParameterPlace::Part::embeddings, 0};
  return {ParameterPlace::Part::layers, std::stoll(std::string(parameter.substr(kLayer.size()))) + 1};
}

void BertBackbone::visit(Visitor& visitor) const {
  visitor.child("word", word_);
  visitor.child("position", position_);
  if (token_type_) visitor.child("token_type", *token_type_);
  visitor.child("embedding_norm", embedding_norm_);
  if (projection_) visitor.child("projection", *projection_);
  stack_.visit(visitor);
}

// ---- BERT itself

namespace {

void read_bert(ConfigReader& reader, ModelConfig& config) {
  BertConfig bert = bert_defaults(30522, 768, 12, 3072, 12, 0.1);
  const double dropout = read_bert_fields(reader, bert);
  describe(config, reader, bert, bert_names());
  const auto pooler = HeadConfig::Input::pooler;
  config.heads = {
      {.kind = HeadKind::sequence_classification,
       .input = pooler,
       .dropout = dropout,
       .names = {{"output", "classifier"}}},
      token_head(HeadKind::token_classification, "classifier", dropout),
      {.kind = bert.language_head(),
       .dense_size = bert.hidden_size(),
       .activation = bert.activation(),
       .norm = bert.stack.block.norm,
       .tied = bert.tie_word_embeddings,
       .names = {{"dense", "cls.predictions.transform.dense"},
                 {"norm", "cls.predictions.transform.LayerNorm"},
                 {"output.weight", "cls.predictions.decoder.weight"},
                 {"output.bias", "cls.predictions.bias"}},
       .copies = {{"", "cls.predictions.decoder.weight"}, {"cls.predictions.bias", "cls.predictions.decoder.bias"}}},
      token_head(HeadKind::question_answering, "qa_outputs", 0),
      {.kind = HeadKind::next_sentence, .input = pooler, .names = {{"output", "cls.seq_relationship"}}}};
}

}  // namespace

const ModelFamily& bert_family() {
  static const ModelFamily family{.model_type = "bert",
                                  .class_name = "Bert",
                                  .prefix = "bert.",
                                  .read = read_bert,
                                  .unused = {},
                                  .lm_class = "BertLMHeadModel"};
  return family;
}

}  // namespace heed
