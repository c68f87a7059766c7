#include "heed/nn/module.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed {
namespace {

thread_local bool parameters_deferred = false;

using OnParameter = std::function<void(const std::string& name, const Tensor&, const Initializer&)>;
using OnMutableParameter = std::function<void(const std::string& name, Tensor&, const Initializer&)>;

using OnBuffer = std::function<void(const std::string& name, const Tensor&)>;

class Walk : public Visitor {
 public:
  explicit Walk(OnParameter on_parameter, OnBuffer on_buffer = {})
      : on_parameter_(std::move(on_parameter)), on_buffer_(std::move(on_buffer)) {}

  void parameter(std::string_view name, const Tensor& parameter, const Initializer& initializer) override {
    on_parameter_(prefix_ + std::string(name), parameter, initializer);
  }
  void buffer(std::string_view name, const Tensor& values) override {
    if (on_buffer_ && values.defined()) on_buffer_(prefix_ + std::string(name), values);
  }

  void child(std::string_view name, const Module& module) override {
    const std::size_t length = prefix_.size();
    prefix_ += name;
    prefix_ += '.';
    module.visit(*this);
    prefix_.resize(length);
  }

 private:
  OnParameter on_parameter_;
  OnBuffer on_buffer_;
  std::string prefix_;
};

// A walk that passes over what no Weight holds.
class WeightWalk : public Walk {
 public:
  using Walk::Walk;
  void parameter(std::string_view name, const Tensor& parameter, const Initializer& initializer) override {
    if (in_weight_) Walk::parameter(name, parameter, initializer);
  }
  void weight(std::string_view name, const Weight& weight, const Initializer& initializer) override {
    in_weight_ = true;
    Walk::weight(name, weight, initializer);
    in_weight_ = false;
  }

 private:
  bool in_weight_ = false;
};

bool same_tensor(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && a.offset() == b.offset() && a.shape() == b.shape();
}

void walk(const Module& module, OnParameter on_parameter, OnBuffer on_buffer = {}) {
  Walk visitor(std::move(on_parameter), std::move(on_buffer));
  module.visit(visitor);
}

// The parameters of a module that is not const are members of it, or shared with it, and may be changed.
void walk_mutable(Module& module, const OnMutableParameter& on_parameter) {
  walk(module, [&](const std::string& name, const Tensor& parameter, const Initializer& initializer) {
    on_parameter(name, const_cast<Tensor&>(parameter), initializer);
  });
}

// The same for whole weights.
class Replacement : public Visitor {
 public:
  Replacement(const std::function<Weight(const Weight&)>& weight, const std::function<Tensor(const Tensor&)>& parameter)
      : weight_(weight), parameter_(parameter) {}

  void weight(std::string_view, const Weight& weight, const Initializer&) override {
    const_cast<Weight&>(weight) = weight_(weight);
  }
  void parameter(std::string_view, const Tensor& parameter, const Initializer&) override {
    if (parameter.defined()) const_cast<Tensor&>(parameter) = parameter_(parameter);
  }
  void child(std::string_view, const Module& module) override { module.visit(*this); }

 private:
  const std::function<Weight(const Weight&)>& weight_;
  const std::function<Tensor(const Tensor&)>& parameter_;
};

// Calls use(name, parameter) for each parameter of named_parameters().
void for_each_once(const Module& module, const std::function<void(const std::string&, const Tensor&)>& use) {
  std::vector<const Tensor*> seen;
  walk(module, [&](const std::string& name, const Tensor& parameter, const Initializer&) {
    if (!parameter.defined()) return;
    if (std::ranges::any_of(seen, [&](const Tensor* other) { return same_tensor(*other, parameter); })) return;
    seen.push_back(&parameter);
    use(name, parameter);
  });
}

}  // namespace

DeferredParameters::DeferredParameters() : previous_(std::exchange(parameters_deferred, true)) {}

DeferredParameters::~DeferredParameters() {
  parameters_deferred = previous_;
}

Tensor zero_parameter(const Shape& shape) {
  if (!parameters_deferred) return Tensor::zeros(shape);
  // One zero for all elements.
  static const auto zero = std::make_shared<const float>(0.0f);
  return Tensor::borrow(zero.get(), {}, DType::f32, zero).detached_expand(shape);
}

void Visitor::weight(std::string_view name, const Weight& weight, const Initializer& initializer) {
  const std::span<const Tensor> tensors = weight.tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    parameter(tensors.size() == 1 ? std::string(name) : std::string(name) + "." + std::to_string(i), tensors[i],
              initializer);
  }
}

std::vector<NamedParameter> named_parameters(Module& module) {
  std::vector<NamedParameter> found;
  for_each_once(module, [&](const std::string& name, const Tensor& parameter) {
    found.push_back({name, const_cast<Tensor*>(&parameter)});  // as in walk_mutable
  });
  return found;
}

std::vector<NamedConstParameter> named_parameters(const Module& module) {
  std::vector<NamedConstParameter> found;
  for_each_once(module, [&](const std::string& name, const Tensor& parameter) { found.push_back({name, &parameter}); });
  return found;
}

std::set<std::string, std::less<>> weight_names(const Module& module) {
  std::set<std::string, std::less<>> names;
  WeightWalk visitor([&](const std::string& name, const Tensor&, const Initializer&) { names.insert(name); });
  module.visit(visitor);
  return names;
}

