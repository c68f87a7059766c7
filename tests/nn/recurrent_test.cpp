#include "heed/nn/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/ops/recurrent.h"
#include "heed/tensor/autograd.h"
#include "support/torch.h"

namespace heed {
namespace {

Tensor values(std::uint64_t stream, const Shape& shape, DType dtype = DType::f32) {
  std::vector<double> draws;
  for (std::int64_t i = 0; i < shape.count(); ++i) draws.push_back(normal(3, stream, static_cast<std::uint64_t>(i)));
  return Tensor::from(draws, shape).detached_to(dtype);
}

std::unique_ptr<RecurrentStack> make(bool gru, std::int64_t in, std::int64_t width, const RecurrentOptions& options) {
  std::unique_ptr<RecurrentStack> stack;
  if (gru) {
    stack = std::make_unique<Gru>(in, width, options);
  } else {
    stack = std::make_unique<Rnn>(in, width, options);
  }
  initialize(*stack, 5);
  return stack;
}

TEST(Recurrent, NamesShapesAndStartAsPyTorch) {
  Gru gru(3, 16, {.layers = 2, .bidirectional = true});
  initialize(gru, 1);
  std::ostringstream names;
  for (const auto& [name, parameter] : named_parameters(gru)) names << name << parameter->shape() << ' ';
  EXPECT_EQ(names.str(),
            "weight_ih_l0[48, 3] weight_hh_l0[48, 16] bias_ih_l0[48] bias_hh_l0[48] "
            "weight_ih_l0_reverse[48, 3] weight_hh_l0_reverse[48, 16] bias_ih_l0_reverse[48] bias_hh_l0_reverse[48] "
            "weight_ih_l1[48, 32] weight_hh_l1[48, 16] bias_ih_l1[48] bias_hh_l1[48] "
            "weight_ih_l1_reverse[48, 32] weight_hh_l1_reverse[48, 16] bias_ih_l1_reverse[48] bias_hh_l1_reverse[48] ");
  double largest = 0;
  for (const auto& [name, parameter] : named_parameters(gru)) {
    for (float value : parameter->to_vector<float>()) largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  EXPECT_LE(largest, 0.25);  // 1 / sqrt(16)
  EXPECT_GT(largest, 0.249);
}

TEST(Recurrent, ASequenceHasTheSameBitsAloneAndInABatch) {
  const Offsets offsets{5, 0, 9, 1, 9, 3};
  const Tensor x = values(1, {offsets.tokens(), 7});
  for (bool gru : {false, true}) {
    const auto stack = make(gru, 7, 19, {.layers = 2, .bidirectional = true});
    const Packed all = stack->forward(Packed(x, offsets), {});
    EXPECT_EQ(all.values.shape(), Shape({offsets.tokens(), 38}));
    for (std::int64_t i = 0; i < offsets.sequences(); ++i) {
      const Packed alone = stack->forward(Packed(Packed(x, offsets).sequence(i), {offsets.length(i)}), {});
      EXPECT_TRUE(same_bits(alone.values, all.sequence(i).detached_clone())) << "sequence " << i;
    }
  }
}

TEST(Recurrent, SecondDirectionReadsFromTheEnd) {
  for (bool gru : {false, true}) {
    const auto both = make(gru, 4, 6, {.bidirectional = true});
    const auto mirrored = make(gru, 4, 6, {});
    TensorMap weights = state(*both), reversed;
    for (const char* name : {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"}) {
      reversed[name] = weights.at(std::string(name) + "_reverse");
    }
    load_state(*mirrored, reversed);
    const Tensor x = values(2, {5, 4});
    Tensor backwards = Tensor::empty({5, 4});
    for (std::int64_t t = 0; t < 5; ++t) {
      std::copy_n(x.data<float>() + t * 4, 4, backwards.mutable_data<float>() + (4 - t) * 4);
    }
    const Tensor y = both->forward(Packed(x, {5}), {}).values;
    const Tensor z = mirrored->forward(Packed(backwards, {5}), {}).values;
    for (std::int64_t t = 0; t < 5; ++t) {
      for (std::int64_t c = 0; c < 6; ++c) EXPECT_EQ(y.at({t, 6 + c}), z.at({4 - t, c}));
    }
  }
}

TEST(Recurrent, DropoutBetweenLayersInTrainingOnly) {
  const Packed x(values(3, {6, 4}), {4, 2});
  const auto plain = make(false, 4, 8, {.layers = 2});
  const auto dropping = make(false, 4, 8, {.layers = 2, .dropout = 0.5});
  const auto single = make(false, 4, 8, {.layers = 1, .dropout = 0.5});
  auto bits = [&](const auto& stack, const Context& context) { return stack->forward(x, context).values; };
  const Context first = Context::training(1, 0), second = Context::training(1, 1);
  EXPECT_TRUE(same_bits(bits(plain, {}), bits(dropping, {})));
  EXPECT_FALSE(same_bits(bits(plain, first), bits(dropping, first)));
  EXPECT_FALSE(same_bits(bits(dropping, first), bits(dropping, second)));
  EXPECT_TRUE(same_bits(bits(dropping, first), bits(dropping, first)));
  EXPECT_TRUE(same_bits(bits(single, first), bits(single, {})));  // nothing between layers
}

TEST(Recurrent, AbsentBiasAndInitialStateAreZeros) {
  const Packed x(values(4, {5, 12}), {3, 0, 2});
  const Weight weight(values(5, {12, 4}));
  EXPECT_TRUE(same_bits(gru_sequence(x, weight, Tensor()),
                        gru_sequence(x, weight, Tensor::zeros({12}), Tensor::zeros({3, 4}))));
}

TEST(Recurrent, RefusesShapesThatDoNotFit) {
  const Packed x(values(4, {5, 12}), {3, 2});
  EXPECT_THROW(gru_sequence(x, Weight(values(5, {8, 4})), Tensor()), Error);
  EXPECT_THROW(gru_sequence(x, Weight(values(5, {15, 5})), Tensor()), Error);
  EXPECT_THROW(gru_sequence(x, Weight(values(5, {12, 4})), values(5, {4})), Error);
  EXPECT_THROW(gru_sequence(x, Weight(values(5, {12, 4})), Tensor(), values(6, {3, 4})), Error);
  EXPECT_THROW(rnn_sequence(x, Weight(values(5, {12, 12}, DType::f64)), Tensor()), Error);
  EXPECT_THROW(Rnn(3, 4, {.layers = 0}), Error);
}

// One stack with the output and all gradients we find, and the same as a question to PyTorch.
test::TorchComparison compare(bool gru, DType dtype, const RecurrentOptions& options) {
  constexpr std::int64_t kIn = 5, kWidth = 11;
  const std::vector<std::int64_t> lengths = {4, 9, 1, 9, 2};
  const Offsets offsets{std::span<const std::int64_t>(lengths)};
  const auto stack = make(gru, kIn, kWidth, options);
  Tensor x = values(6, {offsets.tokens(), kIn}, dtype).set_requires_grad();
  for (const auto& [name, parameter] : named_parameters(*stack)) {
    *parameter = parameter->detach().detached_to(dtype).set_requires_grad();
  }
  const Tensor y = stack->forward(Packed(x, offsets), {}).values;
  const Tensor upstream = values(7, y.shape(), dtype);
  backward(y, upstream);

  test::TorchComparison result;
  result.name = std::string(gru ? "GRU" : "RNN") + (dtype == DType::f64 ? " f64" : " f32") + ", layers " +
                std::to_string(options.layers);
  result.tolerance = dtype == DType::f64 ? 1e-10 : 1e-5;
  result.found = {{"output", y}, {"x", x.grad()}};
  result.question = {{"kind", gru ? "GRU" : "RNN"},
                     {"dtype", dtype == DType::f64 ? "float64" : "float32"},
                     {"in", kIn},
                     {"width", kWidth},
                     {"layers", options.layers},
                     {"bidirectional", options.bidirectional},
                     {"lengths", lengths},
                     {"x", test::numbers(x)},
                     {"upstream", test::numbers(upstream)}};
  for (const auto& [name, parameter] : named_parameters(*stack)) {
    result.found[name] = parameter->grad();
    result.question["weights"][name] = test::numbers(*parameter);
  }
  return result;
}

TEST(Recurrent, OutputsAndGradientsArePyTorchs) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  std::vector<test::TorchComparison> comparisons;
  for (bool gru : {false, true}) {
    for (DType dtype : {DType::f32, DType::f64}) {
      comparisons.push_back(compare(gru, dtype, {}));
      comparisons.push_back(compare(gru, dtype, {.layers = 2, .bidirectional = true}));
    }
  }
  test::expect_torch_agrees("nn/recurrent_torch.py", comparisons);
}

}  // namespace
}  // namespace heed
