#include "heed/kernels/dropout.h"

#include "heed/base/random.h"
#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

// The scalar generator, which tests/base checks against the published vectors.
std::uint32_t word(std::uint64_t i, DropoutKey key) {
  return philox(key.seed, key.stream, i / 4)[i % 4];
}

constexpr DropoutKey kKey{0x123456789ABCDEF0ull, 0xFEDCBA9876543210ull};

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
