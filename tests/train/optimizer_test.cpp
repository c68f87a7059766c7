#include "heed/train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/linear.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/autograd.h"
#include "heed/train/schedule.h"
#include "support/shared_data.h"

namespace heed {
namespace {

using Groups = std::vector<ParameterGroup>;

struct Recipe {
  const char* name;
  double learning_rate, weight_decay;
  std::function<std::unique_ptr<Optimizer>(Groups)> make;
};

// The configurations of PyTorch's C++ optimizer tests, by the names of their snapshots.
std::vector<Recipe> recipes() {
  auto adam = [](AdamOptions o) { return [o](Groups g) { return make_adam(std::move(g), o); }; };
  auto sgd = [](SgdOptions o) { return [o](Groups g) { return make_sgd(std::move(g), o); }; };
  auto adagrad = [](AdagradOptions o) { return [o](Groups g) { return make_adagrad(std::move(g), o); }; };
  auto rmsprop = [](RmspropOptions o) { return [o](Groups g) { return make_rmsprop(std::move(g), o); }; };
  return {
      {"Adam", 1.0, 0, adam({.decoupled = false})},
      {"Adam_with_weight_decay", 1.0, 1e-2, adam({.decoupled = false})},
      {"Adam_with_weight_decay_and_amsgrad", 1.0, 1e-6, adam({.decoupled = false, .amsgrad = true})},
      {"AdamW", 1.0, 1e-2, adam({})},
      {"AdamW_without_weight_decay", 1.0, 0, adam({})},
      {"AdamW_with_amsgrad", 1.0, 1e-2, adam({.amsgrad = true})},
      {"Adagrad", 1.0, 0, adagrad({})},
      {"Adagrad_with_weight_decay", 1.0, 1e-2, adagrad({})},
      {"Adagrad_with_weight_decay_and_lr_decay", 1.0, 1e-6, adagrad({.learning_rate_decay = 1e-3})},
      {"RMSprop", 0.1, 0, rmsprop({})},
      {"RMSprop_with_weight_decay", 0.1, 1e-2, rmsprop({})},
      {"RMSprop_with_weight_decay_and_centered", 0.1, 1e-6, rmsprop({.centered = true})},
      {"RMSprop_with_weight_decay_and_centered_and_momentum", 0.1, 1e-6, rmsprop({.momentum = 0.9, .centered = true})},
      {"SGD", 0.1, 0, sgd({})},
      {"SGD_with_weight_decay", 0.1, 1e-2, sgd({})},
      {"SGD_with_weight_decay_and_momentum", 0.1, 1e-2, sgd({.momentum = 0.9})},
      {"SGD_with_weight_decay_and_nesterov_momentum", 0.1, 1e-6, sgd({.momentum = 0.9, .nesterov = true})},
  };
}

// Every snapshot PyTorch recorded while minimising the summed output of a 2-3-1 network of sigmoids, in f64.
TEST(Optimizer, FollowsPyTorchSnapshots) {
  const auto path = test::shared_data("suites/optim/optim_baseline.json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs " << path;
  const Json suite = parse_json(read_file(path, 1 << 24), path.string());
  const auto input = json_required<std::vector<std::vector<double>>>(suite, "input", "optim");
  std::vector<double> flat;
  for (const auto& row : input) flat.insert(flat.end(), row.begin(), row.end());
  const Tensor x = Tensor::from(flat, {3, 2});
  int compared = 0;
  double worst = 0;
  for (const Recipe& recipe : recipes()) {
    auto start = [&](const char* name, const Shape& shape) {
      return Tensor::from(suite["initial"][name].get<std::vector<double>>(), shape).set_requires_grad();
    };
    const std::vector<Tensor> p = {start("0.weight", {3, 2}), start("0.bias", {3}), start("2.weight", {1, 3}),
                                   start("2.bias", {1})};
    auto optimizer = recipe.make({{p, recipe.weight_decay}});
    const Json& expected = suite["expected"][recipe.name];
    ASSERT_EQ(expected.size(), 11u) << recipe.name;
    for (std::size_t step = 0; step < 1001; ++step) {
      optimizer->clear_gradients();
      const Tensor hidden = linear(x, Weight(p[0]), p[1], Activation::sigmoid);
      backward(sum(linear(hidden, Weight(p[2]), p[3], Activation::sigmoid)));
      optimizer->step(recipe.learning_rate);
      if (step % 100 != 0) continue;
      for (std::size_t k = 0; k < p.size(); ++k, ++compared) {
        const auto want = expected[step / 100][k].get<std::vector<double>>();
        const auto got = p[k].to_vector<double>();
        ASSERT_EQ(got.size(), want.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
          worst = std::max(worst, std::abs(got[i] - want[i]));
          ASSERT_NEAR(got[i], want[i], 1e-10) << recipe.name << " step " << step << " tensor " << k;
        }
      }
    }
  }
  RecordProperty("compared_tensors", compared);
  RecordProperty("largest_difference", std::to_string(worst));
  EXPECT_EQ(compared, 17 * 11 * 4);
}

TEST(Optimizer, GroupsHaveTheirOwnDecayAndRate) {
  const Tensor a = Tensor::full({1}, 1, DType::f64).set_requires_grad();
  const Tensor b = Tensor::full({1}, 1, DType::f64).set_requires_grad();
  const Tensor idle = Tensor::full({1}, 1, DType::f64).set_requires_grad();
  auto optimizer = make_sgd({{{a, idle}, 0.5}, {{b}, 0, 0.1}});
  backward(sum(add(a, b)));
  optimizer->step(1.0);
  EXPECT_DOUBLE_EQ(a.item(), 1 - (1 + 0.5));
  EXPECT_DOUBLE_EQ(b.item(), 1 - 0.1);
  EXPECT_DOUBLE_EQ(idle.item(), 1);  // no gradient, no update, not even decay
}

TEST(Optimizer, ClippingKeepsDirectionAndReportsTheNorm) {
  const Tensor a = Tensor::from<double>({0, 0}, {2}).set_requires_grad();
  const Tensor b = Tensor::from<double>({0}, {1}).set_requires_grad();
  backward(add(sum(multiply(a, Tensor::from<double>({3, 0}, {2}))), sum(scale(b, 4))));
  EXPECT_DOUBLE_EQ(clip_gradient_norm({a, b}, 10), 5);
  EXPECT_DOUBLE_EQ(a.grad().at({0}), 3);
  EXPECT_DOUBLE_EQ(clip_gradient_norm({a, b}, 1), 5);
  EXPECT_DOUBLE_EQ(a.grad().at({0}), 0.6);
  EXPECT_DOUBLE_EQ(b.grad().item(), 0.8);
}

TEST(Optimizer, RefusesWhatItCannotTrain) {
  EXPECT_THROW(make_sgd({{{Tensor::zeros({1})}}}), Error);
  EXPECT_THROW(make_sgd({}, {.nesterov = true}), Error);
  EXPECT_THROW(clip_gradient_norm({}, 0), Error);
}

TEST(Schedule, WarmsUpAndDecays) {
  const Schedule linear{.peak = 2, .warmup_steps = 4, .total_steps = 12, .decay = Decay::linear};
  EXPECT_DOUBLE_EQ(linear.learning_rate(0), 0);
  EXPECT_DOUBLE_EQ(linear.learning_rate(2), 1);
  EXPECT_DOUBLE_EQ(linear.learning_rate(4), 2);
  EXPECT_DOUBLE_EQ(linear.learning_rate(8), 1);
  EXPECT_DOUBLE_EQ(linear.learning_rate(12), 0);
  EXPECT_DOUBLE_EQ(linear.learning_rate(99), 0);
  const Schedule cosine{.peak = 2, .warmup_steps = 0, .total_steps = 10, .decay = Decay::cosine, .floor = 1};
  EXPECT_DOUBLE_EQ(cosine.learning_rate(0), 2);
  EXPECT_NEAR(cosine.learning_rate(5), 1.5, 1e-12);
  EXPECT_DOUBLE_EQ(cosine.learning_rate(10), 1);
  const Schedule constant{.peak = 2, .warmup_steps = 2, .decay = Decay::constant};
  EXPECT_DOUBLE_EQ(constant.learning_rate(1000), 2);
  EXPECT_THROW(Schedule{.total_steps = 0}.learning_rate(0), Error);
  EXPECT_THROW(constant.learning_rate(-1), Error);
}

}  // namespace
}  // namespace heed
