// What the machine can do at best, measured beside what is compared with it.
#pragma once

namespace heed::kernels {

// Fused multiply-adds in registers, f32, in GFLOP/s over all `threads` together. Takes about 10 ms.
double peak_gflops(int threads);

// Sequential reads of memory far larger than the caches, in GB/s over all `threads` together. Takes about 0.1 s.
double read_bandwidth_gb(int threads);

}  // namespace heed::kernels
