// The one table of op cases. From each come: correctness against a naive f64 loop (f64 and f32), finite-difference
// gradients, the same on strided inputs, independence of threads and of batch neighbours, and a benchmark.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/kernels/activation.h"
#include "heed/ops/weight.h"
#include "heed/tensor/tensor.h"

namespace heed::testing {

using Inputs = std::span<const Tensor>;
using kernels::Activation;

// A tensor that is made when it is asked for: listing the cases costs nothing.
class Input {
 public:
  Input(const Tensor& tensor) : make_([tensor] { return tensor; }) {}
  explicit Input(std::function<Tensor()> make) : make_(std::move(make)) {}
  Tensor make() const { return make_(); }

 private:
  std::function<Tensor()> make_;
};

// A weight that lives as long as its case, as a layer's does, while the tensor behind it changes from call to call.
class CaseWeight {
 public:
  const Weight& of(const Tensor& tensor) const {
    weight_->parameter() = tensor;
    return *weight_;
  }

 private:
  std::shared_ptr<Weight> weight_ = std::make_shared<Weight>(Tensor::zeros({0, 0}));
};

struct OpCase {
  std::string op;                           // "linear"
  std::string name;                         // "gelu+bias 7x5"
  std::vector<Input> inputs;                // f64 values, or i64 ids
  std::function<Tensor(Inputs)> run;        // the op, on f64 or f32 values
  std::function<Tensor(Inputs)> reference;  // naive f64 loops; inputs are contiguous f64 (and ids)
  std::vector<bool> rows{};                 // inputs whose axis 0 is the batch: row r of the output depends on
                                            // their rows r and on the other inputs only. Empty: not such an op.
  double flops = 0;                         // of one run, for the benchmark; 0: count bytes instead
  double f32_tolerance = 1e-5;              // relative to the largest value of the output
};
std::vector<Tensor> make_inputs(const OpCase& c);
inline void PrintTo(const OpCase& c, std::ostream* out) {
  *out << c.op << ' ' << c.name;
}

enum class CaseSize {
  small,  // shapes for correctness and gradients: length 1, odd, ragged, empty
  large,  // shapes of real models: thread independence and benchmarks
};
std::vector<OpCase> op_cases(CaseSize size);

// Values as a function of (name, index): standard normal, scaled.
Tensor values(const std::string& name, const Shape& shape, double scale = 1);
// Ids in [0, limit).
Tensor ids(const std::string& name, const Shape& shape, std::int64_t limit);

// The same as inputs of a case.
Input value_input(const std::string& name, const Shape& shape, double scale = 1);
Input id_input(const std::string& name, const Shape& shape, std::int64_t limit);

// f64 elements of a contiguous f64 tensor; i64 of ids.
inline const double* f64(const Tensor& x) {
  return x.data<double>();
}
inline const std::int64_t* i64(const Tensor& x) {
  return x.data<std::int64_t>();
}
// "[2, 3]"
std::string text(const Shape& shape);
// The activations by their formulas.
double activation_value(Activation activation, double x);
// A tensor whose element i (row-major) is value(i).
template <class Value>
Tensor generate(const Shape& shape, Value&& value) {
  Tensor result = Tensor::empty(shape, DType::f64);
  for (std::int64_t i = 0; i < shape.count(); ++i) result.mutable_data<double>()[i] = value(i);
  return result;
}

// One family a file.
void add_elementwise_cases(std::vector<OpCase>& cases, CaseSize size);
void add_shape_cases(std::vector<OpCase>& cases, CaseSize size);
void add_matmul_cases(std::vector<OpCase>& cases, CaseSize size);
void add_normalize_cases(std::vector<OpCase>& cases, CaseSize size);
void add_gather_cases(std::vector<OpCase>& cases, CaseSize size);
void add_loss_cases(std::vector<OpCase>& cases, CaseSize size);
void add_recurrent_cases(std::vector<OpCase>& cases, CaseSize size);
void add_reduce_cases(std::vector<OpCase>& cases, CaseSize size);
void add_attention_cases(std::vector<OpCase>& cases, CaseSize size);
void add_rotary_cases(std::vector<OpCase>& cases, CaseSize size);
void add_score_cases(std::vector<OpCase>& cases, CaseSize size);

}  // namespace heed::testing
