#include "heed/kernels/norm.h"

#include "heed/kernels/elementwise.h"
#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

constexpr double kEps = 1e-5;

// One row in double: what is normalised, and the formulas of the header around it.
struct Reference {
  std::vector<double> normal;
  double mean = 0, rstd = 0;
  Reference(const std::vector<double>& x, bool centred) {
    const double n = static_cast<double>(x.size());
    double squares = 0;
    if (centred) {
      for (double v : x) mean += v / n;
    }
    for (double v : x) squares += (v - mean) * (v - mean) / n;
    rstd = 1 / std::sqrt(squares + kEps);
    for (double v : x) normal.push_back((v - mean) * rstd);
  }
  std::vector<double> backward(const std::vector<double>& h, bool centred) const {
    const double n = static_cast<double>(h.size());
    double mean_h = 0, mean_hn = 0;
    for (std::size_t c = 0; c < h.size(); ++c) {
      if (centred) mean_h += h[c] / n;
      mean_hn += h[c] * normal[c] / n;
    }
    std::vector<double> dx;
    for (std::size_t c = 0; c < h.size(); ++c) dx.push_back(rstd * (h[c] - mean_h - normal[c] * mean_hn));
    return dx;
  }
};

template <class T>
struct Case {
  RowShape shape;
  std::size_t size = static_cast<std::size_t>(shape.rows * shape.cols);
  std::vector<T> x = random_values<T>(shape.rows * shape.cols, 1, 2, 9);
  std::vector<T> residual = random_values<T>(shape.rows * shape.cols, 2);
  std::vector<T> dy = random_values<T>(shape.rows * shape.cols, 3);
  std::vector<T> gamma = random_values<T>(shape.cols, 4, 0.5, 2);
  std::vector<T> beta = random_values<T>(shape.cols, 5);
  std::vector<T> y = std::vector<T>(size), dx = y, s = y;
  std::vector<T> mean = std::vector<T>(static_cast<std::size_t>(shape.rows)), rstd = mean;
  std::vector<T> dgamma = std::vector<T>(gamma.size(), T(0.5)), dbeta = dgamma;

  // Runs a norm forward and backward with gamma/beta present or null and compares everything with Reference.
  void check(bool centred, bool parameters) {
    const T* g = parameters ? gamma.data() : nullptr;
    const T* b = parameters ? beta.data() : nullptr;
    if (centred) {
      layer_norm(x.data(), g, b, kEps, y.data(), mean.data(), rstd.data(), shape);
      layer_norm_backward(x.data(), g, dy.data(), mean.data(), rstd.data(), dx.data(), dgamma.data(), dbeta.data(),
                          shape);
    } else {
      rms_norm(x.data(), g, kEps, y.data(), rstd.data(), shape);
      rms_norm_backward(x.data(), g, dy.data(), rstd.data(), dx.data(), dgamma.data(), shape);
    }
    std::vector<double> want_gamma(gamma.size(), 0.5), want_beta(gamma.size(), 0.5);
    const auto cols = static_cast<std::size_t>(shape.cols);
    for (std::size_t r = 0; r < static_cast<std::size_t>(shape.rows); ++r) {
      const Reference reference(
          {x.begin() + static_cast<std::ptrdiff_t>(r * cols), x.begin() + static_cast<std::ptrdiff_t>((r + 1) * cols)},
          centred);
      std::vector<double> h(cols);
      for (std::size_t c = 0; c < cols; ++c) {
        h[c] = dy[r * cols + c] * (parameters ? double(gamma[c]) : 1);
        want_gamma[c] += dy[r * cols + c] * reference.normal[c];
        want_beta[c] += dy[r * cols + c];
      }
      const auto want_dx = reference.backward(h, centred);
      const double scale = std::max(1.0, reference.rstd);  // one column: rstd = 1 / sqrt(eps)
      for (std::size_t c = 0; c < cols; ++c) {
        double want = reference.normal[c];
        if (parameters) want = want * gamma[c] + (centred ? double(beta[c]) : 0);
        ASSERT_NEAR(y[r * cols + c], want, tolerance<T>(5e-6, 1e-13)) << "row " << r << " column " << c;
        ASSERT_NEAR(dx[r * cols + c], want_dx[c], scale * tolerance<T>(5e-6, 1e-13));
      }
    }
    for (std::size_t c = 0; c < cols; ++c) {
      ASSERT_NEAR(dgamma[c], want_gamma[c], tolerance<T>(1e-4, 1e-12));
      if (centred) {
        ASSERT_NEAR(dbeta[c], want_beta[c], tolerance<T>(1e-4, 1e-12));
      }
    }
  }
};

