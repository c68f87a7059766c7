// Products with weights as they are stored: to the bit those with the converted weights.
#include "heed/kernels/stored_matrix.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "heed/base/error.h"
#include "heed/kernels/convert.h"
#include "heed/kernels/gemm.h"
#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

// Numbers that end where memory ends: reading one more is a fault, in release builds too. They may start anywhere.
class GuardedHalves {
 public:
  explicit GuardedHalves(std::int64_t count) : count_(count) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(std::uint16_t);
    size_ = (bytes + page - 1) / page * page + 2 * page;
    base_ = static_cast<char*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(static_cast<void*>(base_), MAP_FAILED);
    EXPECT_EQ(mprotect(base_, page, PROT_NONE) | mprotect(base_ + size_ - page, page, PROT_NONE), 0);
    data_ = reinterpret_cast<std::uint16_t*>(base_ + size_ - page - bytes);
  }
  ~GuardedHalves() { munmap(base_, size_); }
  GuardedHalves(GuardedHalves&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        data_(other.data_),
        count_(other.count_) {}
  GuardedHalves& operator=(GuardedHalves&&) = delete;
  std::uint16_t* data() { return data_; }
  std::int64_t size() const { return count_; }

 private:
  char* base_;
  std::size_t size_;
  std::uint16_t* data_;
  std::int64_t count_;
};

// W [rows, columns] as parts, and as floats.
template <class Half>
struct Stored {
  Stored(const std::vector<std::int64_t>& part_rows, std::int64_t columns, bool by_columns, std::int64_t pad = 0) {
    matrix.format = std::is_same_v<Half, Float16> ? StoredMatrix::Format::f16 : StoredMatrix::Format::bf16;
    matrix.columns = columns;
    matrix.by_columns = by_columns;
    for (const std::int64_t rows : part_rows) {
      const std::int64_t ld = (by_columns ? rows : columns) + pad, lines = by_columns ? columns : rows;
      memory.emplace_back(lines > 0 ? (lines - 1) * ld + (by_columns ? rows : columns) : 0);
      const auto values = random_values<float>(memory.back().size(), 5 + memory.size(), -1, 1);
      convert(values.data(), reinterpret_cast<Half*>(memory.back().data()), memory.back().size());
      matrix.parts.push_back({memory.back().data(), rows, ld});
      matrix.rows += rows;
    }
  }

  std::vector<float> floats() const {
    std::vector<float> result;
    for (const StoredMatrix::Part& part : matrix.parts) {
      for (std::int64_t r = 0; r < part.rows; ++r) {
        for (std::int64_t c = 0; c < matrix.columns; ++c) {
          const Half half{part.data[matrix.by_columns ? c * part.ld + r : r * part.ld + c]};
          float value;
          convert(&half, &value, 1);
          result.push_back(value);
        }
      }
    }
    return result;
  }

  StoredMatrix matrix;
  std::vector<GuardedHalves> memory;
};

// Both products against those with the floats.
template <class Half>
void expect_same_products(const Stored<Half>& stored, const std::vector<std::int64_t>& rows,
                          const Epilogue<float>& steps = {}) {
  const StoredMatrix& w = stored.matrix;
  const std::vector<float> floats = stored.floats();
  for (const bool transposed : {true, false}) {
    const std::int64_t K = transposed ? w.columns : w.rows, N = transposed ? w.rows : w.columns;
    const auto packed = PackedMatrix<float>::pack(floats.data(), K, N, w.columns, transposed);
    for (const std::int64_t M : rows) {
      const auto a = random_values<float>(M * K, 1), bias = random_values<float>(N, 2);
      std::vector<float> expected = random_values<float>(M * N, 3), found = expected;
      const auto run = [&](std::vector<float>& c, const auto& product) {
        Epilogue<float> epilogue = steps;
        epilogue.bias = bias.data();
        // steps.residual stands for C itself
        if (steps.residual) epilogue.residual = c.data(), epilogue.residual_ld = N;
        product(c.data(), epilogue);
      };
      run(expected, [&](float* c, const auto& e) { gemm(M, a.data(), K, false, packed, c, N, e); });
      run(found, [&](float* c, const auto& e) { gemm(M, a.data(), K, w, transposed, c, N, e); });
      ASSERT_TRUE(same_bits(found, expected))
          << M << " rows, " << w.rows << " x " << w.columns << ", " << w.parts.size() << " parts, transposed "
          << transposed << ", by columns " << w.by_columns;
    }
  }
}

