#include "heed/kernels/gather.h"

#include "heed/kernels/convert.h"
#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

template <class T, class Index>
void check() {
  const std::int64_t vocabulary = 11;
  for (std::int64_t cols : kSizes) {
    for (std::int64_t n : {0, 1, 50}) {
      const auto table = random_values<T>(vocabulary * cols, 1), dy = random_values<T>(n * cols, 2);
      std::vector<Index> ids;
      for (std::int64_t i = 0; i < n; ++i) ids.push_back(static_cast<Index>(i * i % vocabulary));
      std::vector<T> y(dy.size()), want(dy.size()), dtable(table), want_table(table);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t c = 0; c < cols; ++c) {
          const auto to = static_cast<std::size_t>(i * cols + c);
          const auto from = static_cast<std::size_t>(ids[static_cast<std::size_t>(i)] * cols + c);
          want[to] = table[from];
          want_table[from] += dy[to];
        }
      }
      gather_rows(table.data(), ids.data(), y.data(), n, cols);
      scatter_add_rows(dy.data(), ids.data(), dtable.data(), n, cols);
      EXPECT_TRUE(same_bits(y, want));
      EXPECT_TRUE(same_bits(dtable, want_table));
    }
  }
}

TEST(Gather, RowsAndTheirGradientMatchThePlainLoops) {
  check<float, std::int32_t>();
  check<float, std::int64_t>();
  check<double, std::int32_t>();
  check<double, std::int64_t>();
}

template <class Half>
void check_half() {
  const std::int64_t vocabulary = 11, cols = 45;
  const auto values = random_values<float>(vocabulary * cols, 1);
  std::vector<Half> table(values.size());
  std::vector<float> exact(values.size());
  convert(values.data(), table.data(), vocabulary * cols);
  convert(table.data(), exact.data(), vocabulary * cols);
  const std::vector<std::int32_t> ids = {3, 0, 10, 3};
  std::vector<float> y(ids.size() * cols), want;
  for (const std::int32_t id : ids)
    want.insert(want.end(), &exact[static_cast<std::size_t>(id * cols)],
                &exact[static_cast<std::size_t>(id * cols)] + cols);
  gather_rows(table.data(), ids.data(), y.data(), 4, cols);
  EXPECT_TRUE(same_bits(y, want));
}

TEST(Gather, RowsOfHalvesBecomeFloats) {
  for_each_target([] {
    check_half<Float16>();
    check_half<BFloat16>();
  });
}

TEST(Gather, ScatterHasTheSameBitsForAllThreads) {
  const std::int64_t n = 1000, cols = 300;
  const auto dy = random_values<float>(n * cols, 3);
  std::vector<std::int32_t> ids;
  for (std::int32_t i = 0; i < n; ++i) ids.push_back(i % 7);
  expect_same_bits_for_all_thread_counts([&] {
    std::vector<float> dtable(static_cast<std::size_t>(7 * cols));
    scatter_add_rows(dy.data(), ids.data(), dtable.data(), n, cols);
    return dtable;
  });
}

}  // namespace
}  // namespace heed::kernels
