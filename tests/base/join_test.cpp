#include "heed/base/join.h"

#include <gtest/gtest.h>

#include <map>

#include "heed/base/grouped.h"

namespace heed {
namespace {

TEST(Join, PutsSeparatorsBetweenItems) {
  EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(join(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(join(std::vector<std::string>{"", "b", ""}, ", "), ", b, ");  // an empty first item is an item
  EXPECT_EQ(join(std::map<std::string, int>{{"x", 1}, {"y", 2}}, "+", [](const auto& each) { return each.first; }),
            "x+y");
}

TEST(Join, OrComesBeforeTheLast) {
  EXPECT_EQ(join_or(std::vector<std::string>{}), "");
  EXPECT_EQ(join_or(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(join_or(std::vector<std::string>{"a", "b"}), "a or b");
  EXPECT_EQ(join_or(std::vector<int>{1, 2, 3}, [](int number) { return std::to_string(number); }), "1, 2 or 3");
}

TEST(Grouped, CommasEveryThreeDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(std::size_t{1000}), "1,000");
  EXPECT_EQ(grouped(std::int64_t{12345678}), "12,345,678");
}

}  // namespace
}  // namespace heed
