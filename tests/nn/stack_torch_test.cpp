// Stack against torch.nn's Transformer: outputs and the gradient of every parameter,
// f32, 1e-5. The weights are ours, from a seed; no bias is zero and no norm the identity.
#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/nn/stack.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/autograd.h"
#include "support/torch.h"

namespace heed {
namespace {

using Lengths = std::vector<std::int64_t>;

struct Kind {
  bool pre_norm;
  Activation activation;
};
constexpr Kind kKinds[] = {
    {false, Activation::relu}, {false, Activation::gelu}, {true, Activation::relu}, {true, Activation::gelu}};

StackConfig small(const Kind& kind, bool cross) {
  return {.block = {.hidden_size = 16,
                    .attention = {.heads = 4},
                    .feed_forward = {.intermediate_size = 24, .activation = kind.activation},
                    .norm_place = kind.pre_norm ? NormPlace::pre : NormPlace::post,
                    .cross = cross},
          .layers = 2};
}

Tensor noise(const std::string& name, const Shape& shape, double deviation = 1) {
  Tensor x = Tensor::empty(shape);
  Initializer::normal(deviation).fill(x, 11, stream_id(name));
  return x;
}

void initialize_everything(Module& module) {
  initialize(module, 12);
  for (const auto& [name, parameter] : named_parameters(module)) {
    parameter->copy_from(add(parameter->detach(), noise(name, parameter->shape(), 0.2)));
  }
}

Offsets offsets_of(const Lengths& lengths) {
  return Offsets(std::span<const std::int64_t>(lengths));
}

// Runs backward and fills in what all kinds have in common.
test::TorchComparison comparison(const std::string& kind_name, const Kind& kind, Module& module, const Tensor& y,
                                 const Lengths& lengths) {
  const std::string activation = kind.activation == Activation::relu ? "relu" : "gelu";
  // Gradients reach 7. With upstream 1 they reach 22, and PyTorch's own f32 and f64 differ by the whole bar.
  const Tensor upstream = noise("upstream", y.shape(), 0.3);
  backward(y, upstream);
  test::TorchComparison result{.name = kind_name + (kind.pre_norm ? ", pre-norm, " : ", post-norm, ") + activation,
                               .tolerance = 1e-5,
                               .found = {{"output", y.detach()}},
                               .question = {{"kind", kind_name},
                                            {"layers", 2},
                                            {"heads", 4},
                                            {"pre_norm", kind.pre_norm},
                                            {"activation", activation},
                                            {"lengths", lengths},
                                            {"upstream", test::numbers(upstream)}}};
  for (const auto& [name, parameter] : named_parameters(module)) {
    result.found[name] = parameter->grad();
    result.question["weights"][name] = test::tensor_question(*parameter);
  }
  return result;
}

TEST(StackTorch, Encoder) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  const Lengths lengths = {6, 1, 9};
  std::vector<test::TorchComparison> comparisons;
  for (const Kind& kind : kKinds) {
    Stack encoder(small(kind, false));
    initialize_everything(encoder);
    Tensor x = noise("x", {16, 16}).set_requires_grad();
    const Tensor y = encoder.forward(Packed(x, offsets_of(lengths)), {}, Context());
    comparisons.push_back(comparison("encoder", kind, encoder, y, lengths));
    comparisons.back().found["x"] = x.grad();
    comparisons.back().question["x"] = test::tensor_question(x);
  }
  test::expect_torch_agrees("nn/stack_torch.py", comparisons);
}

TEST(StackTorch, Decoder) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  const Lengths lengths = {6, 1, 9}, memory_lengths = {4, 11, 2};
  std::vector<test::TorchComparison> comparisons;
  for (const Kind& kind : kKinds) {
    Stack decoder(small(kind, true));
    initialize_everything(decoder);
    Tensor x = noise("x", {16, 16}).set_requires_grad(), read = noise("memory", {17, 16}).set_requires_grad();
    const Memory memory{Packed(read, offsets_of(memory_lengths))};
    const Tensor y = decoder.forward(Packed(x, offsets_of(lengths)),
                                     {.attention = {.mask = Mask::causal()}, .memory = &memory}, Context());
    comparisons.push_back(comparison("decoder", kind, decoder, y, lengths));
    comparisons.back().found["x"] = x.grad();
    comparisons.back().found["memory"] = read.grad();
    comparisons.back().question["x"] = test::tensor_question(x);
    comparisons.back().question["memory"] = test::tensor_question(read);
    comparisons.back().question["memory_lengths"] = memory_lengths;
  }
  test::expect_torch_agrees("nn/stack_torch.py", comparisons);
}

}  // namespace
}  // namespace heed
