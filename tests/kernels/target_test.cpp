#include "heed/kernels/target.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

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
  }
  EXPECT_THROW(set_target("Z80"), Error);
  set_target("");
  EXPECT_EQ(target_name(), best);
}

}  // namespace
}  // namespace heed::kernels
