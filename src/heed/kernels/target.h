// The instruction set that run-time dispatch chose.
#pragma once

#include <string>
#include <vector>

namespace heed::kernels {

// "AVX2", "AVX3" (AVX-512), "NEON", "EMU128" (no vectors) ...: what the kernels run on this CPU.
std::string target_name();

// Names of all instruction sets that are compiled in and that this CPU has, best first.
std::vector<std::string> available_targets();

// Restricts the dispatch to one of available_targets(), in upper or lower case, or "avx512"; "" restores the best. Not
// thread-safe against running kernels: call it first.
void set_target(const std::string& name);

// set_target() by the environment variable HEED_TARGET, so that a program gives the results of another machine. Returns
// what it says, "" if it is not set.
std::string set_target_by_environment();

}  // namespace heed::kernels
