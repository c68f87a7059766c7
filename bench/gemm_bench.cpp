// Matrix products of heed and its peers, with the fraction of the peak that the machine reached just before.
#include <benchmark/benchmark.h>

#include "bench/gemm_run.h"
#include "heed/kernels/machine_probe.h"

namespace heed::bench {
namespace {

void run_gemm(benchmark::State& state, const std::string& library, const GemmCase& gemm) {
  const auto run = prepare_gemm(library, gemm);
  const double peak = kernels::peak_gflops(gemm.threads);
  for (auto _ : state) run->run();
  const double giga = gemm.flops() * static_cast<double>(state.iterations()) * 1e-9;
  state.counters["gflops"] = benchmark::Counter(giga, benchmark::Counter::kIsRate);
  state.counters["of_peak"] = benchmark::Counter(giga / peak, benchmark::Counter::kIsRate);
}

const bool registered = [] {
  for (const GemmCase& shape : gemm_shapes()) {
    for (const int threads : {1, 2}) {
      for (const std::string& library : gemm_libraries()) {
        GemmCase gemm = shape;
        gemm.threads = threads;
        const std::string name = "gemm/" + std::to_string(gemm.M) + "x" + std::to_string(gemm.N) + "x" +
                                 std::to_string(gemm.K) + "/" + std::to_string(threads) + "T/" + library;
        benchmark::RegisterBenchmark(name.c_str(), run_gemm, library, gemm)->UseRealTime();
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace heed::bench
