#include "ops/op_case.h"

#include <cmath>
#include <numbers>
#include <sstream>

#include "heed/base/random.h"

namespace heed::testing {

Tensor values(const std::string& name, const Shape& shape, double scale) {
  const std::uint64_t stream = stream_id(name);
  return generate(shape, [&](std::int64_t i) { return scale * normal(1, stream, static_cast<std::uint64_t>(i)); });
}

Tensor ids(const std::string& name, const Shape& shape, std::int64_t limit) {
  const std::uint64_t stream = stream_id(name);
  Tensor result = Tensor::empty(shape, DType::i64);
  for (std::int64_t i = 0; i < shape.count(); ++i) {
    result.mutable_data<std::int64_t>()[i] = static_cast<std::int64_t>(
        uniform_integer(2, stream, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(limit)));
  }
  return result;
}

std::string text(const Shape& shape) {
  std::ostringstream out;
  out << shape;
  return out.str();
}

double activation_value(Activation activation, double x) {
  switch (activation) {
    case Activation::none: return x;
    case Activation::relu: return x > 0 ? x : 0;
    case Activation::gelu: return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::silu: return x / (1 + std::exp(-x));
    case Activation::tanh: return std::tanh(x);
    case Activation::sigmoid: return 1 / (1 + std::exp(-x));
  }
  return 0;
}

Input value_input(const std::string& name, const Shape& shape, double scale) {
  return Input([=] { return values(name, shape, scale); });
}

Input id_input(const std::string& name, const Shape& shape, std::int64_t limit) {
  return Input([=] { return ids(name, shape, limit); });
}

std::vector<Tensor> make_inputs(const OpCase& c) {
  std::vector<Tensor> tensors;
  for (const Input& input : c.inputs) tensors.push_back(input.make());
  return tensors;
}

std::vector<OpCase> op_cases(CaseSize size) {
  std::vector<OpCase> cases;
  add_elementwise_cases(cases, size);
  add_shape_cases(cases, size);
  add_matmul_cases(cases, size);
  add_normalize_cases(cases, size);
  add_gather_cases(cases, size);
  add_loss_cases(cases, size);
  add_recurrent_cases(cases, size);
  add_reduce_cases(cases, size);
  add_attention_cases(cases, size);
  add_rotary_cases(cases, size);
  add_score_cases(cases, size);
  return cases;
}

}  // namespace heed::testing
