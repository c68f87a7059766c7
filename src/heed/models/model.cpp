#include "heed/models/model.h"

#include "heed/base/error.h"
#include "heed/models/segments.h"
#include "heed/ops/gather.h"

namespace heed {
namespace {

// The backbone is an encoder by its name in files of parameters, whatever it can do.
constexpr std::string_view kBackbone = "encoder", kPooler = "encoder.pooler", kHead = "head";

std::shared_ptr<Backbone> backbone_of(const ModelConfig& config) {
  HEED_CHECK(config.make, "[Model] a config without a family, expected one of parse_model_config()");
  return config.make();
}

// A row per sequence.
template <class RowOf>
Tensor rows_of(const Tensor& hidden, const Offsets& offsets, const RowOf& row_of) {
  Tensor rows = Tensor::empty({offsets.sequences()}, DType::i64);
  auto* row = rows.mutable_data<std::int64_t>();
  for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
    HEED_CHECK(offsets.length(b) > 0, "[Model] sequence ", b, " is empty");
    row[b] = row_of(b);
  }
  return take_rows(hidden, rows);
}

}  // namespace

std::string_view to_string(ParameterPlace::Part part) {
  switch (part) {
    case ParameterPlace::Part::embeddings: return "embeddings";
    case ParameterPlace::Part::layers: return "layers";
    case ParameterPlace::Part::pooler: return "pooler";
    case ParameterPlace::Part::head: return "head";
  }
  fail(ErrorKind::internal, "[ParameterPlace] no such part");
}

bool ParameterPlace::is(std::string_view name) const {
  if (part == Part::layers && name == "layers." + std::to_string(depth - 1)) return true;
  return name == to_string(part);
}

Model::Model(ModelConfig config, HeadKind head, bool with_pooler, std::shared_ptr<Backbone> backbone)
    : config_(std::move(config)), head_kind_(head), backbone_(backbone ? std::move(backbone) : backbone_of(config_)) {
  const HeadConfig* description = head == HeadKind::none ? nullptr : &config_.head_config(head);
  if (with_pooler || (description && description->input == HeadConfig::Input::pooler)) {
    const std::int64_t size = config_.info.hidden_size;
    pooler_.emplace(size, size, true, Initializer::normal(config_.initializer_range));
  }
  if (description) head_.emplace(config_, *description, backbone_->words(), backbone_->adaptive_words());
}

Inputs Model::completed(const Inputs& inputs) const {
  const std::string& type = config_.info.model_type;
  HEED_CHECK(backbone_->encodes(), "[Model] ", type, " does not encode whole texts");
  const bool has_source = inputs.source.values.defined();
  HEED_CHECK(backbone_->reads() || !has_source, "[Model] a source for ", type, ", which reads none");
  if (!head_ || !head_->reads_itself() || has_source) return inputs;
  HEED_CHECK(!inputs.vectors.defined(), "[Model] vectors for ", type, ", which reads its text twice");
  const Offsets& offsets = inputs.ids.offsets;
  const Tensor ids = inputs.ids.values.detached_to(DType::i64).detached_contiguous();
  Tensor later = ids.detached_clone();
  const auto* id = ids.data<std::int64_t>();
  auto* out = later.mutable_data<std::int64_t>();
  for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
    for (std::int64_t t = offsets.begin(b); t < offsets.end(b); ++t) {
      out[t] = t == offsets.begin(b) ? config_.decoder_start : id[t - 1];
    }
  }
  return {.ids = Packed(later, offsets), .type_ids = inputs.type_ids, .source = inputs.ids};
}

Tensor Model::encode(const Inputs& inputs, const Context& context) const {
  const Inputs all = completed(inputs);
  if (!all.remembered.empty()) return encode_remembered(*backbone_, all, context.child(kBackbone));
  return backbone_->encodes()->encode(all, context.child(kBackbone));
}

