// While it lives, the modules have the weights that are judged and saved: the moving averages, if there are any, and
// merged low-rank additions. Then those that are trained are back.
#pragma once

#include <vector>

#include "heed/tensor/autograd.h"
#include "heed/train/lora.h"

namespace heed {

class FinalWeights {
 public:
  // averages: one for each of `trained`, or none.
  FinalWeights(const std::vector<PlacedParameter>& trained, const std::vector<Tensor>& averages, Lora* lora)
      : trained_(trained), lora_(lora) {
    const NoGrad no_grad;
    for (std::size_t i = 0; i < averages.size(); ++i) {
      kept_.push_back(trained[i].parameter->detach().detached_clone());
      trained[i].parameter->copy_from(averages[i]);
    }
    if (lora_) lora_->merge();
  }
  ~FinalWeights() {
    if (lora_) lora_->restore();
    for (std::size_t i = 0; i < kept_.size(); ++i) trained_[i].parameter->copy_from(kept_[i]);
  }
  FinalWeights(const FinalWeights&) = delete;
  FinalWeights& operator=(const FinalWeights&) = delete;

 private:
  const std::vector<PlacedParameter>& trained_;
  Lora* lora_;
  std::vector<Tensor> kept_;
};

}  // namespace heed
