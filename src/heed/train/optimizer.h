// Optimizers, with the formulas and the order of operations of PyTorch's.
//
// An optimizer owns its parameters in groups (other weight decay, scaled learning rate); step() takes the learning rate
// of this step, which a schedule computes. Parameters without a gradient are left alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

struct ParameterGroup {
  std::vector<Tensor> parameters;
  double weight_decay = 0;
  double learning_rate_scale = 1;
};

class Optimizer {
 public:
  explicit Optimizer(std::vector<ParameterGroup> groups);
  virtual ~Optimizer() = default;

  // One update of every parameter that has a gradient.
  void step(double learning_rate);
  void clear_gradients();

  // What a resumed run needs beside the weights: the number of updates of each parameter and, by slot ("momentum" ...),
  // its tensors. Slots appear with the first update.
  struct State {
    std::int64_t updates = 0;
    std::vector<Tensor> slots;
  };
  const std::vector<std::string>& slot_names() const { return slot_names_; }
  std::vector<State>& states() { return states_; }  // in order of groups, then parameters

 protected:
  struct Update {
    Tensor& parameter;
    Tensor gradient;  // contiguous
    State& state;     // `updates` counts this one already
    double learning_rate;
    double weight_decay;
    // The elements of a slot; null where the optimizer has no such slot.
    template <class T>
    T* slot(std::size_t i) const {
      return i < state.slots.size() ? state.slots[i].mutable_data<T>() : nullptr;
    }
  };
  virtual void update(const Update& u) = 0;

  std::vector<std::string> slot_names_;

 private:
  std::vector<ParameterGroup> groups_;
  std::vector<State> states_;
};

struct SgdOptions {
  double momentum = 0, dampening = 0;
  bool nesterov = false;
};
struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  bool decoupled = true;  // AdamW: weight decay beside the gradient; false: classic Adam, decay added to the gradient
  bool amsgrad = false;
};
struct AdagradOptions {
  double learning_rate_decay = 0, epsilon = 1e-10;
};
struct RmspropOptions {
  double alpha = 0.99, epsilon = 1e-8, momentum = 0;
  bool centered = false;
};

std::unique_ptr<Optimizer> make_sgd(std::vector<ParameterGroup> groups, const SgdOptions& options = {});
std::unique_ptr<Optimizer> make_adam(std::vector<ParameterGroup> groups, const AdamOptions& options = {});
std::unique_ptr<Optimizer> make_adagrad(std::vector<ParameterGroup> groups, const AdagradOptions& options = {});
std::unique_ptr<Optimizer> make_rmsprop(std::vector<ParameterGroup> groups, const RmspropOptions& options = {});

// Scales all gradients so that their common Euclidean norm is at most `limit`; returns the norm before.
double clip_gradient_norm(const std::vector<Tensor>& parameters, double limit);

}  // namespace heed
