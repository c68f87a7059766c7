#include "heed/kernels/elementwise.h"

#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

constexpr Binary kBinary[] = {Binary::add, Binary::sub, Binary::mul, Binary::div};

template <class T>
T exact(Binary op, T x, T y) {
  switch (op) {
    case Binary::add: return x + y;
    case Binary::sub: return x - y;
    case Binary::mul: return x * y;
    case Binary::div: return x / y;
  }
  return 0;
}

template <class T>
using ElementwiseTyped = KernelTest<T>;
TYPED_TEST_SUITE(ElementwiseTyped, Floats);

TYPED_TEST(ElementwiseTyped, FlatFunctionsMatchTheScalarOperators) {
  using T = TypeParam;
  for_each_target([&] {
    for (std::int64_t n : kSizes) {
      const auto count = static_cast<std::size_t>(n);
      const auto x = random_values<T>(n, 1), y = random_values<T>(n, 2, 0.5, 2);
      std::vector<T> z(count), want(count);
      for (Binary op : kBinary) {
        for (std::size_t i = 0; i < count; ++i) want[i] = exact(op, x[i], y[i]);
        z = x;
        binary(op, z.data(), y.data(), z.data(), n);  // in place
        EXPECT_TRUE(same_bits(z, want));
      }
      scale(x.data(), T(1.5), T(-0.25), z.data(), n);
      EXPECT_TRUE(all_near(
          z, [&](auto i) { return 1.5 * x[static_cast<std::size_t>(i)] - 0.25; }, tolerance<T>(3e-7, 1e-15)));
    }
  });
}

TYPED_TEST(ElementwiseTyped, BroadcastsOverRows) {
  using T = TypeParam;
  for_each_target([&] {
    for (std::int64_t rows : {0, 1, 5}) {
      for (std::int64_t cols : kSizes) {
        const auto x = random_values<T>(rows * cols, 1), v = random_values<T>(cols, 2, 0.5, 2);
        for (Binary op : kBinary) {
          std::vector<T> found(x.size()), want(x);
          binary_row(op, x.data(), v.data(), found.data(), rows, cols);
          for (std::size_t i = 0; i < x.size(); ++i) want[i] = exact(op, x[i], v[i % v.size()]);
          EXPECT_TRUE(same_bits(found, want));
        }
      }
    }
  });
}

TYPED_TEST(ElementwiseTyped, SameBitsForAllThreadsAndPositions) {
  using T = TypeParam;
  const std::int64_t n = 200003;
  const auto x = random_values<T>(n, 3, 0.1, 8);
  for_each_target([&] {
    const auto compute = [&](std::int64_t begin, std::int64_t count) {
      std::vector<T> y(static_cast<std::size_t>(count), T(0.3));
      binary(Binary::div, x.data() + begin, y.data(), y.data(), count);
      scale(y.data(), T(0.9), T(0.1), y.data(), count);
      return y;
    };
    expect_same_bits_at_all_positions(compute);
    expect_same_bits_for_all_thread_counts([&] { return compute(0, n); });
  });
}

}  // namespace
}  // namespace heed::kernels
