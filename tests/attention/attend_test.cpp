// What the table of cases cannot say: errors, masks, the rows that a probe gets.
#include "heed/attention/attend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/relative_terms.h"
#include "heed/base/error.h"
#include "heed/tensor/autograd.h"
#include "ops/op_case.h"
#include "support/error_of.h"

namespace heed {
namespace {

AttentionInput self_attention(std::int64_t heads, std::int64_t width, std::vector<std::int64_t> lengths) {
  const Offsets offsets{std::span<const std::int64_t>(lengths)};
  const Shape shape{offsets.tokens(), heads, width};
  auto values = [&](const char* name) { return testing::values(name, shape).detached_to(DType::f32); };
  return {.q = values("q"), .k = values("k"), .v = values("v"), .queries = offsets, .keys = offsets};
}

std::string refused(const std::function<void()>& call) {
  return test::error_of(ErrorKind::invalid_argument, call);
}

TEST(Attend, SummariesMatchTheRows) {
  AttentionInput in = self_attention(3, 8, {40, 5});
  AttentionSummary summary{.top_k = 4};
  const Tensor watched = attend(in, &summary);
  EXPECT_TRUE(same_bits(watched, attend(in)));
  const Tensor row = attention_rows(in, 0, 2, 7, 8);
  double entropy = 0, most = 0;
  std::int64_t best = 0;
  for (std::int64_t j = 0; j < 40; ++j) {
    entropy -= row.at({0, j}) * std::log(row.at({0, j}));
    if (row.at({0, j}) > most) most = row.at({0, j}), best = j;
  }
  EXPECT_NEAR(summary.entropy.at({7, 2}), entropy, 1e-5);
  EXPECT_NEAR(summary.maximum.at({7, 2}), most, 1e-6);
  EXPECT_EQ(summary.link_keys.at({7, 2, 0}), best);
  EXPECT_NEAR(summary.link_weights.at({7, 2, 0}), most, 1e-6);
}

TEST(Attend, FusedProjectionsGiveTheSameBits) {
  const Offsets offsets{4, 3};
  const Tensor qkv =
      testing::values("qkv", {7, 4 * 5}).detached_to(DType::f32).set_requires_grad();  // 2 query, 1 key head
  auto part = [&](std::int64_t first, std::int64_t heads) {
    return qkv.detach().detached_view({7, heads, 5}, {20, 5, 1}, first * 5).detached_clone().set_requires_grad();
  };
  const AttentionInput apart{
      .q = part(0, 2), .k = part(2, 1), .v = part(3, 1), .queries = offsets, .keys = offsets, .mask = Mask::causal()};
  const Tensor expected = attend(apart);
  const Tensor fused = attend_fused(qkv, 2, 1, {.queries = offsets, .keys = offsets, .mask = Mask::causal()});
  EXPECT_TRUE(same_bits(fused.detach(), expected.detach()));
  const Tensor up = testing::values("up", expected.shape()).detached_to(DType::f32);
  backward(expected, up);
  backward(fused, up);
  const Tensor d = qkv.grad();
  EXPECT_TRUE(same_bits(d.detached_view({7, 2, 5}, {20, 5, 1}, 0), apart.q.grad()));
  EXPECT_TRUE(same_bits(d.detached_view({7, 1, 5}, {20, 5, 1}, 10), apart.k.grad()));
  EXPECT_TRUE(same_bits(d.detached_view({7, 1, 5}, {20, 5, 1}, 15), apart.v.grad()));
}

TEST(Attend, BucketsAreThoseOfT5) {
  const BucketOptions both{.bidirectional = true, .max_distance = 128};
  EXPECT_EQ(relative_bucket(0, 32, both), 0);
  EXPECT_EQ(relative_bucket(-7, 32, both), 7);
  EXPECT_EQ(relative_bucket(7, 32, both), 23);
  EXPECT_EQ(relative_bucket(-8, 32, both), 8);
  EXPECT_EQ(relative_bucket(-1000, 32, both), 15);
  EXPECT_EQ(relative_bucket(1000, 32, both), 31);
  const BucketOptions past{.bidirectional = false, .max_distance = 128};
  EXPECT_EQ(relative_bucket(5, 32, past), 0);
  EXPECT_EQ(relative_bucket(-15, 32, past), 15);
  EXPECT_EQ(relative_bucket(-127, 32, past), 31);
}

TEST(Attend, MisfitsAreNamed) {
  AttentionInput in = self_attention(2, 4, {3});
  AttentionInput bad = in;
  bad.k = Tensor::zeros({3, 2, 5});
  EXPECT_NE(refused([&] { attend(bad); }).find("[3, 2, 5]"), std::string::npos);
  bad = in;
  bad.queries = Offsets{4};
  EXPECT_NE(refused([&] { attend(bad); }).find("4 queries"), std::string::npos);
  bad = in;
  bad.k = bad.v = Tensor::zeros({3, 3, 4});
  EXPECT_NE(refused([&] { attend(bad); }).find("not a multiple"), std::string::npos);
  bad = in;
  bad.terms = {bias_term(Tensor::zeros({2, 2}))};
  EXPECT_NE(refused([&] { attend(bad); }).find("bias [2, 2]"), std::string::npos);
  bad = in;
  bad.mask = Mask::segments({1, 2, 1});
  EXPECT_NE(refused([&] { attend(bad); }).find("broken"), std::string::npos);
  bad = in;
  bad.mask = Mask::lengths({4});
  EXPECT_NE(refused([&] { attend(bad); }).find("length 4"), std::string::npos);
  refused([] { Mask::window(-1, 0); });
  refused([] { soft_cap_term(0); });
  refused([&] { attention_rows(in, 0, 2, 0, 1); });
}

}  // namespace
}  // namespace heed
