#include "heed/kernels/softmax.h"

#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

// Plain definitions in double on one row.
std::vector<double> log_softmax_row(const std::vector<double>& x) {
  double maximum = -INFINITY, sum = 0;
  for (double v : x) maximum = std::max(maximum, v);
  for (double v : x) sum += std::exp(v - maximum);
  std::vector<double> y;
  for (double v : x) y.push_back(v - maximum - std::log(sum));
  return y;
}

template <class T>
struct Matrix {
  std::int64_t rows, cols, stride;
  std::vector<T> values = random_values<T>(rows * stride, 7, -9, 9);
  std::vector<double> row(std::int64_t r) const {
    return {values.begin() + r * stride, values.begin() + r * stride + cols};
  }
};

template <class T>
using SoftmaxTyped = KernelTest<T>;
TYPED_TEST_SUITE(SoftmaxTyped, Floats);

TYPED_TEST(SoftmaxTyped, ForwardMatchesTheDefinitionAndLeavesTheGapsAlone) {
  using T = TypeParam;
  const double near = tolerance<T>(4e-7, 1e-15);
  for_each_target([&] {
    for (std::int64_t cols : kSizes) {
      for (std::int64_t gap : {0, 5}) {
        const Matrix<T> x{3, cols, cols + gap};
        std::vector<T> p = x.values, l = x.values, lse(3);
        softmax(p.data(), p.data(), 3, cols, x.stride);  // in place
        log_softmax(l.data(), l.data(), 3, cols, x.stride);
        log_sum_exp(x.values.data(), lse.data(), 3, cols, x.stride);
        for (std::int64_t r = 0; r < 3; ++r) {
          const auto row = x.row(r);
          const auto want = log_softmax_row(row);
          for (std::int64_t c = 0; c < x.stride; ++c) {
            const auto at = static_cast<std::size_t>(r * x.stride + c);
            if (c >= cols) {
              EXPECT_EQ(p[at], x.values[at]);
              EXPECT_EQ(l[at], x.values[at]);
            } else {
              const double exact = want[static_cast<std::size_t>(c)];
              ASSERT_NEAR(p[at], std::exp(exact), near * std::exp(exact) * 8);
              ASSERT_NEAR(l[at], exact, near * std::max(1.0, std::abs(exact)));
            }
          }
          if (cols > 0) {
            EXPECT_NEAR(lse[static_cast<std::size_t>(r)], row[0] - want[0], near * 12);
          }
        }
      }
    }
  });
}

TYPED_TEST(SoftmaxTyped, BackwardMatchesTheJacobian) {
  using T = TypeParam;
  for_each_target([&] {
    for (std::int64_t cols : kSizes) {
      const Matrix<T> x{2, cols, cols};
      const auto dy = random_values<T>(2 * cols, 8);
      std::vector<T> p(x.values.size()), l(p), dp(p), dl(dy);
      softmax(x.values.data(), p.data(), 2, cols, cols);
      log_softmax(x.values.data(), l.data(), 2, cols, cols);
      softmax_backward(p.data(), dy.data(), dp.data(), 2, cols, cols);
      log_softmax_backward(l.data(), dl.data(), dl.data(), 2, cols, cols);
      for (std::int64_t r = 0; r < 2; ++r) {
        const auto want = log_softmax_row(x.row(r));
        double inner = 0, total = 0;
        for (std::int64_t c = 0; c < cols; ++c) {
          const double g = dy[static_cast<std::size_t>(r * cols + c)];
          inner += std::exp(want[static_cast<std::size_t>(c)]) * g;
          total += g;
        }
        for (std::int64_t c = 0; c < cols; ++c) {
          const auto at = static_cast<std::size_t>(r * cols + c);
          const double probability = std::exp(want[static_cast<std::size_t>(c)]);
          ASSERT_NEAR(dp[at], probability * (dy[at] - inner), tolerance<T>(2e-6, 1e-14));
          ASSERT_NEAR(dl[at], dy[at] - probability * total,
                      tolerance<T>(1e-5 * (1 + std::abs(total)), 1e-13 * (1 + std::abs(total))));
        }
      }
    }
  });
}

