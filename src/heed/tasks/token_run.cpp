#include "heed/tasks/token_run.h"

#include "heed/ops/gather.h"
#include "heed/ops/loss.h"

namespace heed {

Tensor TokenRun::forward(const Model& model, const HeadBatch& part, const Tensor& hidden,
                         const Context& context) const {
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < part.batch.samples.size(); ++i) {
    const std::int64_t first = part.batch.inputs.ids.offsets.begin(static_cast<std::int64_t>(i));
    for (const std::size_t place : places(part, i)) rows.push_back(first + static_cast<std::int64_t>(place));
  }
  return model.logits_of_rows(take_rows(hidden, Tensor::from(rows, {std::ssize(rows)})), context);
}

double TokenRun::count(const HeadBatch& part) const {
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < part.batch.samples.size(); ++i) tokens += places(part, i).size();
  return static_cast<double>(tokens);
}

Tensor TokenRun::loss(const HeadBatch& part) const {
  std::vector<std::int64_t> classes;
  for (std::size_t i = 0; i < part.batch.samples.size(); ++i) {
    for (const std::size_t place : places(part, i)) classes.push_back(right_token(part, i, place));
  }
  return cross_entropy(part.logits, Tensor::from(classes, {part.logits.size(0)}), {.reduction = Reduction::sum});
}

}  // namespace heed
