#include "heed/kernels/dropout.h"

#include <array>
#include <fstream>
#include <sstream>

#include "kernels/testing.h"
#include "shared_data.h"

namespace heed::kernels {
namespace {

using namespace testing;

using Words = std::array<std::uint32_t, 4>;

// Philox4x32-10, one block, written from the paper's definition.
Words philox(Words counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * counter[0], b = 0xCD9E8D57ull * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key1, static_cast<std::uint32_t>(a)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

std::uint32_t word(std::uint64_t i, DropoutKey key) {
  const std::uint64_t block = i / 4;
  return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                 static_cast<std::uint32_t>(key.stream), static_cast<std::uint32_t>(key.stream >> 32)},
                static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32))[i % 4];
}

constexpr DropoutKey kKey{0x123456789ABCDEF0ull, 0xFEDCBA9876543210ull};

TEST(Dropout, ScalarPhiloxMatchesThePublishedVectors) {
  const auto path = shared_path("suites/random123/kat_vectors");
  if (!path) GTEST_SKIP() << "suites/random123/kat_vectors is not in the shared data";
  std::ifstream file(*path);
  int checked = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name;
    int rounds;
    if (!(fields >> name >> rounds) || name != "philox4x32" || rounds != 10) continue;
    std::array<std::uint32_t, 10> v;
    for (auto& value : v) ASSERT_TRUE(fields >> std::hex >> value) << line;
    EXPECT_EQ(philox({v[0], v[1], v[2], v[3]}, v[4], v[5]), (Words{v[6], v[7], v[8], v[9]})) << line;
    ++checked;
  }
  EXPECT_EQ(checked, 3);
}

template <class T>
using DropoutTyped = KernelTest<T>;
TYPED_TEST_SUITE(DropoutTyped, Floats);

TYPED_TEST(DropoutTyped, MatchesTheScalarGeneratorElementByElement) {
  using T = TypeParam;
  for_each_target([&] {
    for (double p : {0.0, 0.1, 0.5, 0.999, 1.0}) {
      for (std::int64_t n : kSizes) {
        const auto x = random_values<T>(n, 1);
        std::vector<T> y(x);
        dropout(y.data(), y.data(), n, p, kKey);  // in place
        for (std::size_t i = 0; i < x.size(); ++i) {
          const bool kept = p < 1 && word(i, kKey) >= p * 4294967296.0;
          ASSERT_EQ(y[i], kept ? x[i] * static_cast<T>(1 / (1 - p)) : 0) << "element " << i << ", p " << p;
        }
      }
    }
  });
}

TYPED_TEST(DropoutTyped, SameBitsForAllThreadsAndTheRightShare) {
  using T = TypeParam;
  const std::int64_t n = 200001;
  const std::vector<T> x(static_cast<std::size_t>(n), T(1));
  for_each_target([&] {
    const auto compute = [&] {
      std::vector<T> y(x.size());
      dropout(x.data(), y.data(), n, 0.3, kKey);
      return y;
    };
    expect_same_bits_for_all_thread_counts(compute);
    const auto y = compute();
    const auto zeros = static_cast<double>(std::count(y.begin(), y.end(), T(0)));
    EXPECT_NEAR(zeros / static_cast<double>(n), 0.3, 0.005);  // five standard deviations
    std::vector<T> other(x.size());
    dropout(x.data(), other.data(), n, 0.3, {kKey.seed, kKey.stream + 1});
    EXPECT_NE(y, other);
  });
}

TEST(Dropout, DroppedInfinitiesAreZero) {
  const std::vector<float> x(64, std::numeric_limits<float>::infinity());
  std::vector<float> y(64);
  dropout(x.data(), y.data(), 64, 0.5, kKey);
  for (float v : y) EXPECT_TRUE(v == 0 || std::isinf(v));
}

}  // namespace
}  // namespace heed::kernels
