#include "heed/tensor/autograd.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/ops/activation.h"
#include "heed/ops/dropout.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/linear.h"
#include "heed/ops/reduce.h"

namespace heed {
namespace {

Tensor leaf(std::initializer_list<double> values) {
  return Tensor::from<double>(values, {static_cast<std::int64_t>(values.size())}).set_requires_grad();
}

TEST(Autograd, DoubleUseSumsBothPaths) {
  const Tensor x = leaf({2, 3});
  backward(sum(add(multiply(x, x), x)));  // d(x^2 + x) = 2x + 1
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{5, 7}));
}

TEST(Autograd, GradientsAccumulateUntilCleared) {
  Tensor x = leaf({1, 2});
  backward(sum(scale(x, 3)));
  backward(sum(scale(x, 4)));
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{7, 7}));
  x.clear_grad();
  EXPECT_FALSE(x.grad().defined());
}

TEST(Autograd, AccumulatingNeverWritesIntoATensorSomebodyElseHolds) {
  Tensor x = leaf({1, 2}), y = leaf({5, 6});
  const Tensor upstream = Tensor::from<double>({10, 20}, {2});
  backward(add(x, y), upstream);  // both leaves and the caller now see the same bytes
  backward(scale(x, 1), Tensor::from<double>({1, 1}, {2}));
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{11, 21}));
  EXPECT_EQ(y.grad().to_vector<double>(), (std::vector<double>{10, 20}));
  EXPECT_EQ(upstream.to_vector<double>(), (std::vector<double>{10, 20}));
}

TEST(Autograd, NoGradRecordsNothing) {
  const Tensor x = leaf({1});
  {
    NoGrad off;
    EXPECT_FALSE(scale(x, 2).requires_grad());
    GradMode on(true);
    EXPECT_TRUE(scale(x, 2).requires_grad());
  }
  EXPECT_TRUE(scale(x, 2).requires_grad());
  EXPECT_FALSE(scale(x.detach(), 2).requires_grad());
}

TEST(Autograd, WhatIsCalledDetachedIs) {
  const Tensor x = scale(leaf({1, 2, 3, 4, 5, 6}), 2);
  ASSERT_TRUE(x.requires_grad());
  for (const Tensor& y :
       {x.detach(), x.detached_view({3}, {1}, 0), x.detached_reshape({2, 3}), x.detached_transpose(0, 0),
        x.detached_slice(0, 0, 1), x.detached_expand({4, 6}), x.detached_clone(), x.detached_contiguous(),
        x.detached_to(DType::f32), x.detached_to(DType::f64)}) {
    EXPECT_FALSE(y.requires_grad()) << y.shape();
  }
}

TEST(Autograd, DetachStopsTheGradient) {
  const Tensor x = leaf({3});
  backward(sum(multiply(x, scale(x, 2).detach())));  // 2x is a constant here
  EXPECT_EQ(x.grad().item(), 6);
}

TEST(Autograd, MemoryIsFreedAsBackwardPasses) {
  const Tensor x = Tensor::full({1 << 16}, 0.5).set_requires_grad();
  const auto tensor_bytes = static_cast<std::uint64_t>(x.count()) * 4;
  Tensor y = x;
  for (int i = 0; i < 32; ++i) y = sigmoid(y);  // each keeps its input
  const Tensor loss = sum(y);
  y = Tensor();
  const auto recorded = pool_stats().in_use_bytes;
  EXPECT_GT(recorded, 32 * tensor_bytes);
  pool_reset_peak();
  backward(loss);
  EXPECT_LT(pool_stats().in_use_bytes, recorded - 30 * tensor_bytes);
  EXPECT_LT(pool_stats().peak_bytes, recorded + 4 * tensor_bytes);  // freed on the way, not at the end
}

TEST(Autograd, AGraphIsWalkedOnce) {
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(multiply(x, x));
  backward(y);
  EXPECT_THROW(backward(y), Error);
}

TEST(Autograd, LongChainsNeedNoDeepStack) {
  const Tensor x = leaf({1});
  {
    Tensor y = x;
    for (int i = 0; i < 200000; ++i) y = scale(y, 1);
  }  // dropped without backward
  Tensor y = x;
  for (int i = 0; i < 200000; ++i) y = scale(y, 1);
  backward(sum(y));
  EXPECT_EQ(x.grad().item(), 1);
}

TEST(Autograd, BadStartsAreRefused) {
  const Tensor x = leaf({1, 2});
  EXPECT_THROW(backward(scale(x, 1)), Error);                                     // two elements, no gradient
  EXPECT_THROW(backward(scale(x, 1), Tensor::zeros({3}, DType::f64)), Error);     // wrong shape
  EXPECT_THROW(backward(Tensor::zeros({})), Error);                               // nothing requires gradients
  EXPECT_THROW(Tensor::from<std::int64_t>({1}, {1}).set_requires_grad(), Error);  // ids have none
  EXPECT_THROW(scale(x, 1).set_requires_grad(), Error);                           // an op's result
}

// A checkpointed block gives the same bits as the plain one, for inputs and for parameters it closes over, dropout
// included, and holds less memory in between.
TEST(Autograd, CheckpointComputesTheBlockAgain) {
  const Weight weight(Tensor::full({64, 64}, 0.01).set_requires_grad());
  auto block = [&](std::span<const Tensor> in) {
    Tensor y = in[0];
    for (std::uint64_t i = 0; i < 8; ++i) y = dropout(linear(y, weight, {}, Activation::gelu), 0.1, {7, i});
    return y;
  };
  auto run = [&](bool checkpointed, std::uint64_t& held) {
    Tensor x = Tensor::full({256, 64}, 0.3).set_requires_grad();
    Tensor w = weight.parameter();
    w.clear_grad();
    const auto before = pool_stats().in_use_bytes;
    const Tensor y = checkpointed ? checkpoint(block, {x}) : block(std::vector<Tensor>{x});
    held = pool_stats().in_use_bytes - before;
    backward(sum(y));
    return std::vector<Tensor>{y.detach(), x.grad(), w.grad()};
  };
  std::uint64_t plain_bytes = 0, checkpoint_bytes = 0;
  const auto plain = run(false, plain_bytes), again = run(true, checkpoint_bytes);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(same_bits(plain[i], again[i])) << i;
  EXPECT_LT(checkpoint_bytes * 4, plain_bytes);
}

TEST(Autograd, CheckpointOfAFrozenInputStillTrainsTheParameters) {
  const Tensor weight = Tensor::full({2, 2}, 0.5, DType::f64).set_requires_grad();
  const Tensor x = Tensor::full({1, 2}, 1, DType::f64);
  backward(sum(checkpoint([&](std::span<const Tensor> in) { return linear(in[0], Weight(weight)); }, {x})));
  EXPECT_EQ(weight.grad().to_vector<double>(), (std::vector<double>{1, 1, 1, 1}));
}

}  // namespace
}  // namespace heed