template <class T>
using NormTyped = KernelTest<T>;
TYPED_TEST_SUITE(NormTyped, Floats);

TYPED_TEST(NormTyped, ForwardAndBackwardMatchTheFormulas) {
  for_each_target([&] {
    for (std::int64_t cols : kSizes) {
      for (std::int64_t rows : {0, 1, 70}) {
        for (bool centred : {false, true}) {
          for (bool parameters : {false, true}) {
            SCOPED_TRACE(::testing::Message() << rows << " x " << cols << " centred " << centred);
            Case<TypeParam>{{rows, cols}}.check(centred, parameters);
          }
        }
      }
    }
  });
}

TYPED_TEST(NormTyped, ALargeMeanDoesNotSpoilTheVariance) {
  using T = TypeParam;
  for_each_target([&] {
    std::vector<T> x(1024), y(x);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = T(10000) + (i % 2 ? T(1) : T(-1));
    layer_norm<T>(x.data(), nullptr, nullptr, 0, y.data(), nullptr, nullptr, {1, 1024});
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(y[i], i % 2 ? 1 : -1, 1e-6);
  });
}

TYPED_TEST(NormTyped, FusedResidualHasTheBitsOfAddThenNorm) {
  using T = TypeParam;
  for_each_target([&] {
    for (std::int64_t cols : kSizes) {
      Case<T> c{{5, cols}};
      std::vector<T> sum(c.size), y(c.size), mean(5), rstd(5);
      binary(Binary::add, c.x.data(), c.residual.data(), sum.data(), 5 * cols);
      layer_norm(sum.data(), c.gamma.data(), c.beta.data(), kEps, y.data(), mean.data(), rstd.data(), c.shape);
      add_layer_norm(c.x.data(), c.residual.data(), c.gamma.data(), c.beta.data(), kEps, c.s.data(), c.y.data(),
                     c.mean.data(), c.rstd.data(), c.shape);
      EXPECT_TRUE(same_bits(c.s, sum));
      EXPECT_TRUE(same_bits(c.y, y));
      EXPECT_TRUE(same_bits(c.mean, mean));
      EXPECT_TRUE(same_bits(c.rstd, rstd));
      rms_norm(sum.data(), c.gamma.data(), kEps, y.data(), rstd.data(), c.shape);
      add_rms_norm(c.x.data(), c.residual.data(), c.gamma.data(), kEps, c.s.data(), c.y.data(), c.rstd.data(), c.shape);
      EXPECT_TRUE(same_bits(c.s, sum));
      EXPECT_TRUE(same_bits(c.y, y));
      EXPECT_TRUE(same_bits(c.rstd, rstd));
    }
  });
}

TYPED_TEST(NormTyped, SameBitsAloneInABatchInPlaceAndForAllThreads) {
  using T = TypeParam;
  for_each_target([&] {
    for (std::int64_t cols : {9, 768}) {
      const Case<T> c{{200, cols}};
      const auto run = [&](std::int64_t begin, std::int64_t rows) {
        const std::int64_t row = begin * cols;
        std::vector<T> y(c.x.begin() + row, c.x.begin() + row + rows * cols), dx(y.size());
        std::vector<T> mean(static_cast<std::size_t>(rows)), rstd(mean), dgamma(c.gamma.size()), dbeta(c.gamma.size());
        layer_norm(y.data(), c.gamma.data(), c.beta.data(), kEps, y.data(), mean.data(), rstd.data(), {rows, cols});
        layer_norm_backward(c.x.data() + row, c.gamma.data(), c.dy.data() + row, mean.data(), rstd.data(), dx.data(),
                            dgamma.data(), dbeta.data(), {rows, cols});
        for (const auto& more : {dx, mean, rstd, dgamma, dbeta}) y.insert(y.end(), more.begin(), more.end());
        rms_norm(c.x.data() + row, c.gamma.data(), kEps, dx.data(), rstd.data(), {rows, cols});
        y.insert(y.end(), dx.begin(), dx.end());
        return y;
      };
      expect_same_bits_for_all_thread_counts([&] { return run(0, 200); });
      const auto batch = run(0, 200), alone = run(123, 1);
      for (std::int64_t i = 0; i < cols; ++i) {
        ASSERT_EQ(batch[static_cast<std::size_t>(123 * cols + i)], alone[static_cast<std::size_t>(i)]);
        ASSERT_EQ(batch[static_cast<std::size_t>((200 + 123) * cols + i)], alone[static_cast<std::size_t>(cols + i)]);
      }
    }
  });
}

}  // namespace
}  // namespace heed::kernels
