#include "heed/models/encoder_model.h"

#include "heed/base/error.h"

namespace heed {
namespace {

const EncoderFamily& family_of(const EncoderConfig& config) {
  const EncoderFamily* family = find_encoder_family(config.model_type);
  HEED_CHECK(family, "[EncoderModel] model_type \"", config.model_type, "\" is not known");
  return *family;
}

bool reads_pooler(const EncoderConfig& config, Head head) {
  if (head == Head::none) return false;
  return head_description(family_of(config), head).input == HeadDescription::Input::pooler;
}

}  // namespace

EncoderModel::EncoderModel(EncoderConfig config, Head head, bool with_pooler)
    : config_(std::move(config)), head_kind_(head), encoder_(config_, with_pooler || reads_pooler(config_, head)) {
  if (head != Head::none) head_.emplace(config_, head_description(family_of(config_), head), encoder_.word_table());
}

Tensor EncoderModel::encode(const EncoderInput& input, const Context& context) const {
  return encoder_.forward(input, context.child("encoder"));
}

Tensor EncoderModel::logits(const Tensor& rows, const Context& context) const {
  HEED_CHECK(head_, "[EncoderModel] has no head");
  return head_->forward(rows, context.child("head"));
}

Tensor EncoderModel::logits_of(const Tensor& hidden, const Offsets& offsets, const Context& context) const {
  HEED_CHECK(head_, "[EncoderModel] has no head");
  switch (head_->input()) {
    case HeadDescription::Input::tokens: return logits(hidden, context);
    case HeadDescription::Input::first_token: return logits(first_tokens(hidden, offsets), context);
    case HeadDescription::Input::pooler: return logits(encoder_.pooled(hidden, offsets), context);
  }
  fail(ErrorKind::internal, "[EncoderModel] a head of unknown input");
}

EncoderOutput EncoderModel::forward(const EncoderInput& input, const Context& context, bool with_states) const {
  EncoderOutput out;
  out.hidden = encoder_.forward(input, context.child("encoder"), with_states ? &out.states : nullptr);
  const Offsets& offsets = input.ids.offsets;
  if (encoder_.has_pooler()) out.pooled = encoder_.pooled(out.hidden, offsets);
  if (head_) {
    const bool reads_pooler = head_->input() == HeadDescription::Input::pooler;
    out.logits = reads_pooler ? logits(out.pooled, context) : logits_of(out.hidden, offsets, context);
    context.tap("logits", out.logits);
  }
  return out;
}

void EncoderModel::visit(Visitor& visitor) {
  visitor.child("encoder", encoder_);
  if (head_) visitor.child("head", *head_);
}

}  // namespace heed
