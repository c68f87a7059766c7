#include "heed/kernels/target.h"

#include <gtest/gtest.h>

#include <cctype>

#include "support/error_of.h"

namespace heed::kernels {
namespace {

TEST(Target, EveryAvailableTargetCanBeChosen) {
  const std::string best = target_name();
  const auto targets = available_targets();
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(targets.front(), best);
  for (const auto& name : targets) {
    set_target(name);
    EXPECT_EQ(target_name(), name);
    EXPECT_EQ(available_targets(), targets);
  }
  for (std::string lower : targets) {
    const std::string name = lower;
    for (char& c : lower) c = static_cast<char>(std::tolower(c));
    set_target(lower);
    EXPECT_EQ(target_name(), name);
    if (name == "AVX3") {
      set_target("avx512");
      EXPECT_EQ(target_name(), name);
    }
  }
  const std::string message = test::error_of(ErrorKind::invalid_argument, [] { set_target("Z80"); });
  EXPECT_NE(message.find("\"Z80\""), std::string::npos) << message;
  for (const auto& name : targets) EXPECT_NE(message.find(name), std::string::npos) << message;
  set_target("");
  EXPECT_EQ(target_name(), best);
}

}  // namespace
}  // namespace heed::kernels
