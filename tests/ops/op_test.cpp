// What every op of the table must satisfy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"
#include "ops/op_case.h"

namespace heed::testing {
namespace {

bool is_float(const Tensor& x) {
  return x.dtype() == DType::f32 || x.dtype() == DType::f64;
}

std::vector<Tensor> converted(Inputs inputs, DType dtype) {
  std::vector<Tensor> result;
  for (const Tensor& input : inputs)
    result.push_back(is_float(input) ? input.detached_to(dtype).detached_clone() : input);
  return result;
}

// The same values behind other strides: stored with the last two axes swapped (or every second element of a row).
Tensor strided(const Tensor& x) {
  if (x.rank() >= 2) return x.detached_transpose(-1, -2).detached_clone().detached_transpose(-1, -2);
  if (x.rank() == 0) return x;
  const Tensor column = x.detached_reshape({x.size(0), 1});
  return concat(std::vector<Tensor>{column, column}, 1).detached_view(x.shape(), {2}, 0);
}

double largest(const Tensor& x) {
  double most = 0;
  for (double value : x.detached_to(DType::f64).to_vector<double>()) {
    if (std::isfinite(value)) most = std::max(most, std::abs(value));
  }
  return most;
}

void expect_close(const Tensor& actual, const Tensor& expected, double tolerance) {
  ASSERT_EQ(actual.shape(), expected.shape());
  const auto a = actual.detached_to(DType::f64).to_vector<double>(), e = expected.to_vector<double>();
  const double limit = tolerance * std::max(1.0, largest(expected));
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], e[i], limit) << "element " << i;
}

// The output's gradient: values that differ from element to element.
Tensor upstream(const Tensor& y) {
  return values("upstream", y.shape()).detached_to(y.dtype());
}

// Output, then the gradients of all float inputs.
std::vector<Tensor> forward_and_backward(const OpCase& c, std::vector<Tensor> inputs) {
  for (Tensor& input : inputs) {
    if (is_float(input)) input.set_requires_grad();
  }
  const Tensor y = c.run(inputs);
  std::vector<Tensor> results = {y.detach().detached_contiguous()};
  if (!y.requires_grad()) return results;
  backward(y, upstream(y));
  for (const Tensor& input : inputs) {
    if (is_float(input)) results.push_back(input.grad());
  }
  return results;
}

class OpTable : public ::testing::TestWithParam<OpCase> {};

TEST_P(OpTable, MatchesTheNaiveLoopInF64AndF32) {
  const OpCase& c = GetParam();
  const auto inputs = make_inputs(c);
  const Tensor y = c.run(inputs);
  EXPECT_EQ(y.dtype(), DType::f64);
  expect_close(y, c.reference(inputs), 1e-12);
  const auto rounded = converted(inputs, DType::f32);
  const Tensor y32 = c.run(rounded);
  EXPECT_EQ(y32.dtype(), DType::f32);
  expect_close(y32, c.reference(converted(rounded, DType::f64)), c.f32_tolerance);
}

