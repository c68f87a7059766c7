#include "heed/kernels/pool.h"

#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

constexpr PoolKind kAll[] = {PoolKind::sum, PoolKind::mean, PoolKind::max};
// An empty sequence first, in the middle and last; one of one row; one longer than a leaf of the tree.
const std::vector<std::int64_t> kOffsets = {0, 0, 5, 6, 6, 206, 206};
constexpr std::int64_t kSequences = 6, kRows = 206;

template <class T>
using PoolTyped = KernelTest<T>;
TYPED_TEST_SUITE(PoolTyped, Floats);

TYPED_TEST(PoolTyped, ForwardAndBackwardMatchThePlainLoops) {
  using T = TypeParam;
  for_each_target([&] {
    for (std::int64_t cols : kSizes) {
      const auto x = random_values<T>(kRows * cols, 1), dy = random_values<T>(kSequences * cols, 2);
      for (PoolKind pooling : kAll) {
        std::vector<T> y(dy.size(), T(9)), dx(x.size(), T(9));
        std::vector<std::int64_t> argmax(dy.size(), 99);
        pool(pooling, x.data(), kOffsets.data(), kSequences, cols, y.data(), argmax.data());
        pool_backward(pooling, dy.data(), kOffsets.data(), kSequences, cols, argmax.data(), dx.data());
        for (std::int64_t b = 0; b < kSequences; ++b) {
          const std::int64_t begin = kOffsets[static_cast<std::size_t>(b)],
                             end = kOffsets[static_cast<std::size_t>(b + 1)];
          for (std::int64_t c = 0; c < cols; ++c) {
            const auto at = static_cast<std::size_t>(b * cols + c);
            double total = 0;
            std::int64_t best = begin < end ? begin : -1;
            for (std::int64_t r = begin; r < end; ++r) {
              total += x[static_cast<std::size_t>(r * cols + c)];
              if (x[static_cast<std::size_t>(r * cols + c)] > x[static_cast<std::size_t>(best * cols + c)]) best = r;
            }
            const double length = pooling == PoolKind::mean && begin < end ? double(end - begin) : 1;
            double want = total / length;
            if (pooling == PoolKind::max) {
              want = best < 0 ? 0 : x[static_cast<std::size_t>(best * cols + c)];
              ASSERT_EQ(argmax[at], best);
            }
            ASSERT_NEAR(y[at], want, tolerance<T>(1e-4, 1e-12));
            for (std::int64_t r = begin; r < end; ++r) {
              const double share = pooling == PoolKind::max ? (r == best ? 1 : 0) : 1 / length;
              ASSERT_NEAR(dx[static_cast<std::size_t>(r * cols + c)], dy[at] * share, tolerance<T>(1e-6, 1e-15));
            }
          }
        }
      }
    }
  });
}

TYPED_TEST(PoolTyped, ASequenceHasTheSameBitsAloneAndForAllThreads) {
  using T = TypeParam;
  const std::int64_t cols = 200;
  const auto x = random_values<T>(kRows * cols, 3);
  for_each_target([&] {
    for (PoolKind pooling : kAll) {
      std::vector<std::int64_t> argmax(static_cast<std::size_t>(kSequences * cols));
      const auto compute = [&] {
        std::vector<T> y(argmax.size());
        pool(pooling, x.data(), kOffsets.data(), kSequences, cols, y.data(), argmax.data());
        return y;
      };
      expect_same_bits_for_all_thread_counts(compute);
      const auto all = compute();
      const std::int64_t offsets[] = {0, 200};
      std::vector<T> alone(static_cast<std::size_t>(cols));
      pool(pooling, x.data() + 6 * cols, offsets, 1, cols, alone.data(), argmax.data());
      EXPECT_TRUE(same_bits(alone, std::vector<T>(all.begin() + 4 * cols, all.begin() + 5 * cols)));
    }
  });
}

TEST(Pool, NaNWinsTheMaximum) {
  const std::vector<float> x = {5, NAN, 7, NAN};
  const std::int64_t offsets[] = {0, 4};
  float y;
  std::int64_t argmax;
  pool(PoolKind::max, x.data(), offsets, 1, 1, &y, &argmax);
  EXPECT_TRUE(std::isnan(y));
  EXPECT_EQ(argmax, 1);
}

}  // namespace
}  // namespace heed::kernels
