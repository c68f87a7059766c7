#include "heed/kernels/activation.h"

#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

constexpr Activation kAll[] = {Activation::none, Activation::relu, Activation::gelu,   Activation::gelu_tanh,
                               Activation::silu, Activation::tanh, Activation::sigmoid};

// x P(X < x) and friends in double, each in a form without cancellation.
double gelu_tanh_argument(double x) {
  return 2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
}
double sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
double exact(Activation a, double x) {
  switch (a) {
    case Activation::none: return x;
    case Activation::relu: return x > 0 ? x : 0;
    case Activation::gelu: return std::isinf(x) ? std::max(x, 0.0) : 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh: return std::isinf(x) ? std::max(x, 0.0) : x * sigmoid(gelu_tanh_argument(x));
    case Activation::silu: return std::isinf(x) ? std::max(x, 0.0) : x * sigmoid(x);
    case Activation::tanh: return std::tanh(x);
    case Activation::sigmoid: return sigmoid(x);
  }
  return 0;
}
double exact_derivative(Activation a, double x) {
  switch (a) {
    case Activation::none: return 1;
    case Activation::relu: return x > 0 ? 1 : 0;
    case Activation::gelu: return 0.5 * std::erfc(-x / std::sqrt(2.0)) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
    case Activation::gelu_tanh: {
      const double v = gelu_tanh_argument(x);
      return sigmoid(v) + x * sigmoid(v) * sigmoid(-v) * 2 * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
    }
    case Activation::silu: return sigmoid(x) * (1 + x * sigmoid(-x));
    case Activation::tanh: return 1 / (std::cosh(x) * std::cosh(x));
    case Activation::sigmoid: return sigmoid(x) * sigmoid(-x);
  }
  return 0;
}

template <class T>
std::vector<T> run(Activation a, const std::vector<T>& x) {
  std::vector<T> y(x.size());
  activate(a, x.data(), y.data(), static_cast<std::int64_t>(x.size()));
  return y;
}

// Every 1021st float: about four million, all exponents, both signs.
std::vector<float> sweep() {
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < (1ull << 32); bits += 1021) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(value)) x.push_back(value);
  }
  return x;
}

// The bound in ulp. gelu_tanh amplifies the rounding of its argument v by |v| in the lower tail.
double bound(Activation a, double x) {
  switch (a) {
    case Activation::none:
    case Activation::relu: return 0;
    case Activation::gelu: return x < -2 ? 6 : x < 0 ? 4.5 : 3.5;
    case Activation::gelu_tanh: return x < 0 ? 3 + 3 * std::min(110.0, std::abs(gelu_tanh_argument(x))) : 3;
    default: return 4;
  }
}

TEST(Activation, FloatIsWithinAFewUlpOverTheWholeRange) {
  const std::vector<float> x = sweep();
  for_each_target([&] {
    for (Activation a : kAll) {
      SCOPED_TRACE(to_string(a));
      const std::vector<float> y = run(a, x);
      double worst = 0;
      float worst_x = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double want = exact(a, x[i]);
        // Below this e^-|x| itself is subnormal, and half a unit of it is multiplied by x.
        const double slack = std::abs(want) < 1e-35 ? 60 : 0;
        const double excess = ulp_error(y[i], want) - bound(a, x[i]) - slack;
        if (excess > worst) worst = excess, worst_x = x[i];
      }
      EXPECT_EQ(worst, 0) << "ulp beyond the bound at " << worst_x;
    }
  });
}

TEST(Activation, DoubleIsNearlyExact) {
  const std::vector<double> x = random_values<double>(100000, 1, -6, 9);
  for_each_target([&] {
    for (Activation a : kAll) {
      SCOPED_TRACE(to_string(a));
      const std::vector<double> y = run(a, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double want = exact(a, x[i]);
        // gelu_tanh: rounding of the argument, as above.
        ASSERT_LE(std::abs(y[i] - want), (a == Activation::gelu_tanh ? 1e-13 : 1e-14) * std::abs(want)) << x[i];
      }
    }
  });
}

TEST(Activation, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  for_each_target([&] {
    for (Activation a : kAll) {
      SCOPED_TRACE(to_string(a));
      const auto y = run<float>(a, {infinity, -infinity, not_a_number, 0.0f, 3e38f, -3e38f});
      const bool bounded = a == Activation::tanh || a == Activation::sigmoid;
      EXPECT_EQ(y[0], bounded ? 1 : infinity);
      EXPECT_EQ(y[1], a == Activation::none ? -infinity : a == Activation::tanh ? -1 : 0);
      EXPECT_TRUE(std::isnan(y[2]));
      EXPECT_EQ(y[3], a == Activation::sigmoid ? 0.5f : 0);
      EXPECT_EQ(y[4], bounded ? 1 : 3e38f);
      EXPECT_EQ(y[5], a == Activation::none ? -3e38f : a == Activation::tanh ? -1 : 0);

      const std::vector<float> x = {infinity, -infinity, 3e38f, -3e38f};
      std::vector<float> dx(4);
      activate_backward(a, x.data(), std::vector<float>(4, 1).data(), dx.data(), 4);
      EXPECT_EQ(dx[0], bounded ? 0 : 1);
      EXPECT_EQ(dx[1], a == Activation::none ? 1 : 0);
      EXPECT_EQ(dx[2], bounded ? 0 : 1);
      EXPECT_EQ(dx[3], a == Activation::none ? 1 : 0);
    }
  });
}

template <class T>
using ActivationTyped = KernelTest<T>;
TYPED_TEST_SUITE(ActivationTyped, Floats);

TYPED_TEST(ActivationTyped, ForwardAndBackwardMatchTheFormulasAtAllSizes) {
  using T = TypeParam;
  for_each_target([&] {
    for (Activation a : kAll) {
      for (std::int64_t n : kSizes) {
        const auto x = random_values<T>(n, 1, -6, 6), dy = random_values<T>(n, 2);
        std::vector<T> y = x, dx = dy;
        activate(a, y.data(), y.data(), n);  // in place
        activate_backward(a, x.data(), dx.data(), dx.data(), n);
        const auto at = [](const std::vector<T>& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; };
        EXPECT_TRUE(all_near(
            y, [&](auto i) { return exact(a, at(x, i)); }, tolerance<T>(1e-6, 1e-14)));
        EXPECT_TRUE(all_near(
            dx, [&](auto i) { return at(dy, i) * exact_derivative(a, at(x, i)); }, tolerance<T>(1e-6, 1e-13)));
      }
    }
  });
}

TYPED_TEST(ActivationTyped, SameBitsForAllThreadsAndPositions) {
  using T = TypeParam;
  const std::int64_t n = 50001;
  const auto x = random_values<T>(n, 3, -8, 8), dy = random_values<T>(n, 4);
  for_each_target([&] {
    for (Activation a : kAll) {
      const auto forward = [&](std::int64_t begin, std::int64_t count) {
        std::vector<T> y(static_cast<std::size_t>(count));
        activate(a, x.data() + begin, y.data(), count);
        return y;
      };
      const auto backward = [&](std::int64_t begin, std::int64_t count) {
        std::vector<T> dx(static_cast<std::size_t>(count));
        activate_backward(a, x.data() + begin, dy.data() + begin, dx.data(), count);
        return dx;
      };
      expect_same_bits_at_all_positions(forward);
      expect_same_bits_at_all_positions(backward);
      expect_same_bits_for_all_thread_counts([&] { return forward(0, n); });
      expect_same_bits_for_all_thread_counts([&] { return backward(0, n); });
    }
  });
}

}  // namespace
}  // namespace heed::kernels
