// Trainer, for TensorBoard: how the trained weights are spread, and what the heads look at in the first batch of
// data.dev. Nothing here changes what is learned.
#include "heed/tensor/autograd.h"
#include "heed/train/attention_watch.h"
#include "heed/train/final_weights.h"
#include "heed/train/trainer.h"

namespace heed {

void Trainer::log_weights_and_attention() {
  EventFile& file = *log_->events();
  for (const NamedParameter& each : trained_) {
    const Tensor values = each.parameter->detach().contiguous();
    file.histogram(step_, "weights/" + each.name,
                   std::span(values.data<float>(), static_cast<std::size_t>(values.count())));
  }
  const NoGrad no_grad;
  const FinalWeights final_weights(trained_, averages_, lora_.get());
  const BatchPlan plan(dev_->lengths(), {.tokens = config_.batch.tokens, .shuffle = false}, 0, 0);
  const Batch batch = make(*dev_, plan.batch(0), kEvaluationEpoch);
  AttentionWatch watch;
  heads_[0].model->encode(batch.input, Context::watched_by(watch));
  for (std::size_t layer = 0; layer < watch.layers(); ++layer) {
    const std::vector<double> entropies = watch.entropies(layer);
    for (std::size_t head = 0; head < entropies.size(); ++head) {
      const std::string place = "attention/layer" + std::to_string(layer) + "/head" + std::to_string(head);
      file.scalar(step_, place + "/entropy", entropies[head]);
    }
  }
  constexpr std::int64_t kMostPictured = 64;
  const GreyImage picture = watch.picture(std::min(batch.input.ids.offsets.length(0), kMostPictured));
  if (!picture.pixels.empty()) file.image(step_, "attention", picture);
}

}  // namespace heed
