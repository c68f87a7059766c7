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
#include <algorithm>
#include <cstdlib>

#include "heed/base/error.h"
#include "heed/base/join.h"
#include "heed/kernels/target.h"

namespace heed::kernels {
HWY_EXPORT(compiled_target_name);

namespace {

constexpr const char* kVariable = "HEED_TARGET";

// Bits of the targets that are compiled in and that this CPU has, whatever is chosen; lower ones are better.
int64_t all_targets() {
  static const int64_t targets = HWY_TARGETS & hwy::SupportedTargets();
  return targets;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return text;
}

int64_t find_target(const std::string& name, const std::string& where) {
  const std::string wanted = lower(name) == "avx512" ? "avx3" : lower(name);
  std::vector<std::string> known;
  for (int64_t rest = all_targets(); rest != 0; rest &= rest - 1) {
    const std::string found = hwy::TargetName(rest & -rest);
    if (lower(found) == wanted) return rest & -rest;
    known.push_back(found);
  }
  fail(ErrorKind::invalid_argument, where, " is \"", name, "\", which is not compiled in or not what this CPU has; ",
       "expected one of ", join(known, ", "));
}

void choose(int64_t target) {
  all_targets();  // before Highway is told to know no others
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

std::string target_name() {
  return HWY_DYNAMIC_DISPATCH(compiled_target_name)();
}

std::vector<std::string> available_targets() {
  std::vector<std::string> names;
  for (int64_t rest = all_targets(); rest != 0; rest &= rest - 1) names.emplace_back(hwy::TargetName(rest & -rest));
  return names;
}

void set_target(const std::string& name) {
  choose(name.empty() ? 0 : find_target(name, "[set_target] the instruction set"));
}

std::string set_target_by_environment() {
  const char* name = std::getenv(kVariable);
  if (!name || !*name) return "";
  choose(find_target(name, std::string("the environment variable ") + kVariable));
  return name;
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
