// What this CPU is and how much of it we may use.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed {

// CPUs that the affinity mask and the cgroup quota (v1 or v2) leave to this process, a part of a CPU rounded up; at
// least 1.
int usable_cpus();

struct CpuReport {
  std::string model;                  // as the system names it; "unknown" when it does not
  std::vector<std::string> features;  // those that matter to the kernels, as Linux names them: avx2, fma, asimd ...
  int affinity_cpus = 0;
  double quota_cpus = 0;  // 0: no quota
  int usable = 0;
};
CpuReport cpu_report();

namespace detail {
// The tightest CPU quota of this process's cgroup and its ancestors, in CPUs; 0 when there is none. Reads
// proc/self/{cgroup,mountinfo} and the cgroup file systems below `root`; what cannot be read or parsed sets no limit.
double cgroup_quota(const std::filesystem::path& root);

// What a quota (0: none) leaves of the CPUs of the affinity mask.
int usable_cpus(int affinity, double quota);

// model and features from the text of /proc/cpuinfo (x86 and Arm).
void read_cpuinfo(const std::string& text, CpuReport& report);
}  // namespace detail

}  // namespace heed
