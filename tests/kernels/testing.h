// What the kernel tests share: sizes that hit every tail, every instruction set, bitwise comparison, error in ulp.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/target.h"

namespace heed::kernels::testing {

inline const std::vector<std::int64_t> kSizes = {0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 64, 768, 1000, 3073};

// Runs body under each instruction set that is compiled in and that this CPU has.
template <class Body>
void for_each_target(const Body& body) {
  struct Restore {
    ~Restore() { set_target(""); }
  } restore;
  for (const std::string& name : available_targets()) {
    SCOPED_TRACE("target " + name);
    set_target(name);
    body();
  }
}

template <class T>
std::vector<T> random_values(std::int64_t n, std::uint64_t seed, double low = -3, double high = 3) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> distribution(low, high);
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& value : values) value = static_cast<T>(distribution(engine));
  return values;
}

// Distance of `got` from the exact value in units of the last place of T at `want`.
template <class T>
double ulp_error(T got, double want) {
  const double unit = std::numeric_limits<T>::epsilon();
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : 1e30;
  if (std::isinf(want) || std::isinf(got))
    return static_cast<double>(got) == static_cast<double>(static_cast<T>(want)) ? 0 : 1e30;
  int exponent;
  std::frexp(want, &exponent);
  const double ulp =
      std::max(std::ldexp(unit, exponent - 1), static_cast<double>(std::numeric_limits<T>::denorm_min()));
  return std::abs(static_cast<double>(got) - want) / ulp;
}

template <class T>
::testing::AssertionResult same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << "sizes " << a.size() << " and " << b.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0) {
      return ::testing::AssertionFailure() << "element " << i << ": " << a[i] << " and " << b[i];
    }
  }
  return ::testing::AssertionSuccess();
}

// |got[i] - want(i)| <= tolerance * max(1, |want(i)|), for all i.
template <class T, class Want>
::testing::AssertionResult all_near(const std::vector<T>& got, const Want& want, double tolerance) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double expected = want(static_cast<std::int64_t>(i));
    const double error = std::abs(static_cast<double>(got[i]) - expected);
    if (!(error <= tolerance * std::max(1.0, std::abs(expected)))) {
      return ::testing::AssertionFailure() << "element " << i << ": " << got[i] << ", expected " << expected;
    }
  }
  return ::testing::AssertionSuccess();
}

template <class T>
constexpr double tolerance(double f32, double f64) {
  return sizeof(T) == 4 ? f32 : f64;
}

// compute() returns a vector; it must not depend on the number of threads.
template <class Compute>
void expect_same_bits_for_all_thread_counts(const Compute& compute) {
  ThreadLimit one(1);
  const auto expected = compute();
  for (int threads = 2; threads <= 4; ++threads) {
    ThreadLimit limit(threads);
    EXPECT_TRUE(same_bits(compute(), expected)) << threads << " threads";
  }
}

// compute(begin, n) applies an elementwise kernel to elements [begin, begin + n) of fixed input and returns the
// results: an element must get the same bits in the body of a loop, in its tail, and at any alignment.
template <class Compute>
void expect_same_bits_at_all_positions(const Compute& compute) {
  constexpr std::int64_t kCount = 203;
  const auto whole = compute(0, kCount);
  for (std::int64_t begin = 0; begin < 40; ++begin) {
    for (std::int64_t n : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 33, 64, 160}) {
      const auto part = compute(begin, n);
      const decltype(whole) expected(whole.begin() + begin, whole.begin() + begin + n);
      ASSERT_TRUE(same_bits(part, expected)) << "begin " << begin << ", n " << n;
    }
  }
}

template <class T>
class KernelTest : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;

}  // namespace heed::kernels::testing
