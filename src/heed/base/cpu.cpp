#include "heed/base/cpu.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <sstream>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed {
namespace {

constexpr std::size_t kProcFileLimit = 16 << 20;

int affinity_cpus() {
  // The kernel refuses a set smaller than its own, so grow until it fits.
  for (int most = CPU_SETSIZE; most <= 1 << 20; most *= 2) {
    cpu_set_t* set = CPU_ALLOC(most);
    if (!set) break;
    const bool fits = sched_getaffinity(0, CPU_ALLOC_SIZE(most), set) == 0;
    const int count = fits ? CPU_COUNT_S(CPU_ALLOC_SIZE(most), set) : 0;
    CPU_FREE(set);
    if (fits) return std::max(1, count);
  }
  return 1;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// The features that choose or bound a kernel, in the words of Linux.
constexpr std::array<std::string_view, 19> kFeatures = {
    "sse4_2",   "avx",      "avx2",        "fma",      "f16c",        "bmi2",     "avx512f",
    "avx512bw", "avx512vl", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_tile", "amx_int8",
    "amx_bf16", "neon",     "asimd",       "asimddp",  "i8mm"};

}  // namespace

void detail::read_cpuinfo(const std::string& text, CpuReport& report) {
  std::set<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = trimmed(line.substr(0, colon));
    const std::string value = trimmed(line.substr(colon + 1));
    if ((key == "model name" || key == "Model" || key == "Hardware") && report.model.empty()) report.model = value;
    if ((key == "flags" || key == "Features") && found.empty()) {
      std::istringstream words(value);
      for (std::string word; words >> word;) found.insert(word);
    }
  }
  if (report.model.empty()) report.model = "unknown";
  for (const std::string_view feature : kFeatures) {
    if (found.contains(std::string(feature))) report.features.emplace_back(feature);
  }
}

int detail::usable_cpus(int affinity, double quota) {
  if (quota <= 0) return affinity;
  return static_cast<int>(std::clamp(std::ceil(quota), 1.0, static_cast<double>(affinity)));
}

int usable_cpus() {
  return detail::usable_cpus(affinity_cpus(), detail::cgroup_quota("/"));
}

CpuReport cpu_report() {
  CpuReport report;
  std::string cpuinfo;
  try {
    cpuinfo = read_file("/proc/cpuinfo", kProcFileLimit);
  } catch (const Error&) {  // a report without a model is better than none
  }
  detail::read_cpuinfo(cpuinfo, report);
  report.affinity_cpus = affinity_cpus();
  report.quota_cpus = detail::cgroup_quota("/");
  report.usable = detail::usable_cpus(report.affinity_cpus, report.quota_cpus);
  return report;
}

}  // namespace heed
