// Products against a naive loop: bit for bit where the instruction set has a fused multiply-add, because the summation
// rule of gemm.h leaves no freedom.
#include "heed/kernels/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/target.h"

namespace heed::kernels {
namespace {

enum class Layout { NN, NT, TN };

bool fuses() {
  const std::string name = target_name();
  return name.starts_with("AVX") || name.starts_with("NEON");
}

// A matrix at the very end of its own allocation: AddressSanitizer sees any read past it.
template <class T>
struct Matrix {
  Matrix(std::int64_t rows_, std::int64_t columns, std::int64_t ld_)
      : rows(rows_), ld(ld_), data(static_cast<std::size_t>(rows > 0 ? (rows - 1) * ld + columns : 0)) {}
  static Matrix random(std::int64_t rows, std::int64_t columns, std::int64_t ld, unsigned seed) {
    Matrix m(rows, columns, ld);
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (T& x : m.data) x = static_cast<T>(uniform(generator));
    return m;
  }
  T& at(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i * ld + j)]; }
  const T& at(std::int64_t i, std::int64_t j) const { return data[static_cast<std::size_t>(i * ld + j)]; }
  std::int64_t rows, ld;
  std::vector<T> data;
};

template <class T>
struct Problem {
  Problem(std::int64_t m, std::int64_t n, std::int64_t k, Layout layout, std::int64_t pad = 0)
      : M(m),
        N(n),
        K(k),
        transposed_a(layout == Layout::TN),
        transposed_b(layout == Layout::NT),
        a(transposed_a ? Matrix<T>::random(K, M, M + pad, 1) : Matrix<T>::random(M, K, K + pad, 1)),
        b(transposed_b ? Matrix<T>::random(N, K, K + pad, 2) : Matrix<T>::random(K, N, N + pad, 2)),
        c(Matrix<T>::random(M, N, N + pad, 3)) {}

  // The summation rule, literally.
  T sum(std::int64_t m, std::int64_t n) const {
    T s = 0;
    for (std::int64_t k = 0; k < K; ++k) {
      s = std::fma(transposed_a ? a.at(k, m) : a.at(m, k), transposed_b ? b.at(n, k) : b.at(k, n), s);
    }
    return s;
  }

  Matrix<T> run(const Epilogue<T>& epilogue = {}) const {
    Matrix<T> result = c;
    gemm(M, N, K, a.data.data(), a.ld, transposed_a, b.data.data(), b.ld, transposed_b, result.data.data(), result.ld,
         epilogue);
    return result;
  }

  void expect_sums(const Matrix<T>& result) const {
    const T tolerance = fuses() ? T{0} : std::numeric_limits<T>::epsilon() * static_cast<T>(4 + K);
    int wrong = 0;
    for (std::int64_t m = 0; m < M; ++m) {
      for (std::int64_t n = 0; n < result.ld && m * result.ld + n < std::ssize(result.data); ++n) {
        // Columns past N are not ours.
        const T expected = n < N ? sum(m, n) : c.at(m, n);
        if (!(std::abs(result.at(m, n) - expected) <= (n < N ? tolerance : T{0}))) ++wrong;
      }
    }
    EXPECT_EQ(wrong, 0) << M << "x" << N << "x" << K << " transposed_a " << transposed_a << " transposed_b "
                        << transposed_b << " on " << target_name();
  }

  std::int64_t M, N, K;
  bool transposed_a, transposed_b;
  Matrix<T> a, b, c;
};

template <class T>
class Gemm : public testing::Test {
 protected:
  void TearDown() override { set_target(""); }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, Types);

TYPED_TEST(Gemm, FollowsTheSummationRuleInEveryShapeAndLayout) {
  for (const auto& target : available_targets()) {
    set_target(target);
    for (const Layout layout : {Layout::NN, Layout::NT, Layout::TN}) {
      for (std::int64_t M = 1; M <= 20; ++M) {
        for (const std::int64_t N : {1, 5, 8, 16, 17, 31, 40, 67, 131}) {
          const Problem<TypeParam> p(M, N, (M * 7 + N) % 37, layout, (M + N) % 3);
          p.expect_sums(p.run());
        }
      }
    }
  }
}

TYPED_TEST(Gemm, ContinuesTheChainsOverBlocksOfKAndOfRows) {
  for (const auto& target : available_targets()) {
    set_target(target);
    for (const Layout layout : {Layout::NN, Layout::NT, Layout::TN}) {
      for (const auto& [M, N, K] :
           {std::array<std::int64_t, 3>{13, 35, 1201}, {1, 200, 1000}, {2, 100, 777}, {450, 21, 801}, {200, 50, 3}}) {
        const Problem<TypeParam> p(M, N, K, layout, 1);
        p.expect_sums(p.run());
      }
    }
  }
}

