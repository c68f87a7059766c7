// Formulas of attention that are often printed wrong: each test shows the right one, and that the other gives another
// result. docs/errata.md lists them; those about heads, blocks and parameters are in tests/nn/errata_test.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numbers>

#include "attention/plain.h"
#include "heed/attention/custom.h"
#include "heed/attention/positions.h"
#include "heed/attention/relative_terms.h"
#include "heed/attention/rotary.h"
#include "heed/base/memory.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/normalize.h"
#include "heed/tensor/autograd.h"
#include "support/error_of.h"

namespace heed {
namespace {

using plain::attended, plain::difference, plain::kDifferent, plain::kEqual, plain::matrix, plain::one_head,
    plain::transposed, plain::weights;

// Q K^T / sqrt(d), the matrix S of scores.
Tensor scores(const Tensor& q, const Tensor& k) {
  return scale(matmul(q, transposed(k)), 1 / std::sqrt(static_cast<double>(q.size(1))));
}

// 10 tokens of width 3: the shape of the worked example that E37 is about.
struct TenTokens {
  Tensor q = matrix("q", 10, 3), k = matrix("k", 10, 3), v = matrix("v", 10, 3);
};

TEST(Errata, E01_WeightsAreAMatrix) {
  const Tensor q = matrix("q", 3, 4), k = matrix("k", 5, 4), v = matrix("v", 5, 2);
  const Tensor a = weights(one_head(q, k, v));
  EXPECT_EQ(a.shape(), Shape({3, 5}));
  // One vector for all queries would be another thing: every query has its own row ...
  EXPECT_GT(difference(a.detached_slice(0, 0, 1), a.detached_slice(0, 1, 2)), kDifferent);
  // ... which no other query changes.
  Tensor changed = q.detached_clone();
  changed.mutable_data<double>()[4] += 1;
  const Tensor b = weights(one_head(changed, k, v));
  EXPECT_EQ(difference(a.detached_slice(0, 0, 1), b.detached_slice(0, 0, 1)), 0);
  EXPECT_GT(difference(a.detached_slice(0, 1, 2), b.detached_slice(0, 1, 2)), kDifferent);
}

TEST(Errata, E02_KeysAreProjectionsOfTokens) {
  const Tensor x = matrix("x", 4, 6), memory = matrix("memory", 3, 6);  // no token in common
  const Tensor q = matmul(x, matrix("w_q", 6, 5)), k = matmul(memory, matrix("w_k", 6, 5)),
               v = matmul(memory, matrix("w_v", 6, 5));
  EXPECT_LT(difference(weights(one_head(q, k, v)), softmax(scores(q, k))), kEqual);
  // Keys made of what the inputs have in common: here there would be none, and nothing to attend to.
  AttentionInput common = one_head(q, k, v);
  common.mask = Mask::lengths({0});
  EXPECT_EQ(difference(attended(common), Tensor::zeros({4, 5}, DType::f64)), 0);
  EXPECT_GT(difference(attended(q, k, v), attended(common)), kDifferent);
}

TEST(Errata, E03_TheContextIsAWeightedSumOfValues) {
  const TenTokens ten;
  const Tensor context = attended(ten.q, ten.k, ten.v);
  EXPECT_LT(difference(context, matmul(weights(one_head(ten.q, ten.k, ten.v)), ten.v)), kEqual);
  EXPECT_GT(difference(context, ten.v), kDifferent);
}

TEST(Errata, E07_OneProductWithTheValues) {
  const Tensor q = matrix("q", 4, 4), k = matrix("k", 4, 4), v = matrix("v", 4, 4);
  const Tensor right = attended(q, k, v), a = softmax(scores(q, k));
  EXPECT_LT(difference(right, matmul(a, v)), kEqual);
  const Tensor raw = matmul(q, transposed(k));
  EXPECT_GT(difference(right, matmul(matmul(raw, v), v)), kDifferent);  // the three steps as printed
  EXPECT_GT(difference(right, matmul(matmul(a, v), v)), kDifferent);    // "cumulative attention", even with a softmax
}

TEST(Errata, E08_OneMeansAttend) {
  const std::vector<std::int32_t> lower = {1, 0, 0, 1, 1, 0, 1, 1, 1}, upper = {0, 1, 1, 0, 0, 1, 0, 0, 0};
  const Tensor q = matrix("q", 3, 4), k = matrix("k", 3, 4), v = matrix("v", 3, 4);
  AttentionInput causal = one_head(q, k, v), ours = causal, other = causal;
  causal.mask = Mask::causal();
  ours.terms = {mask_term(Tensor::from(lower, {3, 3}))};
  other.terms = {mask_term(Tensor::from(upper, {3, 3}))};  // a PyTorch key_padding_mask: 1 means ignore
  EXPECT_LT(difference(attended(causal), attended(ours)), kEqual);
  EXPECT_GT(difference(attended(causal), attended(other)), kDifferent);
}

TEST(Errata, E08_AFullyMaskedRowGivesZeros) {
  const TenTokens ten;
  AttentionInput in = one_head(ten.q, ten.k, ten.v);
  in.mask = Mask::lengths({0});
  in.q.set_requires_grad(), in.k.set_requires_grad(), in.v.set_requires_grad();
  const Tensor y = attend(in);
  EXPECT_TRUE(same_bits(y.detach(), Tensor::zeros(y.shape(), DType::f64)));
  backward(y, Tensor::full(y.shape(), 1, DType::f64));
  for (const Tensor& input : {in.q, in.k, in.v}) {
    EXPECT_TRUE(same_bits(input.grad(), Tensor::zeros(input.shape(), DType::f64)));
  }
  // The formula taken at its word: e^-inf / sum of e^-inf.
  const double hidden = std::exp(-std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(hidden / (10 * hidden)));
}

TEST(Errata, E09_ScaleIsTheWidthOfTheHead) {
  const Tensor x = testing::values("x", {5, 4, 16});
  AttentionInput in{.q = x, .k = testing::values("k", {5, 4, 16}), .v = x, .queries = {5}, .keys = {5}};
  const Tensor usual = attend(in);
  in.scale = 1 / std::sqrt(16.0);
  EXPECT_TRUE(same_bits(usual, attend(in)));
  in.scale = 1 / std::sqrt(64.0);  // the width of all heads together
  EXPECT_GT(difference(usual, attend(in)), kDifferent);
}

TEST(Errata, E11_WeightsArePositiveAndSumToOne) {
  const TenTokens ten;
  AttentionInput in = one_head(ten.q, ten.k, ten.v);
  const Tensor a = weights(in), s = scores(ten.q, ten.k);
  double smallest_score = 0;
  for (std::int64_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(plain::row_sum(a, i), 1, kEqual);
    EXPECT_GT(std::abs(plain::row_sum(s, i) - 1), kDifferent);
    for (std::int64_t j = 0; j < 10; ++j) {
      EXPECT_GT(a.at({i, j}), 0);  // because e^s is, whatever the triangle inequality says of s
      smallest_score = std::min(smallest_score, s.at({i, j}));
    }
  }
  EXPECT_LT(smallest_score, -kDifferent);
  in.mask = Mask::causal();
  EXPECT_EQ(weights(in).at({0, 1}), 0);  // zero only where masked
}

TEST(Errata, E12_TheDotProductHasBothLengths) {
  constexpr double kAngle = 0.8;  // |q| = 2, |k| = 3
  const Tensor q = Tensor::from<double>({2, 0}, {1, 2});
  const Tensor k = Tensor::from<double>({3 * std::cos(kAngle), 3 * std::sin(kAngle), 0, 0}, {2, 2});
  AttentionInput in = one_head(q, k, k);
  in.scale = 1;
  const Tensor a = weights(in);
  const double score = std::log(a.at({0, 0}) / a.at({0, 1}));  // the second key is 0, and so is its score
  EXPECT_NEAR(score, 2 * 3 * std::cos(kAngle), kEqual);
  EXPECT_GT(std::abs(score - 2 * 2 * std::cos(kAngle)), kDifferent);
  // proj_k(q) = (q.k / |k|^2) k is not q.
  const Tensor projection = scale(k.detached_slice(0, 0, 1).detached_clone(), score / 9);
  EXPECT_NEAR(std::hypot(projection.at({0, 0}), projection.at({0, 1})), 2 * std::cos(kAngle), kEqual);
  EXPECT_GT(difference(projection, q), kDifferent);
}

TEST(Errata, E12_OrthogonalKeysStillHaveWeight) {
  const Tensor q = Tensor::from<double>({1, 0}, {1, 2}), k = Tensor::from<double>({0, 1, 1, 0}, {2, 2});
  const Tensor a = weights(one_head(q, k, k));
  EXPECT_NEAR(a.at({0, 0}), 1 / (1 + std::exp(1 / std::numbers::sqrt2)), kEqual);  // 0.330, not 0
}

TEST(Errata, E13_SoftmaxDoesNotAssociate) {
  const Tensor q = matrix("q", 4, 4), k = matrix("k", 4, 4), v = matrix("v", 4, 4), w = matrix("w", 4, 4);
  const Tensor right = attended(q, k, v), a = softmax(scores(q, k)), raw = matmul(q, transposed(k));
  EXPECT_LT(difference(right, matmul(a, v)), kEqual);
  const Tensor inner = softmax(matmul(softmax(matmul(raw, q)), softmax(matmul(raw, v))));
  EXPECT_GT(difference(right, softmax(matmul(inner, v))), kDifferent);
  // What does associate: matrix products, and so attention without its softmax.
  EXPECT_LT(difference(matmul(matmul(a, v), w), matmul(a, matmul(v, w))), kEqual);
  EXPECT_LT(difference(matmul(raw, v), matmul(q, matmul(transposed(k), v))), 10 * kEqual);
  EXPECT_GT(difference(matmul(softmax(raw), v), matmul(q, softmax(matmul(transposed(k), v)))), kDifferent);
}

TEST(Errata, E14_TheMatrixDependsOnTheInput) {
  const Tensor w_q = matrix("w_q", 4, 4), w_k = matrix("w_k", 4, 4), w_v = matrix("w_v", 4, 4);
  auto self_attention = [&](const Tensor& x) { return attended(matmul(x, w_q), matmul(x, w_k), matmul(x, w_v)); };
  const Tensor x = matrix("x", 5, 4), y = matrix("y", 5, 4);
  // A linear map f would satisfy both of these.
  EXPECT_GT(difference(self_attention(add(x, y)), add(self_attention(x), self_attention(y))), kDifferent);
  EXPECT_GT(difference(self_attention(scale(x, 2)), scale(self_attention(x), 2)), kDifferent);
  EXPECT_LT(difference(attended(x, y, scale(x, 2)), scale(attended(x, y, x), 2)), kEqual);  // linear in v alone
  EXPECT_EQ(self_attention(matrix("x", 9, 4)).shape(), Shape({9, 4}));  // 4 x 4 weights serve any length
}

// How many scores attend() computes, and the most memory it holds meanwhile.
struct Cost {
  std::int64_t scores, bytes;
};
Cost cost(std::int64_t tokens, std::int64_t heads, std::int64_t width) {
  static std::atomic<std::int64_t> count;
  struct Counted {
    double operator()(double score, const ScorePosition&) const { return ++count, score; }
    double derivative(double, const ScorePosition&) const { return 1; }
  };
  const Tensor x = testing::values("x", {tokens, heads, width}).detached_to(DType::f32);
  AttentionInput in{.q = x, .k = x, .v = x, .queries = {tokens}, .keys = {tokens}};
  pool_reset_peak();
  const auto before = pool_stats().in_use_bytes;
  attend(in);
  const auto bytes = static_cast<std::int64_t>(pool_stats().peak_bytes - before);
  count = 0;
  in.terms = {custom_score(Counted{})};
  attend(in);
  return {count, bytes};
}

TEST(Errata, E15_ScoresAreQuadraticAndMemoryIsNot) {
  const Cost base = cost(256, 1, 16), longer = cost(1024, 1, 16), wider = cost(256, 1, 64);
  EXPECT_EQ(base.scores, 256 * 256);
  EXPECT_EQ(longer.scores, 16 * base.scores);
  EXPECT_EQ(wider.scores, base.scores);      // the softmax knows nothing of d; the dot products do
  EXPECT_LT(longer.bytes, 8 * base.bytes);   // n^2 would be 16 times
  EXPECT_LT(longer.bytes, 1024 * 1024 * 4);  // less than the matrix alone
}

TEST(Errata, E16_NoValueInTheScore) {
  const TenTokens ten;
  const Tensor other = matrix("other", 10, 3);
  EXPECT_EQ(difference(weights(one_head(ten.q, ten.k, ten.v)), weights(one_head(ten.q, ten.k, other))), 0);
  auto printed = [&](const Tensor& v) { return softmax(add(matmul(ten.q, transposed(ten.k)), scores(v, ten.k))); };
  EXPECT_GT(difference(printed(ten.v), printed(other)), kDifferent);
  EXPECT_GT(difference(printed(ten.v), weights(one_head(ten.q, ten.k, ten.v))), kDifferent);
}

TEST(Errata, E17_HeadsCostNoMore) {
  constexpr std::int64_t kTokens = 64, kWidth = 32;
  auto products = [](std::int64_t heads) { return cost(kTokens, heads, kWidth / heads).scores * (kWidth / heads); };
  EXPECT_EQ(products(1), kTokens * kTokens * kWidth);
  EXPECT_EQ(products(8), products(1));      // h heads of width d / h
  EXPECT_NE(products(8), 8 * products(1));  // O(n^2 d h) would be this
}

TEST(Errata, E24_SoftmaxRunsOverAllKeys) {
  const TenTokens ten;
  const Tensor a = weights(one_head(ten.q, ten.k, ten.v));
  for (std::int64_t t = 0; t < 10; ++t) {
    EXPECT_NEAR(plain::row_sum(a, t), 1, kEqual);
    EXPECT_LT(a.at({t, t}), 1 - kDifferent);
  }
  // One score per step: the softmax of one number is 1, and attention the identity.
  AttentionInput own = one_head(ten.q, ten.k, ten.v);
  own.mask = Mask::window(0, 0);
  EXPECT_LT(difference(attended(own), ten.v), kEqual);
  EXPECT_GT(difference(attended(ten.q, ten.k, ten.v), ten.v), kDifferent);
}

TEST(Errata, E25_TheScaleKeepsTheVariance) {
  for (std::int64_t width : {16, 256}) {
    const Tensor q = matrix("q", 300, width), k = matrix("k", 300, width);
    const auto raw = matmul(q, transposed(k)).to_vector<double>();
    double squares = 0;
    for (double s : raw) squares += s * s;
    const double variance = squares / static_cast<double>(raw.size());
    EXPECT_NEAR(variance / static_cast<double>(width), 1, 0.05);
    const Tensor scaled = scores(q, k);
    EXPECT_GT(std::abs(plain::row_sum(scaled, 0) - 1), kDifferent);  // scaled scores are no probabilities
    AttentionInput in = one_head(q, k, k);
    EXPECT_NEAR(plain::row_sum(weights(in), 0), 1, kEqual);
    // Without the scale, softmax picks one key and learns little.
    AttentionSummary with, without;
    attend(in, &with);
    in.scale = 1;
    attend(in, &without);
    EXPECT_GT(with.entropy.at({0, 0}), without.entropy.at({0, 0}) + 1);
  }
}

TEST(Errata, E26_AdditiveIsATanhOfASum) {
  const TenTokens ten;
  const Tensor q = matmul(ten.q, matrix("w_q", 3, 5)), k = matmul(ten.k, matrix("w_k", 3, 5)),
               w = testing::values("w", {5});
  AttentionInput in = one_head(q, k, ten.v);
  in.additive = AdditiveScore{w};
  const Tensor s = testing::generate({10, 10}, [&](std::int64_t n) {
    double sum = 0;
    for (std::int64_t c = 0; c < 5; ++c) sum += w.at({c}) * std::tanh(q.at({n / 10, c}) + k.at({n % 10, c}));
    return sum;
  });
  EXPECT_LT(difference(attended(in), matmul(softmax(s), ten.v)), kEqual);
  EXPECT_GT(difference(attended(in), attended(q, k, ten.v)), kDifferent);  // the printed formula: (Q W_q)(K W_k)^T
}

TEST(Errata, E27_SinusoidsAreAbsolute) {
  constexpr std::int64_t kWidth = 8, kShift = 7;
  const Tensor x = matrix("x", 6, kWidth), codes = sinusoidal_positions(40, kWidth, DType::f64);
  // The codes themselves: their product depends on the distance alone ...
  for (std::int64_t p : {0, 5, 20}) {
    const Tensor products = matmul(codes, transposed(codes));
    EXPECT_NEAR(products.at({p, p + 4}), products.at({0, 4}), kEqual);
  }
  // ... but added to tokens they make the same tokens elsewhere attend otherwise.
  auto added = [&](std::int64_t start) {
    const Tensor y = add(x, codes.detached_slice(0, start, start + 6).detached_clone());
    return weights(one_head(y, y, y));
  };
  EXPECT_GT(difference(added(0), added(kShift)), kDifferent);
  // Relative ones do not notice: rotary here, and by their definition the terms that see key - query.
  auto turned = [&](std::int64_t start) {
    AttentionInput in = one_head(x, x, x);
    in.q = in.k = rotary(in.q, position_ids({6}, start));
    return weights(in);
  };
  EXPECT_LT(difference(turned(0), turned(kShift)), kEqual);
  EXPECT_GT(difference(turned(0), weights(one_head(x, x, x))), kDifferent);
}

TEST(Errata, E27_ShawAddsARelativeKey) {
  const TenTokens ten;
  constexpr std::int64_t kReach = 2;
  const Tensor table = matrix("table", 2 * kReach + 1, 3);
  AttentionInput in = one_head(ten.q, ten.k, ten.v);
  in.terms = {relative_key_term(in.q, table)};
  const Tensor s = testing::generate({10, 10}, [&](std::int64_t n) {
    const std::int64_t i = n / 10, j = n % 10, row = std::clamp(j - i, -kReach, kReach) + kReach;
    double sum = 0;
    for (std::int64_t c = 0; c < 3; ++c) sum += ten.q.at({i, c}) * (ten.k.at({j, c}) + table.at({row, c}));
    return sum / std::sqrt(3.0);
  });
  EXPECT_LT(difference(weights(in), softmax(s)), kEqual);
  EXPECT_GT(difference(weights(in), softmax(scores(ten.q, ten.k))), kDifferent);
}

TEST(Errata, E28_ShapesHaveToFit) {
  const Tensor q = matrix("q", 6, 4), k = matrix("k", 6, 4), v = matrix("v", 6, 3), square = matrix("v", 6, 4);
  EXPECT_EQ(attended(q, k, v).shape(), Shape({6, 3}));
  const Tensor turned = matmul(transposed(q), k);  // Q^T K is 4 x 4: features by features
  EXPECT_EQ(turned.shape(), Shape({4, 4}));
  test::error_of(ErrorKind::invalid_argument, [&] { matmul(turned, transposed(v)); });
  // With values as wide as keys it can be computed, and gives a row for each feature instead of each token.
  EXPECT_EQ(matmul(softmax(matmul(turned, transposed(square))), square).shape(), Shape({4, 4}));
  EXPECT_EQ(attended(q, k, square).shape(), Shape({6, 4}));
}

TEST(Errata, E29_NonLocalIsAWeightedMeanPlusTheInput) {
  const Tensor x = matrix("x", 5, 4), theta = matrix("theta", 4, 3), phi = matrix("phi", 4, 3), g = matrix("g", 4, 3),
               w_z = matrix("w_z", 3, 4);
  AttentionInput in = one_head(matmul(x, theta), matmul(x, phi), matmul(x, g));
  in.scale = 1;  // f(x_i, x_j) = e^(theta(x_i) . phi(x_j)), C = the sum of f over j
  const Tensor z = add(matmul(attended(in), w_z), x);
  const Tensor values = matmul(x, g), products = matmul(matmul(x, theta), transposed(matmul(x, phi)));
  const Tensor y = testing::generate({5, 3}, [&](std::int64_t n) {
    double sum = 0, total = 0;
    for (std::int64_t j = 0; j < 5; ++j) {
      const double f = std::exp(products.at({n / 3, j}));
      sum += f * values.at({j, n % 3}), total += f;
    }
    return sum / total;
  });
  EXPECT_LT(difference(z, add(matmul(y, w_z), x)), 10 * kEqual);
  EXPECT_GT(difference(z, matmul(y, w_z)), kDifferent);  // the residual belongs to it
  in.scale.reset();
  EXPECT_GT(difference(z, add(matmul(attended(in), w_z), x)), kDifferent);  // and no 1 / sqrt(d) does
}

TEST(Errata, E32_ShapesOfWeightsAndOutput) {
  const Tensor q = matrix("q", 3, 4), k = matrix("k", 5, 4), v = matrix("v", 5, 2);
  EXPECT_EQ(attended(q, k, v).shape(), Shape({3, 2}));           // queries x width of a value
  EXPECT_EQ(weights(one_head(q, k, v)).shape(), Shape({3, 5}));  // queries x keys: no vocabulary here
  // The same X, but W_Q and W_K differ: with Q = K scores were symmetric.
  const Tensor x = matrix("x", 4, 6), w_q = matrix("w_q", 6, 4), w_k = matrix("w_k", 6, 4);
  const Tensor apart = scores(matmul(x, w_q), matmul(x, w_k)), same = scores(matmul(x, w_q), matmul(x, w_q));
  EXPECT_LT(difference(same, transposed(same).detached_clone()), kEqual);
  EXPECT_GT(difference(apart, transposed(apart).detached_clone()), kDifferent);
}

TEST(Errata, E37_TenTokensHaveTenByTenScores) {
  const TenTokens ten;
  EXPECT_EQ(matmul(ten.q, transposed(ten.k)).shape(), Shape({10, 10}));
  test::error_of(ErrorKind::invalid_argument, [&] { matmul(ten.q, ten.v); });  // 10 x 3 by 10 x 3
  const Tensor a = weights(one_head(ten.q, ten.k, ten.v)), z = attended(ten.q, ten.k, ten.v);
  for (std::int64_t i = 0; i < 10; ++i) EXPECT_NEAR(plain::row_sum(a, i), 1, kEqual);
  // Rows of z differ, so they differ after W_O, unless W_O takes everything away.
  auto rows_differ = [](const Tensor& y) {
    return difference(y.detached_slice(0, 0, 1), y.detached_slice(0, 1, 2)) > kDifferent;
  };
  EXPECT_TRUE(rows_differ(z));
  EXPECT_TRUE(rows_differ(matmul(z, matrix("w_o", 3, 3))));
  EXPECT_FALSE(rows_differ(matmul(z, Tensor::zeros({3, 3}, DType::f64))));
}

TEST(Errata, E45_ScoresAreNotWeights) {
  const TenTokens ten;
  const Tensor s = scores(ten.q, ten.k), a = weights(one_head(ten.q, ten.k, ten.v));
  EXPECT_LT(difference(a, softmax(s)), kEqual);
  EXPECT_GT(difference(a, s), kDifferent);
  EXPECT_GT(difference(attended(ten.q, ten.k, ten.v), matmul(s, ten.v)), kDifferent);
}

}  // namespace
}  // namespace heed
