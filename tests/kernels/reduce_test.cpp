#include "heed/kernels/reduce.h"

#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

template <class T>
using ReduceTyped = KernelTest<T>;
TYPED_TEST_SUITE(ReduceTyped, Floats);

TYPED_TEST(ReduceTyped, MatchesThePlainLoops) {
  using T = TypeParam;
  const double near = tolerance<T>(1e-5, 1e-12);
  for_each_target([&] {
    for (std::int64_t cols : kSizes) {
      for (std::int64_t rows : {0, 1, 63, 64, 65, 200}) {
        const auto x = random_values<T>(rows * cols, 1), z = random_values<T>(rows * cols, 2);
        std::vector<T> by_row(static_cast<std::size_t>(rows)), by_column(static_cast<std::size_t>(cols));
        sum_rows(x.data(), by_row.data(), rows, cols);
        sum_columns(x.data(), by_column.data(), rows, cols);
        std::vector<double> want_row(by_row.size()), want_column(by_column.size());
        double total = 0, squares = 0, product = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          want_row[i / static_cast<std::size_t>(cols)] += x[i];
          want_column[i % static_cast<std::size_t>(cols)] += x[i];
          total += x[i];
          squares += double(x[i]) * x[i];
          product += double(x[i]) * z[i];
        }
        const auto at = [](const auto& v) { return [&v](std::int64_t i) { return v[static_cast<std::size_t>(i)]; }; };
        EXPECT_TRUE(all_near(by_row, at(want_row), 10 * near));
        EXPECT_TRUE(all_near(by_column, at(want_column), 10 * near));
        EXPECT_NEAR(sum(x.data(), rows * cols), total, near * (1 + squares));
        EXPECT_NEAR(sum_of_squares(x.data(), rows * cols), squares, near * (1 + squares));
        EXPECT_NEAR(dot(x.data(), z.data(), rows * cols), product, near * (1 + squares));
      }
    }
  });
}

TEST(Reduce, TenMillionTermsKeepTheirPrecision) {
  // 0.1f ten million times: a running float sum would end near 1.08e6.
  const std::int64_t n = 10'000'000;
  const std::vector<float> x(static_cast<std::size_t>(n), 0.1f);
  for_each_target([&] {
    EXPECT_NEAR(sum(x.data(), n) / (double(0.1f) * n), 1, 3e-6);
    float row, column;
    sum_rows(x.data(), &row, 1, n);
    EXPECT_NEAR(row / (double(0.1f) * n), 1, 3e-6);
    sum_columns(x.data(), &column, n, 1);
    EXPECT_NEAR(column / (double(0.1f) * n), 1, 3e-6);
    EXPECT_NEAR(sum_of_squares(x.data(), n) / (double(0.1f) * 0.1f * n), 1, 3e-6);
  });
}

TYPED_TEST(ReduceTyped, SameBitsForAllThreadsAndInAnyBatch) {
  using T = TypeParam;
  const std::int64_t rows = 300, cols = 1000;
  const auto x = random_values<T>(rows * cols, 6);
  for_each_target([&] {
    const auto compute = [&] {
      std::vector<T> out(static_cast<std::size_t>(rows + cols));
      sum_rows(x.data(), out.data(), rows, cols);
      sum_columns(x.data(), out.data() + rows, rows, cols);
      out.push_back(static_cast<T>(sum(x.data(), rows * cols)));
      out.push_back(static_cast<T>(dot(x.data(), x.data() + 1, rows * cols - 1)));
      return out;
    };
    expect_same_bits_for_all_thread_counts(compute);
    const auto all = compute();
    T alone;
    sum_rows(x.data() + 77 * cols, &alone, 1, cols);
    EXPECT_EQ(alone, all[77]);
    // A column alone, as the only one of a copy.
    std::vector<T> column;
    for (std::int64_t r = 0; r < rows; ++r) column.push_back(x[static_cast<std::size_t>(r * cols + 500)]);
    sum_columns(column.data(), &alone, rows, 1);
    EXPECT_EQ(alone, all[static_cast<std::size_t>(rows + 500)]);
  });
}

}  // namespace
}  // namespace heed::kernels