TYPED_TEST(Gemm, ZeroSizes) {
  using T = TypeParam;
  for (const Layout layout : {Layout::NN, Layout::NT, Layout::TN}) {
    for (const auto& [M, N, K] : {std::array<std::int64_t, 3>{0, 5, 5}, {5, 0, 5}, {5, 7, 0}, {0, 0, 0}, {1, 40, 0}}) {
      const Problem<T> p(M, N, K, layout);
      p.expect_sums(p.run());
    }
  }
  std::vector<T> nothing;
  gemm<T>(0, nullptr, 3, false, PackedMatrix<T>::pack(nullptr, 3, 0, 0, false), nullptr, 0);
}

TYPED_TEST(Gemm, ARowHasTheSameBytesWhateverItsNeighboursAndTheThreads) {
  using T = TypeParam;
  const std::int64_t N = 150, K = 900;
  const Problem<T> p(128, N, K, Layout::NT);
  const auto packed = PackedMatrix<T>::pack(p.b.data.data(), K, N, p.b.ld, true);
  EXPECT_EQ(packed.rows(), K);
  EXPECT_EQ(packed.columns(), N);
  std::vector<T> bias(static_cast<std::size_t>(N), T(0.25));
  Epilogue<T> epilogue;
  epilogue.bias = bias.data();
  epilogue.activation = Activation::gelu;
  for (const auto& target : available_targets()) {
    set_target(target);
    Matrix<T> whole(128, N, N);
    gemm(128, p.a.data.data(), K, false, packed, whole.data.data(), N, epilogue);
    for (const int threads : {1, 2, 3, 4}) {
      const ThreadLimit limit(threads);
      for (const std::int64_t M : {1, 2, 7, 128}) {
        for (std::int64_t from = 0; from + M <= 128; from += std::max<std::int64_t>(M, 31)) {
          Matrix<T> part(M, N, N);
          gemm(M, &p.a.at(from, 0), K, false, packed, part.data.data(), N, epilogue);
          EXPECT_EQ(std::memcmp(part.data.data(), &whole.at(from, 0), part.data.size() * sizeof(T)), 0)
              << threads << " threads, " << M << " rows from " << from << " on " << target;
        }
      }
    }
  }
}

// The activations in double, from their definitions.
double reference_activation(Activation a, double x) {
  switch (a) {
    case Activation::none: return x;
    case Activation::relu: return x > 0 ? x : 0;
    case Activation::gelu: return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh: return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::silu: return x / (1 + std::exp(-x));
    case Activation::tanh: return std::tanh(x);
    case Activation::sigmoid: return 1 / (1 + std::exp(-x));
  }
  return 0;
}

double reference_derivative(Activation a, double x) {
  const double h = 1e-5;
  if (a == Activation::relu) return x > 0 ? 1 : 0;
  return (reference_activation(a, x + h) - reference_activation(a, x - h)) / (2 * h);
}

constexpr Activation kAll[] = {Activation::none, Activation::relu, Activation::gelu,   Activation::gelu_tanh,
                               Activation::silu, Activation::tanh, Activation::sigmoid};

// Every step of the epilogue alone (the bit of its number) and all of them in all combinations.
template <class T>
void check_epilogue(std::int64_t M, std::int64_t N, std::int64_t K, Activation activation, unsigned steps) {
  const Problem<T> p(M, N, K, Layout::NT, 2);
  const auto bias = Matrix<T>::random(1, N, N, 4);
  const auto factor = Matrix<T>::random(M, N, N + 1, 5), residual = Matrix<T>::random(M, N, N + 4, 6);
  Matrix<T> derivative(M, N, N + 3);
  Epilogue<T> e;
  e.activation = activation;
  if (steps & 1) e.bias = bias.data.data();
  if (steps & 2) e.derivative = derivative.data.data(), e.derivative_ld = derivative.ld;
  if (steps & 4) e.factor = factor.data.data(), e.factor_ld = factor.ld;
  if (steps & 8) e.residual = residual.data.data(), e.residual_ld = residual.ld;
  e.accumulate = (steps & 16) != 0;
  const Matrix<T> result = p.run(e);
  const double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-9;
  double worst = 0, worst_derivative = 0;
  for (std::int64_t m = 0; m < M; ++m) {
    for (std::int64_t n = 0; n < N; ++n) {
      double x = p.sum(m, n);
      if (steps & 1) x += bias.at(0, n);
      if (steps & 2)
        worst_derivative =
            std::max(worst_derivative, std::abs(reference_derivative(activation, x) - derivative.at(m, n)));
      x = reference_activation(activation, x);
      if (steps & 4) x *= factor.at(m, n);
      if (steps & 8) x += residual.at(m, n);
      if (steps & 16) x += p.c.at(m, n);
      worst = std::max(worst, std::abs(x - result.at(m, n)) / (1 + std::abs(x)));
    }
  }
  EXPECT_LT(worst, tolerance) << "activation " << static_cast<int>(activation) << " steps " << steps;
  EXPECT_LT(worst_derivative, tolerance);
}

