// Module: anything with parameters. One function, visit(), lists them; names, counting, initialising, freezing, saving
// and loading all follow from it.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "heed/nn/initializer.h"
#include "heed/ops/weight.h"
#include "heed/tensor/tensor.h"
#include "heed/tensor/tensor_map.h"

namespace heed {

class Module;

class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void parameter(std::string_view name, const Tensor& parameter, const Initializer& initializer) = 0;
  // A matrix that a file's may replace. Unless overridden it is its parameter, or those of a stored one's parts: one
  // under its name, several as "weight.0", "weight.1" ...
  virtual void weight(std::string_view name, const Weight& weight, const Initializer& initializer);
  // What a file may have too although it is not trained: a table of positions, say. Whatever counts or trains
  // parameters passes it over.
  virtual void buffer(std::string_view /*name*/, const Tensor& /*values*/) {}
  virtual void child(std::string_view name, const Module& module) = 0;
  void child(std::string_view name, std::size_t index, const Module& module) {
    child(std::string(name) + "." + std::to_string(index), module);
  }
};

// While it lives, the matrices of layers made on this thread take no memory: they are zeros that cannot be written to.
// For a loader, which replaces them all.
class DeferredParameters {
 public:
  DeferredParameters();
  ~DeferredParameters();
  DeferredParameters(const DeferredParameters&) = delete;
  DeferredParameters& operator=(const DeferredParameters&) = delete;

 private:
  bool previous_;
};
// What a layer's matrix starts as.
Tensor zero_parameter(const Shape& shape);

class Module {
 public:
  virtual ~Module() = default;
  // Calls the visitor once for each parameter (defined or not: an absent bias is an undefined tensor) and each child,
  // always in the same order. Names are those of published checkpoints where there are any.
  virtual void visit(Visitor& visitor) const = 0;
};

struct NamedParameter {
  std::string name;  // dotted path from the module: "layer.3.attention.query.weight"
  Tensor* parameter;
};
struct NamedConstParameter {
  std::string name;
  const Tensor* parameter;
};

// All defined parameters in visiting order. A tensor that stands in two places (tied weights) is listed once, under its
// first name.
std::vector<NamedParameter> named_parameters(Module& module);
std::vector<NamedConstParameter> named_parameters(const Module& module);
// Names of parameters, tied ones under all their names, that a Weight holds: matrices and tables.
std::set<std::string, std::less<>> weight_names(const Module& module);
std::vector<NamedConstParameter> named_buffers(const Module& module);
std::vector<Tensor> parameters(Module& module);  // those that require gradients
std::int64_t count_parameters(const Module& module);

// Weight tying: every parameter of `to` whose name `from` has too becomes that very parameter, counted, trained and
// saved once. Returns how many there are; that there is none, or that one has another shape, is an error.
std::size_t tie(const Module& from, Module& to);

using ChooseParameter = std::function<bool(std::string_view name)>;

// Gives every parameter, or those chosen, their starting values: a function of the seed and of the name, not of the
// order of construction. They require gradients then.
void initialize(Module& module, std::uint64_t seed, const ChooseParameter& chosen = {});

// Parameters whose name satisfies the predicate stop (or start again) requiring gradients; returns how many there are.
std::size_t set_trainable(Module& module, bool trainable, const ChooseParameter& chosen);

// Every matrix and every other parameter becomes what these make of it: the door for loaders. Both are called once for
// each place, so that what is tied must be given the same thing twice.
void replace_parameters(Module& module, const std::function<Weight(const Weight&)>& weight,
                        const std::function<Tensor(const Tensor&)>& parameter);

// Gives every parameter and buffer another type; gradients are forgotten. f64 serves checks.
void convert_parameters(Module& module, DType dtype);

// Saving and loading work on named tensors; io/ brings them to and from files.
TensorMap state(const Module& module);
// Copies values (converted to each parameter's type). Throws naming every missing, unknown or wrongly shaped tensor,
// and then changes nothing.
void load_state(Module& module, const TensorMap& tensors);

}  // namespace heed
