// Relative values, dropout and pointers: memory and errors; the table of cases has their numbers.
#include "heed/attention/relative_values.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/pointer.h"
#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/autograd.h"
#include "ops/op_case.h"
#include "support/error_of.h"

namespace heed {
namespace {

Tensor tokens(const char* name, std::int64_t count) {
  return testing::values(name, {count, 1, 4}).detached_to(DType::f32);
}

AttentionInput self_attention(std::int64_t count) {
  return {.q = tokens("q", count),
          .k = tokens("k", count),
          .v = tokens("v", count),
          .queries = Offsets{count},
          .keys = Offsets{count}};
}

TEST(RelativeValues, HoldsNoMatrixOfAllWeights) {
  constexpr std::int64_t kTokens = 2048;
  ThreadLimit threads(2);
  AttentionInput in = self_attention(kTokens);
  in.relative_values = testing::values("table", {9, 4}).detached_to(DType::f32).set_requires_grad();
  in.q.set_requires_grad();
  in.v.set_requires_grad();
  in.dropout = AttentionDropout{0.2, {1, 2}};
  pool_reset_peak();
  const std::uint64_t before = pool_stats().peak_bytes;
  backward(sum(attend(in)));
  EXPECT_LT(pool_stats().peak_bytes - before, kTokens * kTokens * sizeof(float) / 2);
}

TEST(RelativeValues, RefusesTablesThatDoNotFit) {
  AttentionInput in = self_attention(3);
  for (const Shape& shape : {Shape({4, 4}), Shape({5, 3}), Shape({5, 2, 4}), Shape({5})}) {
    in.relative_values = Tensor::zeros(shape);
    const std::string message = test::error_of(ErrorKind::invalid_argument, [&] { attend(in); });
    EXPECT_NE(message.find("[attend] relative values"), std::string::npos) << message;
  }
}

TEST(Pointer, RefusesTargetsThatAreNotSeen) {
  AttentionInput in = self_attention(3);
  in.mask = Mask::causal();
  EXPECT_GT(pointer_loss(in, Tensor::from<std::int64_t>({0, 0, 2}, {3})).item(), 0);
  const std::string message = test::error_of(ErrorKind::invalid_argument, [&] {
    pointer_loss(in, Tensor::from<std::int64_t>({0, 2, 2}, {3}));
  });
  EXPECT_NE(message.find("target 2 of query 1"), std::string::npos) << message;
}

TEST(Pointer, RowsThatSeeNothingAreFinite) {
  AttentionInput in = self_attention(3);
  in.mask = Mask::lengths({0});
  in.q.set_requires_grad();
  const Tensor loss = pointer_loss(in, Tensor::from<std::int64_t>({0, 1, 2}, {3}));
  EXPECT_EQ(loss.item(), 0);
  backward(loss);
  for (float d : in.q.grad().to_vector<float>()) EXPECT_EQ(d, 0);
}

}  // namespace
}  // namespace heed