std::vector<NamedConstParameter> named_buffers(const Module& module) {
  std::vector<NamedConstParameter> found;
  walk(
      module, [](const std::string&, const Tensor&, const Initializer&) {},
      [&](const std::string& name, const Tensor& values) {
        found.push_back({name, &values});
      });
  return found;
}

std::vector<Tensor> parameters(Module& module) {
  std::vector<Tensor> found;
  for (const auto& [name, parameter] : named_parameters(module)) {
    if (parameter->requires_grad()) found.push_back(*parameter);
  }
  return found;
}

std::int64_t count_parameters(const Module& module) {
  std::int64_t count = 0;
  for (const auto& [name, parameter] : named_parameters(module)) count += parameter->count();
  return count;
}

std::size_t tie(const Module& from, Module& to) {
  std::map<std::string, Tensor> sources;  // under all their names: what is tied in `from` is tied in `to`
  walk(from, [&](const std::string& name, const Tensor& parameter, const Initializer&) {
    if (parameter.defined()) sources.emplace(name, parameter);
  });
  std::vector<std::pair<Tensor*, const Tensor*>> pairs;
  walk_mutable(to, [&](const std::string& name, Tensor& parameter, const Initializer&) {
    const auto source = sources.find(name);
    if (source == sources.end() || !parameter.defined()) return;
    HEED_CHECK(source->second.shape() == parameter.shape(), "[tie] ", name, " is ", parameter.shape(),
               " and should become ", source->second.shape());
    pairs.emplace_back(&parameter, &source->second);
  });
  HEED_CHECK(!pairs.empty(), "[tie] the modules have no parameter name in common");
  for (const auto& [parameter, source] : pairs) *parameter = *source;
  return pairs.size();
}

void initialize(Module& module, std::uint64_t seed, const ChooseParameter& chosen) {
  const ChooseParameter choose = chosen ? chosen : [](std::string_view) { return true; };
  std::vector<const Tensor*> first_handles;
  walk_mutable(module, [&](const std::string& name, Tensor& parameter, const Initializer& initializer) {
    if (!parameter.defined() || !choose(name)) return;
    if (std::ranges::any_of(first_handles, [&](const Tensor* t) { return same_tensor(*t, parameter); })) return;
    initializer.fill(parameter, seed, stream_id(name));
    first_handles.push_back(&parameter);
  });
  set_trainable(module, true, choose);
}

std::size_t set_trainable(Module& module, bool trainable, const ChooseParameter& chosen) {
  const auto all = named_parameters(module);
  std::size_t count = 0;
  for (const auto& [name, parameter] : all) {
    if (!chosen(name)) continue;
    parameter->set_requires_grad(trainable);
    ++count;
  }
  // The other handles of tied weights share the gradient of the first.
  walk_mutable(module, [&](const std::string&, Tensor& parameter, const Initializer&) {
    for (const auto& [name, first] : all) {
      if (first != &parameter && parameter.defined() && same_tensor(*first, parameter)) parameter = *first;
    }
  });
  return count;
}

void replace_parameters(Module& module, const std::function<Weight(const Weight&)>& weight,
                        const std::function<Tensor(const Tensor&)>& parameter) {
  Replacement visitor(weight, parameter);
  module.visit(visitor);
}

void convert_parameters(Module& module, DType dtype) {
  std::vector<std::pair<Tensor, Tensor>> converted;  // tied weights stay tied
  walk_mutable(module, [&](const std::string&, Tensor& parameter, const Initializer&) {
    if (!parameter.defined()) return;
    for (const auto& [before, after] : converted) {
      if (!same_tensor(before, parameter)) continue;
      parameter = after;
      return;
    }
    const Tensor before = parameter;
    parameter = before.detached_to(dtype);
    parameter.set_requires_grad(before.requires_grad());
    converted.emplace_back(before, parameter);
  });
  // As in walk_mutable.
  for (const auto& [name, values] : named_buffers(module)) *const_cast<Tensor*>(values) = values->detached_to(dtype);
}

TensorMap state(const Module& module) {
  TensorMap tensors;
  for (const auto& [name, parameter] : named_parameters(module)) tensors.emplace(name, parameter->detach());
  return tensors;
}

void load_state(Module& module, const TensorMap& tensors) {
  const auto wanted = named_parameters(module);
  std::ostringstream problems;
  for (const auto& [name, parameter] : wanted) {
    const auto found = tensors.find(name);
    if (found == tensors.end()) {
      problems << "\n  missing " << name << ' ' << parameter->shape();
    } else if (found->second.shape() != parameter->shape()) {
      problems << "\n  " << name << " is " << found->second.shape() << ", expected " << parameter->shape();
    }
  }
  for (const auto& given : tensors) {
    if (std::ranges::none_of(wanted, [&](const auto& w) { return w.name == given.first; })) {
      problems << "\n  unknown " << given.first << ' ' << given.second.shape();
    }
  }
  const std::string text = problems.str();
  HEED_CHECK_AS(bad_format, text.empty(), "[load_state] the tensors do not fit the module:", text);
  for (const auto& [name, parameter] : wanted) parameter->copy_from(tensors.find(name)->second);
}

}  // namespace heed
