// The instruction set that run-time dispatch chose.
#pragma once

#include <string>
#include <vector>

namespace heed::kernels {

// "AVX2", "AVX3" (AVX-512), "NEON", "SSE2" ...: what the kernels run on this CPU.
std::string target_name();

// Names of all instruction sets that are compiled in and that this CPU has, best first.
std::vector<std::string> available_targets();

// Restricts the dispatch to one of available_targets(); "" restores the best. For tests and benchmarks; not
// thread-safe against running kernels.
void set_target(const std::string& name);

}  // namespace heed::kernels
