#include "heed/base/cpu.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "heed/kernels/target.h"
#include "verbs.h"

namespace heed::cli {
namespace {

int cpu() {
  const CpuReport report = cpu_report();
  fmt::print("CPU          {}\n", report.model);
  fmt::print("features     {}\n", fmt::join(report.features, " "));
  const std::string asked = kernels::set_target_by_environment();
  fmt::print("kernels use  {}{} (available: {}; the environment variable HEED_TARGET chooses)\n",
             kernels::target_name(), asked.empty() ? "" : fmt::format(", as HEED_TARGET={} says", asked),
             fmt::join(kernels::available_targets(), ", "));
  fmt::print("threads      {} (affinity {}{})\n", report.usable, report.affinity_cpus,
             report.quota_cpus > 0 ? fmt::format(", cgroup quota {:.2f}", report.quota_cpus) : ", no cgroup quota");
  return 0;
}

}  // namespace

void add_cpu(CLI::App& app, int& result) {
  app.add_subcommand("cpu", "show what this machine offers and which instruction set the kernels use")
      ->callback([&result] { result = cpu(); });
}

}  // namespace heed::cli
