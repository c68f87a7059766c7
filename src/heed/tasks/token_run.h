// What tasks about single tokens share: masked ones, or the next one. Logits are a row of the whole vocabulary, which
// is why there is one for each place that counts and for no other.
#pragma once

#include "heed/tasks/task.h"

namespace heed {

class TokenRun : public TrainableRun {
 public:
  // [places, V], sample after sample
  Tensor forward(const Model& model, const HeadBatch& part, const Tensor& hidden,
                 const Context& context) const override;
  double count(const HeadBatch& part) const override;
  Tensor loss(const HeadBatch& part) const override;

 protected:
  using TrainableRun::TrainableRun;
  // The tokens of a sample whose logits count, and the token that is right there.
  virtual std::vector<std::size_t> places(const HeadBatch& part, std::size_t sample) const = 0;
  virtual std::int64_t right_token(const HeadBatch& part, std::size_t sample, std::size_t place) const = 0;
};

}  // namespace heed
