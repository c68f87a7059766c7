#include "heed/kernels/transpose.h"

#include "heed/base/error.h"
#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

// Element by element: index tuple of y, offset in x.
template <class T>
std::vector<T> plain(const T* x, const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
  std::int64_t elements = 1;
  for (std::int64_t size : shape) elements *= size;
  std::vector<T> y;
  for (std::int64_t position = 0; position < elements; ++position) {
    std::int64_t rest = position, offset = 0;
    for (std::size_t i = shape.size(); i-- > 0;) {
      offset += rest % shape[i] * strides[i];
      rest /= shape[i];
    }
    y.push_back(x[offset]);
  }
  return y;
}

template <class T>
void transposed(const std::vector<T>& x, std::vector<T>& y, std::int64_t rows, std::int64_t cols) {
  const std::int64_t shape[] = {cols, rows}, strides[] = {1, cols};
  permuted_copy(x.data(), shape, strides, 2, y.data());
}

template <class T>
class TransposeTyped : public ::testing::Test {};
using Types = ::testing::Types<float, double, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(TransposeTyped, Types);

TYPED_TEST(TransposeTyped, MatrixAtAllSizesAndThreadCounts) {
  using T = TypeParam;
  for (std::int64_t rows : {0, 1, 3, 16, 17, 100}) {
    for (std::int64_t cols : kSizes) {
      const auto x = random_values<T>(rows * cols, 1, -1000, 1000);
      for (int threads : {1, 3}) {
        ThreadLimit limit(threads);
        std::vector<T> y(x.size()), back(x.size());
        transposed(x, y, rows, cols);
        EXPECT_TRUE(same_bits(y, plain(x.data(), {cols, rows}, {1, cols})));
        transposed(y, back, cols, rows);
        EXPECT_TRUE(same_bits(back, x));
      }
    }
  }
}

TYPED_TEST(TransposeTyped, StridedCopies) {
  using T = TypeParam;
  struct Case {
    std::vector<std::int64_t> shape, strides;
    std::int64_t start = 0;
  };
  const Case cases[] = {
      {{}, {}},
      {{7}, {1}},
      {{7}, {3}},
      {{7}, {-2}, 20},                                         // reversed
      {{5, 6}, {0, 1}},                                        // one row, repeated
      {{5, 6}, {1, 0}},                                        // one column, repeated
      {{12, 40, 64}, {64, 12 * 64, 1}},                        // [N,H,D] -> [H,N,D]
      {{40, 12, 64}, {64, 40 * 64, 1}},                        // and back
      {{12, 64, 40}, {64, 1, 12 * 64}},                        // [N,H,D] -> [H,D,N]
      {{2, 3, 4, 5}, {60, 20, 5, 1}},                          // contiguous: one run
      {{5, 4, 3, 2}, {1, 5, 20, 60}},                          // all reversed
      {{3, 1, 0, 2}, {2, 2, 2, 1}},                            // empty
      {{2, 1, 3, 1, 2, 1, 2, 3}, {3, 7, 24, 1, 12, 5, 6, 1}},  // rank 8 with axes of size 1
      {{100, 3, 37}, {1, 100, 300}},
      {{30, 50}, {100, 2}},  // no axis is contiguous
  };
  const auto x = random_values<T>(60000, 2, -1000, 1000);
  for (const Case& c : cases) {
    const auto want = plain(x.data() + c.start, c.shape, c.strides);
    for (int threads : {1, 2, 3, 4}) {
      ThreadLimit limit(threads);
      std::vector<T> y(want.size());
      permuted_copy(x.data() + c.start, c.shape.data(), c.strides.data(), static_cast<int>(c.shape.size()), y.data());
      EXPECT_TRUE(same_bits(y, want)) << ::testing::PrintToString(c.shape);
    }
  }
  EXPECT_THROW(permuted_copy<T>(x.data(), nullptr, nullptr, 9, nullptr), Error);
}

}  // namespace
}  // namespace heed::kernels