TEST_P(OpTable, GradientMatchesFiniteDifferences) {
  const OpCase& c = GetParam();
  constexpr double kStep = 1e-6, kAbsolute = 1e-5, kRelative = 1e-3;
  std::vector<Tensor> inputs = converted(make_inputs(c), DType::f64);
  for (Tensor& input : inputs) {
    if (is_float(input)) input.set_requires_grad();
  }
  const Tensor y = c.run(inputs);
  ASSERT_TRUE(y.requires_grad());
  const Tensor up = upstream(y);
  backward(y, up);
  auto objective = [&] {
    NoGrad no_grad;
    const auto out = c.run(inputs).to_vector<double>(), weight = up.to_vector<double>();
    double total = 0;
    for (std::size_t i = 0; i < out.size(); ++i) total += out[i] * weight[i];
    return total;
  };
  std::int64_t samples = 0;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!is_float(inputs[k])) continue;
    const Tensor gradient = inputs[k].grad();
    for (std::int64_t i = 0; i < inputs[k].count(); ++i, ++samples) {
      const double kept = inputs[k].data<double>()[i];
      inputs[k].mutable_data<double>()[i] = kept + kStep;
      const double above = objective();
      inputs[k].mutable_data<double>()[i] = kept - kStep;
      const double below = objective();
      inputs[k].mutable_data<double>()[i] = kept;
      const double numeric = (above - below) / (2 * kStep);
      ASSERT_TRUE(gradient.defined()) << "input " << k;
      const double analytic = gradient.detached_contiguous().data<double>()[i];
      ASSERT_NEAR(analytic, numeric, kAbsolute + kRelative * std::abs(numeric)) << "input " << k << " element " << i;
    }
  }
  RecordProperty("gradient_samples", std::to_string(samples));
}

TEST_P(OpTable, StridedInputsGiveTheSameBits) {
  const OpCase& c = GetParam();
  const auto plain = converted(make_inputs(c), DType::f32);
  const auto expected = forward_and_backward(c, plain);
  for (std::size_t k = 0; k < plain.size(); ++k) {
    auto inputs = plain;
    inputs[k] = strided(plain[k]);
    const auto actual = forward_and_backward(c, inputs);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_TRUE(same_bits(actual[i], expected[i])) << k << " " << i;
  }
}

// Forward and gradients with 1 to 4 threads are the same bytes.
void expect_thread_independent(const OpCase& c) {
  const auto inputs = converted(make_inputs(c), DType::f32);
  std::vector<Tensor> expected;
  for (int threads = 1; threads <= 4; ++threads) {
    ThreadLimit limit(threads);
    const auto actual = forward_and_backward(c, inputs);
    if (threads == 1) expected = actual;
    for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_TRUE(same_bits(actual[i], expected[i])) << threads;
  }
}

// Some rows alone are the same bytes as the same rows in their batch.
void expect_rows_independent(const OpCase& c) {
  const auto inputs = converted(make_inputs(c), DType::f32);
  const Tensor whole = c.run(inputs);
  std::int64_t rows = 0;
  for (std::size_t k = 0; k < c.rows.size(); ++k) {
    if (c.rows[k]) rows = inputs[k].size(0);
  }
  for (std::int64_t begin = 0; begin < rows; begin += std::max<std::int64_t>(1, rows / 5)) {
    for (std::int64_t length : {1, 3, 7}) {
      const std::int64_t end = std::min(rows, begin + length);
      auto part = inputs;
      for (std::size_t k = 0; k < part.size(); ++k) {
        if (c.rows[k]) part[k] = part[k].detached_slice(0, begin, end).detached_clone();
      }
      EXPECT_TRUE(same_bits(c.run(part), whole.detached_slice(0, begin, end))) << "rows " << begin << ".." << end;
    }
  }
}

TEST_P(OpTable, ThreadsAndBatchDoNotChangeTheBits) {
  expect_thread_independent(GetParam());
  expect_rows_independent(GetParam());
}

std::string case_name(const ::testing::TestParamInfo<OpCase>& info) {
  std::string name = std::to_string(info.index) + "_" + info.param.op + "_" + info.param.name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Small, OpTable, ::testing::ValuesIn(op_cases(CaseSize::small)), case_name);

// Shapes of real models: what threads and batches could change, they would change here.
class LargeOpTable : public ::testing::TestWithParam<OpCase> {};
TEST_P(LargeOpTable, ThreadsAndBatchDoNotChangeTheBits) {
  expect_thread_independent(GetParam());
  expect_rows_independent(GetParam());
}
INSTANTIATE_TEST_SUITE_P(Large, LargeOpTable, ::testing::ValuesIn(op_cases(CaseSize::large)), case_name);

}  // namespace
}  // namespace heed::testing
