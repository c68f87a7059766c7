#include "heed/nn/non_local.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/ops/loss.h"
#include "nn/gradient_check.h"

namespace heed {
namespace {

using testing::expect_gradients, testing::noise;

constexpr std::int64_t kChannels = 6;

// Parameters that are not zero, and the one named so; f64.
Tensor parameter(Module& module, const std::string& name) {
  for (const NamedParameter& named : named_parameters(module)) {
    if (named.name == name) return *named.parameter;
  }
  ADD_FAILURE() << name;
  return Tensor();
}
void randomize(Module& module) {
  initialize(module, 1);
  convert_parameters(module, DType::f64);
  for (const NamedParameter& named : named_parameters(module)) {
    named.parameter->copy_from(noise(named.name.c_str(), named.parameter->shape(), DType::f64));
  }
}

// x W^T + b for one token.
std::vector<double> projected(Module& module, const std::string& name, const Tensor& x, std::int64_t token) {
  const Tensor weight = parameter(module, name + ".weight"), bias = parameter(module, name + ".bias");
  std::vector<double> y;
  for (std::int64_t o = 0; o < weight.size(0); ++o) {
    y.push_back(bias.at({o}));
    for (std::int64_t i = 0; i < weight.size(1); ++i) y.back() += weight.at({o, i}) * x.at({token, i});
  }
  return y;
}

// One sequence by the formula; `windows` are the tokens of which phi and g take the largest value.
void expect_formula(NonLocalBlock& block, NonLocalKind kind, const Packed& x, std::span<const Grid> grids,
                    const std::vector<std::vector<std::int64_t>>& windows) {
  auto largest = [&](const std::string& name, const std::vector<std::int64_t>& window) {
    std::vector<double> best = projected(block, name, x.values, window[0]);
    for (std::int64_t token : window) {
      const auto other = projected(block, name, x.values, token);
      for (std::size_t c = 0; c < best.size(); ++c) best[c] = std::max(best[c], other[c]);
    }
    return best;
  };
  const Tensor z = block.forward(x, Context(), grids);
  const Tensor weight = parameter(block, "W_z.weight"), bias = parameter(block, "W_z.bias");
  for (std::int64_t i = 0; i < x.values.size(0); ++i) {
    const auto theta = projected(block, "theta", x.values, i);
    std::vector<double> y(theta.size(), 0.0);
    double total = 0;
    for (const auto& window : windows) {
      const auto phi = largest("phi", window), g = largest("g", window);
      double f = 0;
      for (std::size_t c = 0; c < theta.size(); ++c) f += theta[c] * phi[c];
      if (kind == NonLocalKind::embedded_gaussian) f = std::exp(f);
      total += kind == NonLocalKind::embedded_gaussian ? f : 1;
      for (std::size_t c = 0; c < y.size(); ++c) y[c] += f * g[c];
    }
    for (std::int64_t o = 0; o < kChannels; ++o) {
      double expected = x.values.at({i, o}) + bias.at({o});
      for (std::size_t c = 0; c < y.size(); ++c) {
        expected += weight.at({o, static_cast<std::int64_t>(c)}) * y[c] / total;
      }
      ASSERT_NEAR(z.at({i, o}), expected, 1e-10) << i << ' ' << o;
    }
  }
}

TEST(NonLocalBlock, FollowsItsFormulaOnSequencesAndGrids) {
  for (const NonLocalKind kind : {NonLocalKind::embedded_gaussian, NonLocalKind::dot_product}) {
    NonLocalBlock whole({.channels = kChannels, .kind = kind}),
        sampled({.channels = kChannels, .inter_channels = 2, .kind = kind, .subsample = true});
    randomize(whole);
    randomize(sampled);
    const Packed line(noise("line", {5, kChannels}, DType::f64), {5});
    expect_formula(whole, kind, line, {}, {{0}, {1}, {2}, {3}, {4}});
    expect_formula(sampled, kind, line, {}, {{0, 1}, {2, 3}, {4}});
    // 3 x 4:  0 1 2 3 / 4 5 6 7 / 8 9 10 11
    const Packed grid(noise("grid", {12, kChannels}, DType::f64), {12});
    const std::vector<Grid> grids = {{3, 4}};
    expect_formula(sampled, kind, grid, grids, {{0, 1, 4, 5}, {2, 3, 6, 7}, {8, 9}, {10, 11}});
  }
}

TEST(NonLocalBlock, StartsAsTheIdentity) {
  NonLocalBlock block({.channels = kChannels});
  initialize(block, 3);
  const Packed x(noise("x", {9, kChannels}), {4, 5});
  EXPECT_TRUE(same_bits(block.forward(x, Context()), x.values));
  EXPECT_NE(parameter(block, "theta.weight").at({0, 0}), 0);
}

TEST(NonLocalBlock, GradientsMatchFiniteDifferences) {
  for (const NonLocalKind kind : {NonLocalKind::embedded_gaussian, NonLocalKind::dot_product}) {
    for (const bool subsample : {false, true}) {
      NonLocalBlock block({.channels = kChannels, .kind = kind, .subsample = subsample});
      randomize(block);
      const Packed x(noise("x", {10, kChannels}, DType::f64), {6, 4});
      const Tensor target = noise("target", {10, kChannels}, DType::f64);
      const std::vector<Grid> grids = {{2, 3}, {1, 4}};
      expect_gradients(block, [&] { return mean_squared_error(block.forward(x, Context(), grids), target); });
    }
  }
}

TEST(NonLocalBlock, ASequenceDoesNotDependOnItsBatchOrThreads) {
  for (const NonLocalKind kind : {NonLocalKind::embedded_gaussian, NonLocalKind::dot_product}) {
    NonLocalBlock block({.channels = kChannels, .kind = kind, .subsample = true});
    randomize(block);
    convert_parameters(block, DType::f32);
    const Packed batch(noise("x", {70, kChannels}), {30, 1, 39});
    const Tensor together = block.forward(batch, Context());
    ThreadLimit limit(3);
    for (std::int64_t i = 0; i < 3; ++i) {
      const Packed alone(batch.sequence(i).detached_clone(), {batch.offsets.length(i)});
      EXPECT_TRUE(same_bits(block.forward(alone, Context()),
                            together.detached_slice(0, batch.offsets.begin(i), batch.offsets.end(i))));
    }
  }
}

TEST(NonLocalBlock, RefusesGridsThatDoNotFit) {
  NonLocalBlock block({.channels = 2});
  const Packed x(Tensor::zeros({6, 2}), {6});
  EXPECT_THROW(block.forward(x, Context(), std::vector<Grid>{{2, 2}}), Error);
  EXPECT_THROW(block.forward(x, Context(), std::vector<Grid>{{2, 3}, {1, 1}}), Error);
}

}  // namespace
}  // namespace heed
