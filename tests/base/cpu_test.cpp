#include "heed/base/cpu.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>

#include "support/temp_folder.h"

namespace heed {
namespace {

using test::TempFolder;

constexpr const char* kUnifiedMount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";

// A made-up machine with cgroup version 2 and this process in /jobs/one.
class Unified : public ::testing::Test {
 protected:
  void SetUp() override {
    folder.write("proc/self/cgroup", "0::/jobs/one\n");
    folder.write("proc/self/mountinfo", std::string("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n") + kUnifiedMount);
  }
  void limit(const std::string& cgroup, const std::string& text) {
    folder.write("sys/fs/cgroup/" + cgroup + "/cpu.max", text);
  }
  double quota() const { return detail::cgroup_quota(folder.path()); }
  TempFolder folder;
};

TEST_F(Unified, NoFileAndMaxAreNoQuota) {
  EXPECT_EQ(quota(), 0);
  limit("jobs/one", "max 100000\n");
  EXPECT_EQ(quota(), 0);
}

TEST_F(Unified, QuotaIsARatio) {
  limit("jobs/one", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(Unified, TheTightestAncestorCounts) {
  limit("jobs/one", "400000 100000\n");
  limit("jobs", "50000 100000\n");
  EXPECT_EQ(quota(), 0.5);
  limit("jobs", "max 100000\n");
  limit("", "300000 100000\n");
  EXPECT_EQ(quota(), 3);
  limit("jobs/one", "200000 100000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(Unified, OtherGroupsDoNotCount) {
  limit("other", "10000 100000\n");
  limit("jobs/one/child", "10000 100000\n");
  EXPECT_EQ(quota(), 0);
}

TEST_F(Unified, GarbageSetsNoLimit) {
  for (const char* garbage : {"", "x", "100000", "-5 100000", "100000 0", "100000 -1", "0 100000", "\n\n", "1e"}) {
    limit("jobs/one", garbage);
    EXPECT_EQ(quota(), 0) << garbage;
  }
}

TEST_F(Unified, AContainerSeesItsOwnRootOnly) {
  limit("", "250000 100000\n");
  folder.write("proc/self/cgroup", "0::/\n");
  EXPECT_EQ(quota(), 2.5);
  // The mount starts at our cgroup, so its path is relative to that.
  folder.write("proc/self/mountinfo", "30 23 0:26 /pod/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  folder.write("proc/self/cgroup", "0::/pod/x\n");
  EXPECT_EQ(quota(), 2.5);
  folder.write("proc/self/cgroup", "0::/../elsewhere\n");
  EXPECT_EQ(quota(), 2.5);
}

TEST(Cgroup, MissingAndBrokenFilesSetNoLimit) {
  TempFolder folder;
  EXPECT_EQ(detail::cgroup_quota(folder.path()), 0);
  folder.write("proc/self/mountinfo", "30 23 0:26\n - - -\n\n- cgroup2 x y\n");
  folder.write("proc/self/cgroup", "nonsense\n::::\n");
  EXPECT_EQ(detail::cgroup_quota(folder.path()), 0);
}

TEST(Cgroup, VersionOne) {
  TempFolder folder;
  folder.write("proc/self/cgroup", "5:cpuset:/\n4:cpu,cpuacct:/docker/abc\n0::/\n");
  folder.write("proc/self/mountinfo",
               "31 23 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
               "32 23 0:28 / /sys/fs/cgroup/cpu\\040time rw - cgroup cgroup rw,cpu,cpuacct\n");
  EXPECT_EQ(detail::cgroup_quota(folder.path()), 0);
  folder.write("sys/fs/cgroup/cpu time/docker/abc/cpu.cfs_period_us", "100000\n");
  folder.write("sys/fs/cgroup/cpu time/docker/abc/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(detail::cgroup_quota(folder.path()), 0);
  folder.write("sys/fs/cgroup/cpu time/docker/abc/cpu.cfs_quota_us", "350000\n");
  EXPECT_EQ(detail::cgroup_quota(folder.path()), 3.5);
  folder.write("sys/fs/cgroup/cpu time/docker/cpu.cfs_period_us", "50000\n");
  folder.write("sys/fs/cgroup/cpu time/docker/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(detail::cgroup_quota(folder.path()), 1);
}

TEST(Cpu, AQuotaIsRoundedUpAndNeverAddsCpus) {
  EXPECT_EQ(detail::usable_cpus(8, 0), 8);
  EXPECT_EQ(detail::usable_cpus(8, 1.5), 2);
  EXPECT_EQ(detail::usable_cpus(8, 2.0), 2);
  EXPECT_EQ(detail::usable_cpus(8, 0.1), 1);
  EXPECT_EQ(detail::usable_cpus(8, 64), 8);
  EXPECT_EQ(detail::usable_cpus(8, 1e300), 8);
}

TEST(Cpu, TheAffinityMaskIsRespected) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_LE(usable_cpus(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cpus(), 1);
  EXPECT_EQ(cpu_report().affinity_cpus, 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(Cpu, ReportNamesModelAndFeatures) {
  CpuReport x86;
  detail::read_cpuinfo("processor\t: 0\nmodel name\t: Example CPU @ 3GHz\nflags\t\t: fpu avx2 sse4_2 fma avx512_vnni\n",
                       x86);
  EXPECT_EQ(x86.model, "Example CPU @ 3GHz");
  EXPECT_EQ(x86.features, (std::vector<std::string>{"sse4_2", "avx2", "fma", "avx512_vnni"}));
  CpuReport arm;
  detail::read_cpuinfo("processor\t: 0\nFeatures\t: fp asimd evtstrm asimddp i8mm\nCPU implementer\t: 0x41\n", arm);
  EXPECT_EQ(arm.model, "unknown");
  EXPECT_EQ(arm.features, (std::vector<std::string>{"asimd", "asimddp", "i8mm"}));
  const CpuReport here = cpu_report();
  EXPECT_FALSE(here.model.empty());
  EXPECT_EQ(here.usable, usable_cpus());
  EXPECT_LE(here.usable, here.affinity_cpus);
}

}  // namespace
}  // namespace heed
