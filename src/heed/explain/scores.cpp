#include "heed/explain/scores.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/normalize.h"
#include "heed/ops/reduce.h"
#include "heed/ops/shape_ops.h"

namespace heed {

Score label_score(const TextModel& model, std::size_t label) {
  model.require(Head::sequence_classification, "label_score");
  HEED_CHECK(label < model.labels().size(), "[label_score] label ", label, ", the model has ", model.labels().size());
  const auto column = static_cast<std::int64_t>(label);
  return [&model, column](const EncoderInput& input) {
    const Tensor logits = model.encoder().forward(input, Context()).logits;
    return reshape(slice(logits, 1, column, column + 1), {logits.size(0)});
  };
}

Score cosine_score(const TextModel& model, SentenceEmbedding::Pooling pooling, const Tensor& vector) {
  const std::int64_t width = model.encoder().config().width;
  HEED_CHECK(vector.shape() == Shape({width}), "[cosine_score] vector ", vector.shape(), ", expected [", width, "]");
  // x / |x| is rms_norm(x) / sqrt(C).
  constexpr double kEpsilon = 1e-24;
  const NoGrad no_grad;
  const Tensor unit = scale(rms_norm(vector, Tensor(), kEpsilon), 1 / static_cast<double>(width));
  return [&model, pooling, unit](const EncoderInput& input) {
    const Tensor hidden = model.encoder().encode(input, Context());
    return sum(multiply(rms_norm(pool_texts(hidden, input.ids.offsets, pooling), Tensor(), kEpsilon), unit), 1);
  };
}

EncoderInput repeated_input(const TextModel& model, const text::Encoding& encoding, std::size_t copies) {
  const std::vector<std::size_t> chosen(copies, 0);
  return pack_encodings(std::span(&encoding, 1), chosen, model.encoder().config().types > 1);
}

}  // namespace heed
