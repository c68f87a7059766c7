// What this CPU is and how much of it we may use.
#pragma once

#include <string>
#include <vector>

namespace heed {

// CPUs that the affinity mask and the cgroup quota (v1 or v2) leave to this process; at least 1.
int usable_cpus();

struct CpuReport {
  std::string model;                  // as the system names it
  std::vector<std::string> features;  // avx2, fma, f16c, avx512f, vnni, neon ... that matter to the kernels
  int affinity_cpus = 0;
  double quota_cpus = 0;  // 0: no quota
  int usable = 0;
};
CpuReport cpu_report();

}  // namespace heed
