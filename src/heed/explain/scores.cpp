#include "heed/explain/scores.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/normalize.h"
#include "heed/ops/reduce.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"

namespace heed {

Score label_score(const LoadedModel& model, std::size_t label) {
  HEED_CHECK(model.model().head() == HeadKind::sequence_classification, "[label_score] a ",
             model.model().architecture(), " has no labels of texts");
  HEED_CHECK(label < model.labels().size(), "[label_score] label ", label, ", the model has ", model.labels().size());
  const auto column = static_cast<std::int64_t>(label);
  return [&model, column](const Inputs& input) {
    const Tensor logits = model.model().forward(input, Context()).logits;
    return reshape(slice(logits, 1, column, column + 1), {logits.size(0)});
  };
}

Score cosine_score(const LoadedModel& model, const EmbedPlan& plan, const Tensor& vector) {
  const std::int64_t width = model.model().info().vector_size();
  HEED_CHECK(vector.shape() == Shape({width}), "[cosine_score] vector ", vector.shape(), ", expected [", width, "]");
  // x / |x| is rms_norm(x) / sqrt(C).
  constexpr double kEpsilon = 1e-24;
  const NoGrad no_grad;
  const Tensor unit = scale(rms_norm(vector, Tensor(), kEpsilon), 1 / static_cast<double>(width));
  return [&model, plan, unit](const Inputs& input) {
    const Tensor hidden = model.model().encode(input, Context());
    return sum(multiply(rms_norm(plan.pool(hidden, input.ids.offsets), Tensor(), kEpsilon), unit), 1);
  };
}

Inputs repeated_input(const LoadedModel& model, const text::Encoding& encoding, std::size_t copies) {
  text::Encoding bare;
  bare.ids = encoding.ids;
  bare.type_ids = encoding.type_ids;
  return pack_encodings(std::vector<text::Encoding>(copies, bare), model.model().info());
}

}  // namespace heed
