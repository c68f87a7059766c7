#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/target.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
const char* compiled_target_name() {
  return hwy::TargetName(HWY_TARGET);
}
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "heed/base/error.h"
#include "heed/kernels/target.h"

namespace heed::kernels {
HWY_EXPORT(compiled_target_name);

std::string target_name() {
  return HWY_DYNAMIC_DISPATCH(compiled_target_name)();
}

std::vector<std::string> available_targets() {
  std::vector<std::string> names;
  // Lower bits are better targets.
  for (int64_t rest = HWY_TARGETS & hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    names.emplace_back(hwy::TargetName(rest & -rest));
  }
  return names;
}

void set_target(const std::string& name) {
  hwy::SetSupportedTargetsForTest(0);
  if (!name.empty()) {
    int64_t chosen = 0;
    for (int64_t rest = HWY_TARGETS & hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
      if (name == hwy::TargetName(rest & -rest)) chosen = rest & -rest;
    }
    HEED_CHECK(chosen != 0, "[set_target] \"", name, "\" is not compiled in or not supported by this CPU");
    hwy::SetSupportedTargetsForTest(chosen);
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
