#include "heed/attention/rotary.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/ops/gather.h"
#include "ops/op_case.h"

namespace heed {
namespace {

Tensor positions(std::initializer_list<std::int64_t> values) {
  return Tensor::from(values, {static_cast<std::int64_t>(values.size())});
}

TEST(Rotary, ProductsDependOnTheDistanceAlone) {
  const Tensor q = testing::values("q", {1, 1, 8}), k = testing::values("k", {1, 1, 8});
  const auto product = [&](std::int64_t at_q, std::int64_t at_k) {
    const Tensor a = rotary(q, positions({at_q})), b = rotary(k, positions({at_k}));
    double sum = 0;
    for (int i = 0; i < 8; ++i) sum += a.data<double>()[i] * b.data<double>()[i];
    return sum;
  };
  EXPECT_NEAR(product(3, 7), product(103, 107), 1e-11);
  EXPECT_NEAR(product(9, 2), product(0, -7), 1e-11);
  EXPECT_GT(std::abs(product(3, 7) - product(3, 8)), 1e-3);
}

TEST(Rotary, ATableOfAllPositionsGivesTheSameBits) {
  const Tensor x = testing::values("x", {3, 2, 6}).detached_to(DType::f32);
  const Tensor ids = positions({4, 0, 4});
  const RotaryTable all = rotary_table(positions({0, 1, 2, 3, 4}), 6, {}, DType::f32);
  const RotaryTable picked = {take_rows(all.cosines, ids), take_rows(all.sines, ids)};
  EXPECT_TRUE(same_bits(rotary(x, picked, RotaryLayout::half), rotary(x, ids)));
  // Position 0 turns nothing.
  EXPECT_TRUE(same_bits(rotary(x, ids).detached_slice(0, 1, 2), x.detached_slice(0, 1, 2)));
}

TEST(Rotary, BadInputIsRefused) {
  const Tensor x = Tensor::zeros({2, 1, 6});
  EXPECT_THROW(rotary(Tensor(), positions({0, 1})), Error);
  EXPECT_THROW(rotary(x, positions({0})), Error);
  EXPECT_THROW(rotary(x, Tensor::zeros({2})), Error);
  EXPECT_THROW(rotary(x, positions({0, 1}), {.width = 3}), Error);
  EXPECT_THROW(rotary(x, positions({0, 1}), {.width = 8}), Error);
  EXPECT_THROW(rotary(x, positions({0, 1}), {.base = 0}), Error);
  EXPECT_THROW(rotary(x, positions({0, 1}), {.scaling = {.factor = 0}}), Error);
  EXPECT_THROW(rotary(Tensor::zeros({2, 1, 5}), positions({0, 1})), Error);
  EXPECT_THROW(rotary(Tensor::zeros({2, 6}), positions({0, 1})), Error);
  RotaryTable table = rotary_table(positions({0, 1}), 6, {}, DType::f32);
  EXPECT_THROW(rotary(x.detached_to(DType::f64), table, RotaryLayout::half), Error);
  table.cosines.set_requires_grad();
  EXPECT_THROW(rotary(x, table, RotaryLayout::half), Error);
}

}  // namespace
}  // namespace heed
