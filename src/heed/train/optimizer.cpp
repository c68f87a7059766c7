#include "heed/train/optimizer.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/optimizer.h"
#include "heed/kernels/reduce.h"

namespace heed {
namespace {

class Sgd : public Optimizer {
 public:
  Sgd(std::vector<ParameterGroup> groups, const SgdOptions& options) : Optimizer(std::move(groups)), options_(options) {
    HEED_CHECK(!options.nesterov || (options.momentum > 0 && options.dampening == 0),
               "[sgd] Nesterov needs momentum and no dampening");
    if (options.momentum > 0) slot_names_ = {"momentum"};
  }

 protected:
  void update(const Update& u) override {
    const kernels::SgdStep step{.lr = u.learning_rate,
                                .momentum = options_.momentum,
                                .dampening = options_.dampening,
                                .weight_decay = u.weight_decay,
                                .nesterov = options_.nesterov,
                                .step = u.state.updates};
    visit_float("sgd", u.parameter.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::sgd<T>(step, u.gradient.data<T>(), u.parameter.mutable_data<T>(), u.slot<T>(0), u.parameter.count());
    });
  }

 private:
  SgdOptions options_;
};

class Adam : public Optimizer {
 public:
  Adam(std::vector<ParameterGroup> groups, const AdamOptions& options)
      : Optimizer(std::move(groups)), options_(options) {
    slot_names_ = {"mean", "square"};
    if (options.amsgrad) slot_names_.emplace_back("max_square");
  }

 protected:
  void update(const Update& u) override {
    const kernels::AdamStep step{.lr = u.learning_rate,
                                 .beta1 = options_.beta1,
                                 .beta2 = options_.beta2,
                                 .eps = options_.epsilon,
                                 .weight_decay = u.weight_decay,
                                 .decoupled = options_.decoupled,
                                 .amsgrad = options_.amsgrad,
                                 .step = u.state.updates};
    visit_float("adam", u.parameter.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::adam<T>(step, u.gradient.data<T>(), u.parameter.mutable_data<T>(), u.slot<T>(0), u.slot<T>(1),
                       u.slot<T>(2), u.parameter.count());
    });
  }

 private:
  AdamOptions options_;
};

class Adagrad : public Optimizer {
 public:
  Adagrad(std::vector<ParameterGroup> groups, const AdagradOptions& options)
      : Optimizer(std::move(groups)), options_(options) {
    slot_names_ = {"sum"};
  }

 protected:
  void update(const Update& u) override {
    const kernels::AdagradStep step{.lr = u.learning_rate,
                                    .lr_decay = options_.learning_rate_decay,
                                    .eps = options_.epsilon,
                                    .weight_decay = u.weight_decay,
                                    .step = u.state.updates};
    visit_float("adagrad", u.parameter.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::adagrad<T>(step, u.gradient.data<T>(), u.parameter.mutable_data<T>(), u.slot<T>(0), u.parameter.count());
    });
  }

 private:
  AdagradOptions options_;
};

class Rmsprop : public Optimizer {
 public:
  Rmsprop(std::vector<ParameterGroup> groups, const RmspropOptions& options)
      : Optimizer(std::move(groups)), options_(options) {
    slot_names_ = {"square", "average", "momentum"};
  }

 protected:
  void update(const Update& u) override {
    const kernels::RmspropStep step{.lr = u.learning_rate,
                                    .alpha = options_.alpha,
                                    .eps = options_.epsilon,
                                    .weight_decay = u.weight_decay,
                                    .momentum = options_.momentum,
                                    .centered = options_.centered};
    visit_float("rmsprop", u.parameter.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::rmsprop<T>(step, u.gradient.data<T>(), u.parameter.mutable_data<T>(), u.slot<T>(0), u.slot<T>(1),
                          u.slot<T>(2), u.parameter.count());
    });
  }

 private:
  RmspropOptions options_;
};

}  // namespace

Optimizer::Optimizer(std::vector<ParameterGroup> groups) : groups_(std::move(groups)) {
  for (const ParameterGroup& group : groups_) {
    for (const Tensor& parameter : group.parameters) {
      HEED_CHECK(parameter.defined() && parameter.requires_grad() && parameter.is_contiguous(),
                 "[Optimizer] a parameter ", parameter.shape(), " does not require gradients or is a strided view");
    }
    states_.resize(states_.size() + group.parameters.size());
  }
}

void Optimizer::step(double learning_rate) {
  std::size_t index = 0;
  for (ParameterGroup& group : groups_) {
    for (Tensor& parameter : group.parameters) {
      State& state = states_[index++];
      const Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      while (state.slots.size() < slot_names_.size()) {
        state.slots.push_back(Tensor::zeros(parameter.shape(), parameter.dtype()));
      }
      ++state.updates;
      update({parameter, gradient.detached_contiguous(), state, learning_rate * group.learning_rate_scale,
              group.weight_decay});
    }
  }
}

void Optimizer::clear_gradients() {
  for (ParameterGroup& group : groups_) {
    for (Tensor& parameter : group.parameters) parameter.clear_grad();
  }
}

std::unique_ptr<Optimizer> make_sgd(std::vector<ParameterGroup> groups, const SgdOptions& options) {
  return std::make_unique<Sgd>(std::move(groups), options);
}
std::unique_ptr<Optimizer> make_adam(std::vector<ParameterGroup> groups, const AdamOptions& options) {
  return std::make_unique<Adam>(std::move(groups), options);
}
std::unique_ptr<Optimizer> make_adagrad(std::vector<ParameterGroup> groups, const AdagradOptions& options) {
  return std::make_unique<Adagrad>(std::move(groups), options);
}
std::unique_ptr<Optimizer> make_rmsprop(std::vector<ParameterGroup> groups, const RmspropOptions& options) {
  return std::make_unique<Rmsprop>(std::move(groups), options);
}

double clip_gradient_norm(const std::vector<Tensor>& parameters, double limit) {
  HEED_CHECK(limit > 0, "[clip_gradient_norm] limit ", limit, ", expected more than 0");
  double squares = 0;
  for (const Tensor& parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    const Tensor gradient = parameter.grad().detached_contiguous();
    visit_float("clip_gradient_norm", gradient.dtype(), [&](auto zero) {
      using T = decltype(zero);
      squares += static_cast<double>(kernels::sum_of_squares<T>(gradient.data<T>(), gradient.count()));
    });
  }
  const double norm = std::sqrt(squares);
  if (!(norm > limit)) return norm;
  for (Tensor parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    const Tensor gradient = parameter.grad().detached_contiguous();
    // A new tensor: the bytes may be shared with another parameter's gradient.
    Tensor clipped = Tensor::empty(gradient.shape(), gradient.dtype());
    visit_float("clip_gradient_norm", gradient.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::scale<T>(gradient.data<T>(), static_cast<T>(limit / norm), T(0), clipped.mutable_data<T>(),
                        gradient.count());
    });
    parameter.set_grad(clipped);
  }
  return norm;
}

}  // namespace heed