TYPED_TEST(SoftmaxTyped, InfinitiesGiveNoNaN) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  for_each_target([&] {
    for (std::int64_t cols : {1, 3, 8, 9, 20}) {
      const auto count = static_cast<std::size_t>(cols);
      std::vector<T> x(count, -inf), p(count), l(count), dx(count);
      T lse = 0;
      softmax(x.data(), p.data(), 1, cols, cols);
      log_softmax(x.data(), l.data(), 1, cols, cols);
      log_sum_exp(x.data(), &lse, 1, cols, cols);
      EXPECT_EQ(p, std::vector<T>(count, 0));
      EXPECT_EQ(l, x);
      EXPECT_EQ(lse, -inf);
      const std::vector<T> dy(count, 1);
      softmax_backward(p.data(), dy.data(), dx.data(), 1, cols, cols);
      EXPECT_EQ(dx, std::vector<T>(count, 0));
      log_softmax_backward(l.data(), dy.data(), dx.data(), 1, cols, cols);
      EXPECT_EQ(dx, dy);

      x.assign(count, T(2));
      x.front() = x.back() = inf;
      const double k = cols == 1 ? 1 : 2;
      softmax(x.data(), p.data(), 1, cols, cols);
      log_softmax(x.data(), l.data(), 1, cols, cols);
      log_sum_exp(x.data(), &lse, 1, cols, cols);
      EXPECT_EQ(lse, inf);
      for (std::size_t c = 0; c < count; ++c) {
        const bool top = x[c] == inf;
        EXPECT_EQ(p[c], static_cast<T>(top ? 1 / k : 0));
        EXPECT_EQ(l[c], top ? static_cast<T>(-std::log(k)) : -inf);
      }
      x.back() = std::numeric_limits<T>::quiet_NaN();
      softmax(x.data(), p.data(), 1, cols, cols);
      for (T v : p) EXPECT_TRUE(std::isnan(v));
    }
    T lse = 0;
    log_sum_exp<T>(nullptr, &lse, 1, 0, 0);
    EXPECT_EQ(lse, -inf);
  });
}

TYPED_TEST(SoftmaxTyped, HugeLogitsDoNotOverflow) {
  using T = TypeParam;
  const std::vector<T> x = {T(1e30), T(1e30), T(-1e30)};
  for_each_target([&] {
    std::vector<T> p(3), l(3);
    softmax(x.data(), p.data(), 1, 3, 3);
    EXPECT_EQ(p, (std::vector<T>{T(0.5), T(0.5), 0}));
    log_softmax(x.data(), l.data(), 1, 3, 3);
    EXPECT_EQ(l[0], static_cast<T>(-std::log(2.0)));
  });
}

TYPED_TEST(SoftmaxTyped, ARowHasTheSameBitsAloneInABatchAndForAllThreads) {
  using T = TypeParam;
  for_each_target([&] {
    for (std::int64_t cols : {7, 64, 1000, 3073}) {
      const Matrix<T> x{40, cols, cols};
      const auto dy = random_values<T>(40 * cols, 9);
      const auto all = [&](std::int64_t begin, std::int64_t rows) {
        const T* in = x.values.data() + begin * cols;
        const auto size = static_cast<std::size_t>(rows * cols);
        std::vector<T> p(size), l(size), dp(size), dl(size), lse(static_cast<std::size_t>(rows));
        softmax(in, p.data(), rows, cols, cols);
        log_softmax(in, l.data(), rows, cols, cols);
        log_sum_exp(in, lse.data(), rows, cols, cols);
        softmax_backward(p.data(), dy.data() + begin * cols, dp.data(), rows, cols, cols);
        log_softmax_backward(l.data(), dy.data() + begin * cols, dl.data(), rows, cols, cols);
        for (const auto& more : {l, lse, dp, dl}) p.insert(p.end(), more.begin(), more.end());
        return p;
      };
      expect_same_bits_for_all_thread_counts([&] { return all(0, 40); });
      const auto batch = all(0, 40);
      const auto alone = all(17, 1);
      for (std::int64_t c = 0; c < cols; ++c) {
        ASSERT_EQ(batch[static_cast<std::size_t>(17 * cols + c)], alone[static_cast<std::size_t>(c)]);
        ASSERT_EQ(batch[static_cast<std::size_t>((40 + 17) * cols + c)], alone[static_cast<std::size_t>(cols + c)]);
      }
    }
  });
}

}  // namespace
}  // namespace heed::kernels
