// Every op of the table of cases (tests/ops), forward and forward + backward, at the shapes of real models. Products
// are given as a fraction of the FMA peak, everything else as a fraction of the memory bandwidth, both measured just
// before.
#include <benchmark/benchmark.h>

#include "heed/base/parallel.h"
#include "heed/kernels/machine_probe.h"
#include "heed/tensor/autograd.h"
#include "ops/op_case.h"

namespace heed::bench {
namespace {

// The least that must cross the memory bus: every input read, the output written, once.
double bytes_moved(std::span<const Tensor> inputs, const Tensor& output) {
  auto bytes = [](const Tensor& t) { return static_cast<double>(t.count() * element_size(t.dtype())); };
  double total = bytes(output);
  for (const Tensor& input : inputs) total += bytes(input);
  return total;
}

void run_op(benchmark::State& state, const testing::OpCase& c, int threads, bool with_backward) {
  ThreadLimit limit(threads);
  std::vector<Tensor> inputs;
  for (const Tensor& input : make_inputs(c)) {
    const bool value = input.dtype() == DType::f64;
    inputs.push_back(value ? input.detached_to(DType::f32) : input);
    if (value && with_backward) inputs.back().set_requires_grad();
  }
  const Tensor output = c.run(inputs).detach();
  const Tensor upstream = Tensor::full(output.shape(), 1.0);
  const double limit_of_machine = c.flops > 0 ? kernels::peak_gflops(threads) : kernels::read_bandwidth_gb(threads);
  for (auto _ : state) {
    const Tensor y = c.run(inputs);
    if (with_backward) {
      backward(y, upstream);
      for (Tensor& input : inputs) input.clear_grad();
    }
  }
  // Backward of a product is two products.
  const double work = (c.flops > 0 ? c.flops : bytes_moved(inputs, output)) * (with_backward ? 3 : 1);
  const double giga = work * static_cast<double>(state.iterations()) * 1e-9;
  state.counters[c.flops > 0 ? "gflops" : "gbytes"] = benchmark::Counter(giga, benchmark::Counter::kIsRate);
  state.counters["of_limit"] = benchmark::Counter(giga / limit_of_machine, benchmark::Counter::kIsRate);
}

const bool registered = [] {
  for (const testing::OpCase& c : testing::op_cases(testing::CaseSize::large)) {
    for (const int threads : {1, 2}) {
      for (const bool with_backward : {false, true}) {
        const std::string name = "op/" + c.op + "/" + c.name + "/" + std::to_string(threads) + "T" +
                                 (with_backward ? "/forward+backward" : "/forward");
        benchmark::RegisterBenchmark(name.c_str(), run_op, c, threads, with_backward)->UseRealTime();
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace heed::bench
