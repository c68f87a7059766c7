#include "heed/kernels/elementwise.h"

#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

constexpr Unary kUnary[] = {Unary::negate, Unary::sqrt, Unary::exp, Unary::log, Unary::erf};
constexpr Binary kBinary[] = {Binary::add, Binary::sub, Binary::mul, Binary::div};

double exact(Unary op, double x) {
  switch (op) {
    case Unary::negate: return -x;
    case Unary::sqrt: return std::sqrt(x);
    case Unary::exp: return std::exp(x);
    case Unary::log: return std::log(x);
    case Unary::erf: return std::erf(x);
  }
  return 0;
}

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

TEST(Elementwise, FloatFunctionsAreWithinAFewUlpOverTheWholeRange) {
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < (1ull << 32); bits += 1021) {
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (float dense = -104; dense < 89; dense += 1e-4f) x.push_back(dense);  // where exp is neither 0 nor inf
  std::vector<float> y(x.size());
  for_each_target([&] {
    for (Unary op : kUnary) {
      unary(op, x.data(), y.data(), static_cast<std::int64_t>(x.size()));
      double worst = 0;
      float worst_x = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = ulp_error(y[i], exact(op, x[i]));
        if (error > worst) worst = error, worst_x = x[i];
      }
      EXPECT_LE(worst, op == Unary::erf ? 2.6 : 1.5) << "op " << static_cast<int>(op) << " at " << worst_x;
    }
  });
}

TEST(Elementwise, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {infinity, -infinity, 0.0f, -0.0f, -1.0f};
  std::vector<float> y(x.size());
  for_each_target([&] {
    unary(Unary::exp, x.data(), y.data(), 5);
    EXPECT_EQ(y, (std::vector<float>{infinity, 0, 1, 1, 0.36787944f}));
    unary(Unary::log, x.data(), y.data(), 5);
    EXPECT_EQ(y[0], infinity);
    EXPECT_TRUE(std::isnan(y[1]));
    EXPECT_EQ(y[2], -infinity);
    EXPECT_EQ(y[3], -infinity);
    EXPECT_TRUE(std::isnan(y[4]));
    const float not_a_number = std::numeric_limits<float>::quiet_NaN();
    clamp(&not_a_number, -1.0f, 1.0f, y.data(), 1);
    EXPECT_TRUE(std::isnan(y[0]));
  });
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
      for (Unary op : kUnary) {
        z = y;
        unary(op, z.data(), z.data(), n);
        EXPECT_TRUE(all_near(
            z, [&](auto i) { return exact(op, y[static_cast<std::size_t>(i)]); }, tolerance<T>(3e-7, 1e-15)));
      }
      scale(x.data(), T(1.5), T(-0.25), z.data(), n);
      EXPECT_TRUE(all_near(
          z, [&](auto i) { return 1.5 * x[static_cast<std::size_t>(i)] - 0.25; }, tolerance<T>(3e-7, 1e-15)));
      z = y;
      axpy(T(-0.7), x.data(), z.data(), n);
      EXPECT_TRUE(all_near(
          z, [&](auto i) { return y[static_cast<std::size_t>(i)] + double(T(-0.7)) * x[static_cast<std::size_t>(i)]; },
          tolerance<T>(3e-7, 1e-15)));
      fill(T(3), z.data(), n);
      EXPECT_EQ(z, std::vector<T>(count, T(3)));
      clamp(x.data(), T(-1), T(2), z.data(), n);
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(z[i], std::clamp(x[i], T(-1), T(2)));
    }
  });
}

TYPED_TEST(ElementwiseTyped, BroadcastsOverRowsAndColumns) {
  using T = TypeParam;
  for_each_target([&] {
    for (std::int64_t rows : {0, 1, 5}) {
      for (std::int64_t cols : kSizes) {
        const auto x = random_values<T>(rows * cols, 1), v = random_values<T>(cols, 2, 0.5, 2);
        const auto w = random_values<T>(rows, 3, 0.5, 2);
        for (Binary op : kBinary) {
          std::vector<T> by_row(x.size()), by_column(x), want_row(x), want_column(x);
          binary_row(op, x.data(), v.data(), by_row.data(), rows, cols);
          binary_column(op, by_column.data(), w.data(), by_column.data(), rows, cols);
          for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t c = 0; c < cols; ++c) {
              const auto at = static_cast<std::size_t>(r * cols + c);
              want_row[at] = exact(op, x[at], v[static_cast<std::size_t>(c)]);
              want_column[at] = exact(op, x[at], w[static_cast<std::size_t>(r)]);
            }
          }
          EXPECT_TRUE(same_bits(by_row, want_row));
          EXPECT_TRUE(same_bits(by_column, want_column));
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
    for (Unary op : kUnary) {
      const auto compute = [&](std::int64_t begin, std::int64_t count) {
        std::vector<T> y(static_cast<std::size_t>(count));
        unary(op, x.data() + begin, y.data(), count);
        return y;
      };
      expect_same_bits_at_all_positions(compute);
      expect_same_bits_for_all_thread_counts([&] { return compute(0, n); });
    }
    const auto affine = [&](std::int64_t begin, std::int64_t count) {
      std::vector<T> y(static_cast<std::size_t>(count), T(0.3));
      axpy(T(1.1), x.data() + begin, y.data(), count);
      scale(y.data(), T(0.9), T(0.1), y.data(), count);
      return y;
    };
    expect_same_bits_at_all_positions(affine);
    expect_same_bits_for_all_thread_counts([&] { return affine(0, n); });
  });
}

}  // namespace
}  // namespace heed::kernels
