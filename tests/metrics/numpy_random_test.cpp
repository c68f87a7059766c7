// Numbers that NumPy gives for the same seeds: those of its documentation, and where it is installed many more.
#include "heed/metrics/numpy_random.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/base/json.h"
#include "support/python.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

template <class Random>
std::vector<std::uint32_t> draws(Random random, std::uint32_t below, std::size_t count) {
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(random.below(below));
  return numbers;
}

using Numbers = std::vector<std::uint32_t>;

TEST(NumpyRandom, KnownNumbers) {
  EXPECT_EQ(draws(NumpyRandomState(0), 10, 10), (Numbers{5, 0, 3, 3, 7, 9, 3, 5, 2, 4}));
  EXPECT_EQ(draws(NumpyRandomState(42), 100, 5), (Numbers{51, 92, 14, 71, 60}));
  EXPECT_EQ(draws(NumpyGenerator(42), 10, 10), (Numbers{0, 7, 6, 4, 4, 8, 0, 6, 2, 0}));
  EXPECT_EQ(draws(NumpyGenerator(1), 1, 3), (Numbers{0, 0, 0}));
}

TEST(NumpyRandom, AsNumpyHasThem) {
  if (!test::has_python_modules("numpy")) {
    GTEST_SKIP() << "/usr/bin/python3 has no numpy (Debian package python3-numpy): nothing to compare with";
  }
  const test::TempFolder folder;
  const auto file = folder.path() / "answers.json";
  ASSERT_EQ(test::run_python("metrics/numpy_answers.py " + file.string()), 0);
  const Json answers = parse_json(read_file(file, 1 << 26), "answers.json");
  EXPECT_FALSE(answers.empty());
  for (const Json& answer : answers) {
    const std::uint64_t seed = answer["seed"];
    const auto expected = answer["numbers"].get<Numbers>();
    if (answer["kind"] == "flip") {
      NumpyGenerator random(seed);
      Numbers found;
      for (std::size_t i = 0; i < expected.size(); ++i) found.push_back(random.flip() ? 1 : 0);
      EXPECT_EQ(found, expected) << seed;
    } else if (answer["kind"] == "generator") {
      EXPECT_EQ(draws(NumpyGenerator(seed), answer["below"], expected.size()), expected) << seed;
    } else {
      EXPECT_EQ(draws(NumpyRandomState(static_cast<std::uint32_t>(seed)), answer["below"], expected.size()), expected)
          << seed;
    }
  }
}

}  // namespace
}  // namespace heed