TYPED_TEST(Gemm, EveryEpilogue) {
  for (const auto& target : available_targets()) {
    set_target(target);
    for (const Activation activation : kAll) {
      for (unsigned steps = 0; steps < 32; ++steps) {
        check_epilogue<TypeParam>(7, 37, 19, activation, steps);
        check_epilogue<TypeParam>(9, 16, 500, activation, steps);
      }
    }
  }
}

TYPED_TEST(Gemm, ResidualAndFactorMayBeTheResult) {
  using T = TypeParam;
  for (const std::int64_t K : {20, 900}) {
    const Problem<T> p(8, 33, K, Layout::NN);
    Epilogue<T> e;
    e.residual = p.c.data.data();
    e.residual_ld = p.c.ld;
    const Matrix<T> expected = p.run(e);
    Matrix<T> result = p.c;
    e.residual = result.data.data();
    gemm(p.M, p.N, p.K, p.a.data.data(), p.a.ld, false, p.b.data.data(), p.b.ld, false, result.data.data(), result.ld,
         e);
    EXPECT_EQ(result.data, expected.data);

    e = {};
    e.activation = Activation::tanh;
    e.factor = p.c.data.data();
    e.factor_ld = p.c.ld;
    const Matrix<T> expected_product = p.run(e);
    result = p.c;
    e.factor = result.data.data();
    gemm(p.M, p.N, p.K, p.a.data.data(), p.a.ld, false, p.b.data.data(), p.b.ld, false, result.data.data(), result.ld,
         e);
    EXPECT_EQ(result.data, expected_product.data);
  }
}

TYPED_TEST(Gemm, BatchedIsTheSameAsOneByOne) {
  using T = TypeParam;
  const std::int64_t M = 13, N = 45, K = 24;
  for (const int threads : {1, 3}) {
    const ThreadLimit limit(threads);
    for (const Layout layout : {Layout::NN, Layout::NT, Layout::TN}) {
      for (const std::int64_t batch : {0, 1, 2, 7}) {
        for (const bool accumulate : {false, true}) {
          std::vector<Problem<T>> problems;
          std::vector<T> a, b, c;
          for (std::int64_t i = 0; i < batch; ++i) {
            Problem<T> p(M, N, K, layout);
            for (T& x : p.a.data) x *= static_cast<T>(i + 1);
            a.insert(a.end(), p.a.data.begin(), p.a.data.end());
            b.insert(b.end(), p.b.data.begin(), p.b.data.end());
            c.insert(c.end(), p.c.data.begin(), p.c.data.end());
            problems.push_back(std::move(p));
          }
          const bool ta = layout == Layout::TN, tb = layout == Layout::NT;
          gemm_batched<T>(batch, M, N, K, {a.data(), ta ? M : K, M * K, ta}, {b.data(), tb ? K : N, K * N, tb},
                          {c.data(), N, M * N}, accumulate);
          Epilogue<T> e;
          e.accumulate = accumulate;
          for (std::int64_t i = 0; i < batch; ++i) {
            const Matrix<T> expected = problems[static_cast<std::size_t>(i)].run(e);
            EXPECT_EQ(std::memcmp(c.data() + i * M * N, expected.data.data(), expected.data.size() * sizeof(T)), 0);
          }
        }
      }
    }
  }
}

TYPED_TEST(Gemm, AllFmaTargetsGiveTheSameBits) {
  using T = TypeParam;
  const Problem<T> p(31, 77, 801, Layout::TN);
  std::vector<Matrix<T>> results;
  for (const auto& target : available_targets()) {
    set_target(target);
    if (fuses()) results.push_back(p.run());
  }
  for (const auto& result : results) EXPECT_EQ(result.data, results.front().data);
}

TYPED_TEST(Gemm, RefusesSizesThatContradict) {
  using T = TypeParam;
  std::vector<T> x(100);
  EXPECT_THROW(PackedMatrix<T>::pack(x.data(), 5, 6, 5, false), Error);
  EXPECT_THROW(PackedMatrix<T>::pack(x.data(), -1, 6, 6, false), Error);
  const auto b = PackedMatrix<T>::pack(x.data(), 5, 6, 6, false);
  EXPECT_THROW(gemm<T>(2, x.data(), 4, false, b, x.data(), 6), Error);
  EXPECT_THROW(gemm<T>(2, x.data(), 5, false, b, x.data(), 5), Error);
  EXPECT_THROW(gemm<T>(-1, x.data(), 5, false, b, x.data(), 6), Error);
}

}  // namespace
}  // namespace heed::kernels
