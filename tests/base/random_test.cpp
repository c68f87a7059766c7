#include "heed/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "heed/base/error.h"
#include "support/shared_data.h"

namespace heed {
namespace {

using Words = std::array<std::uint32_t, 4>;

// Counter and key as the published vectors list them.
Words block(const Words& counter, const std::array<std::uint32_t, 2>& key) {
  const auto join = [](std::uint32_t low, std::uint32_t high) { return std::uint64_t{high} << 32 | low; };
  return philox(join(key[0], key[1]), join(counter[2], counter[3]), join(counter[0], counter[1]));
}

// From kat_vectors of Random123, lines "philox4x32 10".
TEST(Random, PhiloxGivesThePublishedValues) {
  EXPECT_EQ(block({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(block({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, PhiloxGivesEveryValueOfTheVectorFile) {
  const auto path = test::shared_data("suites/random123/kat_vectors");
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << path << " is absent";
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, rounds;
    if (!(words >> name >> rounds) || name != "philox4x32" || rounds != "10") continue;
    std::array<std::uint32_t, 10> numbers{};
    for (auto& number : numbers) ASSERT_TRUE(words >> std::hex >> number) << line;
    EXPECT_EQ(block({numbers[0], numbers[1], numbers[2], numbers[3]}, {numbers[4], numbers[5]}),
              (Words{numbers[6], numbers[7], numbers[8], numbers[9]}))
        << line;
    ++cases;
  }
  EXPECT_GT(cases, 0) << path << " has no philox4x32 10 line";
}

TEST(Random, UnitNumbersStayBelowOne) {
  EXPECT_EQ(unit_float(0), 0.0f);
  EXPECT_EQ(unit_float(~0u), 1.0f - 0x1p-24f);
  EXPECT_EQ(unit_double(0, 0), 0.0);
  EXPECT_EQ(unit_double(~0u, ~0u), 1.0 - 0x1p-53);
  EXPECT_EQ(unit_double(0, 0x80000000u), 0.5);
  EXPECT_EQ(unit_float(0x80000000u), 0.5f);
}

// Bounds of six standard errors: a right generator fails once in 10^8 seeds, and the seed is fixed.
TEST(Random, MomentsOfUniformAndNormal) {
  constexpr int kCount = 200000;
  double uniform_sum = 0, float_sum = 0, sum = 0, squares = 0, fourth = 0, product = 0;
  for (int i = 0; i < kCount; ++i) {
    uniform_sum += uniform_double(7, 1, static_cast<std::uint64_t>(i));
    float_sum += static_cast<double>(uniform_float(7, 2, static_cast<std::uint64_t>(i)));
    const auto [a, b] = normal_pair(7, 3, static_cast<std::uint64_t>(i));
    sum += a + b;
    squares += a * a + b * b;
    fourth += a * a * a * a + b * b * b * b;
    product += a * b;
    ASSERT_EQ(a, normal(7, 3, static_cast<std::uint64_t>(i)));
  }
  EXPECT_NEAR(uniform_sum / kCount, 0.5, 6 * std::sqrt(1.0 / 12 / kCount));
  EXPECT_NEAR(float_sum / kCount, 0.5, 6 * std::sqrt(1.0 / 12 / kCount));
  EXPECT_NEAR(sum / (2 * kCount), 0, 6 * std::sqrt(1.0 / (2 * kCount)));
  EXPECT_NEAR(squares / (2 * kCount), 1, 6 * std::sqrt(2.0 / (2 * kCount)));
  EXPECT_NEAR(fourth / (2 * kCount), 3, 6 * std::sqrt(96.0 / (2 * kCount)));
  EXPECT_NEAR(product / kCount, 0, 6 * std::sqrt(1.0 / kCount));
}

TEST(Random, IntegersAreEvenAndInRange) {
  constexpr std::uint64_t kBound = 7;
  constexpr int kCount = 70000;
  std::array<int, kBound> counts{};
  for (int i = 0; i < kCount; ++i) ++counts.at(uniform_integer(3, 5, static_cast<std::uint64_t>(i), kBound));
  for (const int count : counts) EXPECT_NEAR(count, kCount / 7, 6 * std::sqrt(kCount / 7.0));
  EXPECT_EQ(uniform_integer(3, 5, 0, 1), 0u);
  EXPECT_THROW(uniform_integer(3, 5, 0, 0), Error);
}

// For the bound 3/4 2^64 scaling maps the four values 4k .. 4k+3 to 3k, 3k, 3k+1, 3k+2: without rejection multiples of
// three would come out twice as often as they should. A quarter of the draws is rejected.
TEST(Random, RejectionRemovesTheBiasOfALargeBound) {
  const std::uint64_t bound = std::uint64_t{3} << 62;
  constexpr int kCount = 60000;
  std::array<int, 3> residues{};
  int redrawn = 0;
  for (int i = 0; i < kCount; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const std::uint64_t got = uniform_integer(11, 0, index, bound);
    ASSERT_LT(got, bound);
    ++residues.at(got % 3);
    const auto lanes = philox(11, 0, index);
    const std::uint64_t bits = std::uint64_t{lanes[1]} << 32 | lanes[0];
    redrawn += got != bits / 4 * 3 + bits % 4 * 3 / 4;
  }
  for (const int count : residues) EXPECT_NEAR(count, kCount / 3, 6 * std::sqrt(kCount * 2.0 / 9));
  EXPECT_NEAR(redrawn, kCount / 4, 6 * std::sqrt(kCount * 3.0 / 16));
}

TEST(Random, PermutationsAreOrdersAllEquallyLikely) {
  std::map<std::vector<std::int64_t>, int> seen;
  constexpr int kTrials = 24000;
  for (int trial = 0; trial < kTrials; ++trial) ++seen[permutation(4, 9, static_cast<std::uint64_t>(trial))];
  EXPECT_EQ(seen.size(), 24u);
  for (const auto& [order, count] : seen) {
    EXPECT_EQ((std::set<std::int64_t>(order.begin(), order.end())), (std::set<std::int64_t>{0, 1, 2, 3}));
    EXPECT_NEAR(count, kTrials / 24, 6 * std::sqrt(kTrials / 24.0));
  }
  EXPECT_EQ(permutation(1000, 1, 2), permutation(1000, 1, 2));
  EXPECT_NE(permutation(1000, 1, 2), permutation(1000, 1, 3));
  EXPECT_NE(permutation(1000, 1, 2), permutation(1000, 2, 2));
  EXPECT_TRUE(permutation(0, 1, 2).empty());
  EXPECT_THROW(permutation(-1, 1, 2), Error);
}

TEST(Random, ASequenceIsItsNextIndex) {
  RandomStream first{42, stream_id("test")};
  for (int i = 0; i < 5; ++i) first.normal();
  RandomStream second{42, stream_id("test"), 5};
  EXPECT_EQ(first, second);
  EXPECT_EQ(first.uniform_double(), uniform_double(42, stream_id("test"), 5));
  EXPECT_EQ(first.uniform_integer(10), uniform_integer(42, stream_id("test"), 6, 10));
  EXPECT_EQ(first.uniform_float(), uniform_float(42, stream_id("test"), 7));
  EXPECT_EQ(first.next, 8u);
}

TEST(Random, StreamsOfDifferentPartsDiffer) {
  static_assert(stream_id("dropout", 3, 1) != stream_id("dropout", 1, 3));
  std::set<std::uint64_t> ids;
  for (int step = 0; step < 200; ++step) {
    for (int layer = 0; layer < 50; ++layer) {
      ids.insert(stream_id("dropout", step, layer));
      ids.insert(stream_id("shuffle", step, layer));
      ids.insert(stream_id(step, layer));
    }
  }
  EXPECT_EQ(ids.size(), 3u * 200 * 50);
}

}  // namespace
}  // namespace heed