Tensor Model::logits_of_rows(const Tensor& rows, const Context& context) const {
  HEED_CHECK(head_, "[Model] has no head");
  return head_->forward(rows, context.child(kHead));
}

Tensor Model::logits(const Tensor& hidden, const Offsets& offsets, const Context& context) const {
  HEED_CHECK(head_, "[Model] has no head");
  switch (head_->input()) {
    case HeadConfig::Input::tokens: return logits_of_rows(hidden, context);
    case HeadConfig::Input::first_token: return logits_of_rows(first_tokens(hidden, offsets), context);
    case HeadConfig::Input::last_token: return logits_of_rows(last_tokens(hidden, offsets), context);
    case HeadConfig::Input::pooler: return logits_of_rows(pooled(hidden, offsets), context);
  }
  fail(ErrorKind::internal, "[Model] a head of unknown input");
}

Tensor Model::pooled(const Tensor& hidden, const Offsets& offsets) const {
  HEED_CHECK(pooler_, "[Model] has no pooler");
  return pooler_->forward(first_tokens(hidden, offsets), Activation::tanh);
}

double Model::head_operations(std::int64_t rows) const {
  if (!head_) return 0;
  const auto size = static_cast<double>(config_.info.hidden_size);
  const bool reads_pooler = head_->input() == HeadConfig::Input::pooler;
  return head_->operations(rows) + (reads_pooler ? 2 * static_cast<double>(rows) * size * size : 0);
}

double Model::operations(const Offsets& offsets) const {
  const bool of_tokens = head_ && head_->input() == HeadConfig::Input::tokens;
  return backbone_->operations(offsets) + head_operations(of_tokens ? offsets.tokens() : offsets.sequences());
}

ModelOutput Model::forward(const Inputs& inputs, const Context& context, bool with_states) const {
  HEED_CHECK(inputs.remembered.empty(), "[Model] forward() takes whole texts, encode() what is remembered of them too");
  ModelOutput out;
  out.hidden =
      backbone_->encodes()->encode(completed(inputs), context.child(kBackbone), with_states ? &out.states : nullptr);
  const Offsets& offsets = inputs.ids.offsets;
  if (pooler_) out.pooled = pooled(out.hidden, offsets);
  if (head_) {
    const bool reads_pooler = head_->input() == HeadConfig::Input::pooler;
    out.logits = reads_pooler ? logits_of_rows(out.pooled, context) : logits(out.hidden, offsets, context);
    context.tap(Tap::Kind::logits, out.logits);
  }
  return out;
}

ParameterPlace Model::place(std::string_view parameter) const {
  const std::int64_t last = config_.info.layers + 1;
  if (parameter.starts_with(kHead)) return {ParameterPlace::Part::head, last};
  if (parameter.starts_with(kPooler)) return {ParameterPlace::Part::pooler, last};
  return backbone_->place(parameter.substr(kBackbone.size() + 1));
}

void Model::visit(Visitor& visitor) const {
  visitor.child(kBackbone, *backbone_);
  if (pooler_) visitor.child(kPooler, *pooler_);
  if (head_) visitor.child(kHead, *head_);
}

std::vector<PlacedParameter> placed_parameters(Model& model) {
  std::vector<PlacedParameter> placed;
  const auto weights = weight_names(model);
  for (NamedParameter& each : named_parameters(model)) {
    const ParameterPlace place = model.place(each.name);
    const bool is_weight = weights.contains(each.name);
    placed.push_back({std::move(each), place, is_weight});
  }
  return placed;
}

Tensor first_tokens(const Tensor& hidden, const Offsets& offsets) {
  return rows_of(hidden, offsets, [&](std::int64_t b) { return offsets.begin(b); });
}

Tensor last_tokens(const Tensor& hidden, const Offsets& offsets) {
  return rows_of(hidden, offsets, [&](std::int64_t b) { return offsets.end(b) - 1; });
}

}  // namespace heed
