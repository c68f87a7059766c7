#include "heed/ops/weight.h"

#include <gtest/gtest.h>

#include <thread>

#include "heed/base/memory.h"
#include "heed/base/random.h"
#include "heed/kernels/gemm.h"
#include "heed/nn/initializer.h"

namespace heed {
namespace {

constexpr std::int64_t kRows = 3;

Tensor noise(const char* name, const Shape& shape) {
  Tensor x = Tensor::empty(shape, DType::f64);
  Initializer::normal(1).fill(x, 1, stream_id(name));
  return x;
}

// Both products against plain loops over the parameter as it is now.
void expect_products(const Weight& weight) {
  const std::int64_t out = weight.out(), in = weight.in();
  const Tensor x = noise("x", {kRows, in}), dy = noise("dy", {kRows, out});
  std::vector<double> y(static_cast<std::size_t>(kRows * out)), dx(static_cast<std::size_t>(kRows * in));
  weight.apply(kRows, x.data<double>(), y.data(), {});
  weight.apply_transposed(kRows, dy.data<double>(), dx.data(), {});
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t o = 0; o < out; ++o) {
      double sum = 0;
      for (std::int64_t i = 0; i < in; ++i) sum += x.at({row, i}) * weight.parameter().at({o, i});
      ASSERT_NEAR(y[static_cast<std::size_t>(row * out + o)], sum, 1e-12) << row << ' ' << o;
    }
    for (std::int64_t i = 0; i < in; ++i) {
      double sum = 0;
      for (std::int64_t o = 0; o < out; ++o) sum += dy.at({row, o}) * weight.parameter().at({o, i});
      ASSERT_NEAR(dx[static_cast<std::size_t>(row * in + i)], sum, 1e-12) << row << ' ' << i;
    }
  }
}

TEST(Weight, FollowsItsParameter) {
  Weight weight(noise("first", {6, 4}));
  expect_products(weight);
  weight.parameter().mutable_data<double>()[5] = 7;  // written to
  expect_products(weight);
  weight.parameter() = noise("second", {6, 4});  // replaced
  expect_products(weight);
  const Tensor large = noise("large", {12, 4});
  weight.parameter() = large.detached_slice(0, 0, 6);
  expect_products(weight);
  weight.parameter() = large.detached_slice(0, 0, 6).detached_reshape({4, 6}).detached_transpose(
      0, 1);  // the same bytes in another order
  expect_products(weight);
  weight.parameter() =
      large.detached_slice(0, 3, 9).detached_reshape({4, 6}).detached_transpose(0, 1);  // and from another place on
  expect_products(weight);
}

// LoRA replaces the parameter at every step, and the pool gives the new tensor the bytes of the old one.
TEST(Weight, KnowsAReplacementInTheSameMemory) {
  Weight weight(noise("step", {6, 4}));
  for (int step = 0; step < 4; ++step) {
    expect_products(weight);
    weight.parameter() = Tensor();
    weight.parameter() = noise(std::to_string(step).c_str(), {6, 4});
  }
}

TEST(Weight, IsPackedOnceForAllCopies) {
  const Weight weight(noise("w", {64, 64}));
  const Weight copy = weight, detached = weight.detach();
  expect_products(weight);
  const auto packed = pool_stats().in_use_bytes;
  expect_products(copy);
  expect_products(detached);
  EXPECT_EQ(pool_stats().in_use_bytes, packed);
  expect_products(Weight(weight.parameter()));  // forms of its own, which go with it
  EXPECT_EQ(pool_stats().in_use_bytes, packed);
}

TEST(Weight, ThreadsWaitForOnePackedForm) {
  constexpr std::int64_t kWidth = 512;
  constexpr std::size_t kThreads = 8, kPackedBytes = kWidth * kWidth * sizeof(double);
  const Weight weight(noise("w", {kWidth, kWidth}));
  const Tensor x = noise("x", {1, kWidth});
  std::vector<std::vector<double>> y(kThreads, std::vector<double>(kWidth));
  const auto before = pool_stats().in_use_bytes;
  pool_reset_peak();
  {
    std::vector<std::jthread> callers;
    for (auto& result : y) callers.emplace_back([&] { weight.apply(1, x.data<double>(), result.data(), {}); });
  }
  EXPECT_GE(pool_stats().peak_bytes - before, kPackedBytes);
  EXPECT_LT(pool_stats().peak_bytes - before, 2 * kPackedBytes);  // never two of them
  for (const auto& result : y) EXPECT_EQ(result, y[0]);
  expect_products(weight);
}

