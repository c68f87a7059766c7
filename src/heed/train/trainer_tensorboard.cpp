// Trainer, for TensorBoard: how the trained weights are spread, and what the heads look at in the first batch of
// data.dev. Nothing here changes what is learned.
#include "heed/tensor/autograd.h"
#include "heed/train/attention_picture.h"
#include "heed/train/final_weights.h"
#include "heed/train/trainer.h"

namespace heed {

void Trainer::log_weights_and_attention() {
  EventFile& file = *log_->events();
  for (const PlacedParameter& each : trained_) {
    const Tensor values = each.parameter->detach().detached_contiguous();
    file.histogram(step_, "weights/" + each.name,
                   std::span(values.data<float>(), static_cast<std::size_t>(values.count())));
  }
  const NoGrad no_grad;
  const FinalWeights final_weights(trained_, averages_, lora_.get());
  const BatchPlan plan(dev_->lengths(), {.tokens = config_.batch.tokens, .shuffle = false}, 0, 0);
  const Batch batch = dev_->batch(plan.batch(0), seed(), kEvaluationEpoch, main_model().info());
  AttentionRecord record({}, Tap::Part::encoder, main_model().info().memory);
  Inputs whole = batch.inputs;
  whole.remembered.clear();  // one segment each, so that a sequence has its attention in one place
  main_model().encode(whole, Context::watched_by(record));
  for (std::size_t layer = 0; layer < record.layers().size(); ++layer) {
    const std::vector<double> entropies = mean_entropies(record.layers()[layer]);
    for (std::size_t head = 0; head < entropies.size(); ++head) {
      const std::string place = "attention/layer" + std::to_string(layer) + "/head" + std::to_string(head);
      file.scalar(step_, place + "/entropy", entropies[head]);
    }
  }
  constexpr std::int64_t kMostPictured = 64;
  const Inputs& inputs = batch.inputs;
  const Offsets& pictured = inputs.source.values.defined() ? inputs.source.offsets : inputs.ids.offsets;
  const GreyImage picture = attention_picture(record.layers(), std::min(pictured.length(0), kMostPictured));
  if (!picture.pixels.empty()) file.image(step_, "attention", picture);
}

}  // namespace heed
