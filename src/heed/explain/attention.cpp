#include "heed/explain/attention.h"

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

Tensor identity(std::int64_t size) {
  Tensor eye = Tensor::zeros({size, size});
  for (std::int64_t i = 0; i < size; ++i) eye.mutable_data<float>()[i * size + i] = 1;
  return eye;
}

}  // namespace

double TextAttention::mean_entropy(std::int64_t layer, std::int64_t head) const {
  const Tensor& values = layers.at(static_cast<std::size_t>(layer)).entropy;
  HEED_CHECK(head >= 0 && head < values.size(1), "[mean_entropy] head ", head, " of ", values.size(1));
  double sum = 0;
  for (std::int64_t t = 0; t < values.size(0); ++t) {
    sum += static_cast<double>(values.data<float>()[t * values.size(1) + head]);
  }
  return values.size(0) > 0 ? sum / static_cast<double>(values.size(0)) : 0;
}

TextAttention attention_of(const LoadedModel& model, const text::Encoding& encoding,
                           const AttentionRecord::UseWeights& use, bool with_states) {
  HEED_CHECK(encoding.size() > 0, "[attention_of] the text has no tokens");
  const NoGrad no_grad;
  const std::int64_t memory = model.model().info().memory;
  AttentionRecord record(use, Tap::Part::encoder, memory);
  const Inputs inputs = pack_encodings(std::span(&encoding, 1), model.model().info());
  ModelOutput output = model.model().forward(inputs, Context::watched_by(record), with_states);
  return {record.layers(), memory, std::move(output)};
}

AttentionRollout::AttentionRollout(std::int64_t tokens, std::int64_t heads)
    : heads_(heads), layer_(Tensor::zeros({tokens, tokens})), reached_(identity(tokens)) {
  HEED_CHECK(tokens > 0 && heads > 0, "[AttentionRollout] ", tokens, " tokens, ", heads, " heads");
}

void AttentionRollout::add(const Tensor& weights) {
  HEED_CHECK(weights.shape() == layer_.shape(), "[AttentionRollout] weights ", weights.shape(), ", expected ",
             layer_.shape());
  const NoGrad no_grad;
  layer_ = heed::add(layer_, weights);
  if (++added_ % heads_ != 0) return;
  const Tensor mean = scale(layer_, 0.5 / static_cast<double>(heads_));
  reached_ = heed::add(matmul(mean, reached_), scale(reached_, 0.5));
  layer_ = Tensor::zeros(layer_.shape());
}

std::vector<double> AttentionRollout::row(std::int64_t token) const {
  HEED_CHECK(token >= 0 && token < reached_.size(0), "[AttentionRollout] token ", token, " of ", reached_.size(0));
  const float* first = reached_.data<float>() + token * reached_.size(1);
  return {first, first + reached_.size(1)};
}

}  // namespace heed