// x W^T and dy W of a stored weight, against those of the same values as a parameter.
void expect_same_products(const std::vector<Tensor>& parts, const Tensor& whole) {
  const Weight stored = Weight::stored(parts), parameter(whole.detached_to(DType::f32));
  ASSERT_EQ(stored.shape(), parameter.shape());
  EXPECT_EQ(stored.dtype(), DType::f32);
  EXPECT_FALSE(stored.parameter().defined());
  EXPECT_EQ(stored.parts().size(), parts.size());
  const std::int64_t out = stored.out(), in = stored.in();
  const Tensor x = noise("x", {kRows, in}).detached_to(DType::f32),
               dy = noise("dy", {kRows, out}).detached_to(DType::f32);
  const auto products = [&](const Weight& weight) {
    std::vector<float> values(static_cast<std::size_t>(kRows * (out + in)));
    weight.apply(kRows, x.data<float>(), values.data(), {});
    weight.apply_transposed(kRows, dy.data<float>(), values.data() + kRows * out, {});
    return values;
  };
  EXPECT_EQ(products(stored), products(parameter));
}

TEST(Weight, StoredPartsHaveTheBitsOfOneParameter) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    SCOPED_TRACE(to_string(dtype));
    const Tensor whole = noise("w", {50, 33}).detached_to(dtype);
    const auto rows = [&](std::int64_t begin, std::int64_t end) { return whole.detached_slice(0, begin, end); };
    expect_same_products({whole}, whole);
    expect_same_products({rows(0, 16), rows(16, 43), rows(43, 50)}, whole);
    // A file's [in, out].
    const Tensor columns = whole.detached_transpose(0, 1).detached_clone().detached_transpose(0, 1);
    expect_same_products({columns}, whole);
    expect_same_products({columns.detached_slice(0, 0, 17), columns.detached_slice(0, 17, 50)}, whole);
    // Neither the one nor the other, and both at once.
    expect_same_products({rows(0, 17), columns.detached_slice(0, 17, 50)}, whole);
    expect_same_products({rows(0, 1)}, rows(0, 1));
    expect_same_products({whole.detached_slice(1, 3, 4)}, whole.detached_slice(1, 3, 4).detached_clone());
  }
}

TEST(Weight, RowsAreThoseOfTheWhole) {
  const Tensor whole = noise("w", {50, 33}).detached_to(DType::f16);
  const auto part = [&](std::int64_t begin, std::int64_t end) { return whole.detached_slice(0, begin, end); };
  const Weight stored = Weight::stored({part(0, 16), part(16, 43), part(43, 50)}),
               parameter(whole.detached_to(DType::f32));
  const Tensor x = noise("x", {kRows, 33}).detached_to(DType::f32);
  const auto product = [&](const Weight& weight) {
    std::vector<float> y(static_cast<std::size_t>(kRows * weight.out()));
    weight.apply(kRows, x.data<float>(), y.data(), {});
    return y;
  };
  const std::vector<std::pair<std::int64_t, std::int64_t>> ranges = {{0, 50},  {0, 16},  {3, 9},  {15, 17},
                                                                     {15, 44}, {43, 50}, {49, 50}};
  for (const auto& [begin, end] : ranges) {
    const std::vector<float> expected = product(Weight(part(begin, end).detached_to(DType::f32)));
    EXPECT_EQ(product(stored.rows(begin, end)), expected) << begin << ' ' << end;
    EXPECT_EQ(product(parameter.rows(begin, end)), expected) << begin << ' ' << end;
  }
  for (const Weight& weight : {stored, parameter}) {
    EXPECT_THROW(weight.rows(-1, 3), Error);
    EXPECT_THROW(weight.rows(3, 3), Error);
    EXPECT_THROW(weight.rows(40, 51), Error);
  }
}

TEST(Weight, RefusesPartsThatDoNotFit) {
  const Tensor x = noise("w", {4, 6}).detached_to(DType::f16);
  EXPECT_THROW(Weight::stored({}), Error);
  EXPECT_THROW(Weight::stored({x, x.detached_slice(1, 0, 5)}), Error);
  EXPECT_THROW(Weight::stored({x, x.detached_to(DType::bf16)}), Error);
  EXPECT_THROW(Weight::stored({x, Tensor()}), Error);
  EXPECT_THROW(Weight::stored({x.detached_reshape({24})}), Error);
}

}  // namespace
}  // namespace heed