const std::vector<std::int64_t> kFewAndMany = {1, 2, 3, 4, 5, 7, 8, 13, 14, 15, 16, 17, 28, 29, 40};

template <class Half>
class GemmStored : public ::testing::Test {};
using Formats = ::testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(GemmStored, Formats);

TYPED_TEST(GemmStored, HasTheBitsOfTheConvertedWeights) {
  for_each_target([&] {
    for (const bool by_columns : {false, true}) {
      for (const auto& [rows, columns] : {std::array<std::int64_t, 2>{1, 1},
                                          {16, 32},
                                          {17, 33},
                                          {48, 31},
                                          {64, 64},
                                          {130, 100},
                                          {5, 200},
                                          {200, 7},
                                          {144, 320},
                                          {40, 0},
                                          {0, 40}}) {
        expect_same_products(Stored<TypeParam>({rows}, columns, by_columns, (rows + columns) % 3), kFewAndMany);
      }
    }
  });
}

TYPED_TEST(GemmStored, PartsMayHaveAnySize) {
  for_each_target([&] {
    for (const bool by_columns : {false, true}) {
      for (const std::vector<std::int64_t>& parts :
           {std::vector<std::int64_t>{32, 16, 16}, {64, 64}, {5, 3, 3}, {20, 1, 0, 47}, {33, 31}, {100, 4, 4}}) {
        expect_same_products(Stored<TypeParam>(parts, 96, by_columns), kFewAndMany);
        expect_same_products(Stored<TypeParam>(parts, 45, by_columns, 1), kFewAndMany);
      }
    }
  });
}

// Blocks of K and of rows, and sums that wait for the next block.
TYPED_TEST(GemmStored, ContinuesTheChainsOverBlocks) {
  for (const bool by_columns : {false, true}) {
    const Stored<TypeParam> w({300, 45}, 1201, by_columns);
    expect_same_products(w, {1, 6, 20, 400});
    Epilogue<float> onto;
    onto.accumulate = true;
    expect_same_products(w, {1, 6, 20, 400}, onto);
    Epilogue<float> residual;
    residual.activation = Activation::gelu;
    const float any = 0;
    residual.residual = &any;
    expect_same_products(w, {1, 6, 20}, residual);
  }
}

TYPED_TEST(GemmStored, ParallelPartsChangeNoBit) {
  const Stored<TypeParam> rows({256, 128, 130}, 384, false), columns({500}, 384, true);
  for (const int threads : {1, 2, 3, 5}) {
    const ThreadLimit limit(threads);
    for (const auto* w : {&rows, &columns}) expect_same_products(*w, {1, 2, 16, 40});
  }
}

// Every bit pattern meets a finite number in a sum of its own.
TYPED_TEST(GemmStored, AllValues) {
  Stored<TypeParam> stored({65536}, 1, false);
  for (std::int64_t i = 0; i < 65536; ++i) stored.memory[0].data()[i] = static_cast<std::uint16_t>(i);
  const std::vector<float> floats = stored.floats();
  const auto packed = PackedMatrix<float>::pack(floats.data(), 1, 65536, 1, true);
  const float a = 1;
  for_each_target([&] {
    std::vector<float> expected(65536), found(65536);
    gemm(1, &a, 1, false, packed, expected.data(), 65536);
    gemm(1, &a, 1, stored.matrix, true, found.data(), 65536);
    EXPECT_TRUE(same_bits(found, expected));
  });
}

TEST(GemmStoredErrors, RefusesSizesThatContradict) {
  const Stored<Float16> stored({5, 6}, 7, false);
  const std::vector<float> a(100);
  std::vector<float> c(100);
  StoredMatrix w = stored.matrix;
  EXPECT_NO_THROW(gemm(2, a.data(), 7, w, true, c.data(), 11));
  EXPECT_THROW(gemm(2, a.data(), 6, w, true, c.data(), 11), Error);
  EXPECT_THROW(gemm(2, a.data(), 7, w, true, c.data(), 10), Error);
  EXPECT_THROW(gemm(-1, a.data(), 7, w, true, c.data(), 11), Error);
  w.rows = 12;
  EXPECT_THROW(gemm(2, a.data(), 7, w, true, c.data(), 12), Error);
  w.rows = 11;
  w.parts[1].ld = 6;
  EXPECT_THROW(gemm(2, a.data(), 7, w, true, c.data(), 11), Error);
}

}  // namespace
}  // namespace heed::kernels
