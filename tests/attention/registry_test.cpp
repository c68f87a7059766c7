// What every variant of attention must do.
#include "heed/attention/registry.h"
#include "heed/attention/reference.h"

#include <gtest/gtest.h>

#include <set>

#include "ops/op_case.h"

namespace heed {
namespace {

constexpr std::int64_t kTokens = 9, kHeads = 4, kWidth = 6;

AttentionInput plain(double last_token_shift = 0) {
  auto tensor = [&](const char* name) {
    Tensor x = testing::values(name, {kTokens, kHeads, kWidth});
    for (std::int64_t i = (kTokens - 1) * kHeads * kWidth; i < x.count(); ++i) {
      x.mutable_data<double>()[i] += last_token_shift;
    }
    return x;
  };
  return {.q = tensor("q"), .k = tensor("k"), .v = tensor("v"), .queries = {kTokens}, .keys = {kTokens}};
}

AttentionInput causal(AttentionInput input) {
  input.mask = input.mask & Mask::causal();
  return input;
}

class Variant : public ::testing::TestWithParam<AttentionVariant> {};

TEST_P(Variant, RowsAreDistributions) {
  const AttentionInput input = GetParam().example(plain());
  for (std::int64_t head = 0; head < kHeads; ++head) {
    const Tensor weights = attention_rows(input, 0, head, 0, kTokens);
    for (std::int64_t i = 0; i < kTokens; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < kTokens; ++j) {
        EXPECT_GE(weights.at({i, j}), 0);
        sum += weights.at({i, j});
      }
      EXPECT_NEAR(sum, 1, 1e-12) << "head " << head << " query " << i;
    }
  }
}

TEST_P(Variant, CausalWeightsEndAtTheQuery) {
  const AttentionInput input = causal(GetParam().example(plain()));
  for (std::int64_t head = 0; head < kHeads; ++head) {
    const Tensor weights = attention_rows(input, 0, head, 0, kTokens);
    for (std::int64_t i = 0; i < kTokens; ++i) {
      for (std::int64_t j = i + 1; j < kTokens; ++j) EXPECT_EQ(weights.at({i, j}), 0) << i << ' ' << j;
    }
  }
}

TEST_P(Variant, TheLastTokenDoesNotReachEarlierOnesThroughACausalMask) {
  const Tensor before = attend(causal(GetParam().example(plain())));
  const Tensor after = attend(causal(GetParam().example(plain(0.7))));
  EXPECT_TRUE(same_bits(before.detached_slice(0, 0, kTokens - 1), after.detached_slice(0, 0, kTokens - 1)));
  EXPECT_FALSE(same_bits(before, after));
}

TEST_P(Variant, EqualsItsDefinition) {
  const AttentionInput input = GetParam().example(plain());
  const auto fast = attend(input).to_vector<double>(), defined = attend_reference(input).to_vector<double>();
  for (std::size_t i = 0; i < fast.size(); ++i) ASSERT_NEAR(fast[i], defined[i], 1e-12) << i;
}

TEST_P(Variant, DiffersFromThePlainOne) {
  if (std::string(GetParam().name) == "scaled dot product") return;
  EXPECT_FALSE(same_bits(attend(GetParam().example(plain())), attend(plain())));
}

INSTANTIATE_TEST_SUITE_P(Attention, Variant,
                         ::testing::ValuesIn(attention_variants().begin(), attention_variants().end()),
                         [](const ::testing::TestParamInfo<AttentionVariant>& parameter) {
                           std::string name = parameter.param.name;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

TEST(AttentionRegistry, NamesAreUnique) {
  std::set<std::string> names;
  for (const AttentionVariant& variant : attention_variants()) names.insert(variant.name);
  EXPECT_EQ(names.size(), attention_variants().size());
}

}  // namespace
}  // namespace heed
