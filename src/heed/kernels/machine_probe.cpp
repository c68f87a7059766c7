#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/machine_probe.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Twelve chains hide the latency of the multiply-add on all CPUs that have two units for it. The number of flops goes
// to *flops; the result keeps the compiler from leaving the work out.
float multiply_add_chains(std::int64_t steps, float start, double* flops) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, 0.999f), b = hn::Set(d, 0.001f), c = hn::Set(d, start);
  // Starts that the compiler does not know: it would leave out a chain that stands still.
  auto c0 = c, c1 = hn::Add(c0, c), c2 = hn::Add(c1, c), c3 = hn::Add(c2, c), c4 = hn::Add(c3, c), c5 = hn::Add(c4, c);
  auto c6 = hn::Add(c5, c), c7 = hn::Add(c6, c), c8 = hn::Add(c7, c), c9 = hn::Add(c8, c), c10 = hn::Add(c9, c);
  auto c11 = hn::Add(c10, c);
  for (std::int64_t i = 0; i < steps; ++i) {
    c0 = hn::MulAdd(c0, a, b), c1 = hn::MulAdd(c1, a, b), c2 = hn::MulAdd(c2, a, b), c3 = hn::MulAdd(c3, a, b);
    c4 = hn::MulAdd(c4, a, b), c5 = hn::MulAdd(c5, a, b), c6 = hn::MulAdd(c6, a, b), c7 = hn::MulAdd(c7, a, b);
    c8 = hn::MulAdd(c8, a, b), c9 = hn::MulAdd(c9, a, b), c10 = hn::MulAdd(c10, a, b), c11 = hn::MulAdd(c11, a, b);
  }
  *flops = 2.0 * 12 * static_cast<double>(steps) * static_cast<double>(hn::Lanes(d));
  const auto s0 = hn::Add(hn::Add(hn::Add(c0, c1), hn::Add(c2, c3)), hn::Add(hn::Add(c4, c5), hn::Add(c6, c7)));
  return hn::GetLane(hn::Add(s0, hn::Add(hn::Add(c8, c9), hn::Add(c10, c11))));
}

float read_all(const float* data, std::size_t count) {
  const hn::ScalableTag<float> d;
  auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i + 4 * lanes <= count; i += 4 * lanes) {
    s0 = hn::Add(s0, hn::LoadU(d, data + i));
    s1 = hn::Add(s1, hn::LoadU(d, data + i + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, data + i + 2 * lanes));
    s3 = hn::Add(s3, hn::LoadU(d, data + i + 3 * lanes));
  }
  return hn::GetLane(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/machine_probe.h"

namespace heed::kernels {
HWY_EXPORT(multiply_add_chains);
HWY_EXPORT(read_all);

namespace {

std::atomic<float> sink;

template <class Body>
double seconds_of(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

double peak_gflops(int threads) {
  const ThreadLimit limit(threads);
  constexpr std::int64_t kSteps = 100'000;
  std::vector<double> flops(static_cast<std::size_t>(threads));
  double best = 0;
  for (int round = 0; round < 24; ++round) {
    const double time = seconds_of([&] {
      parallel_for(threads, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          double done = 0;
          sink = HWY_DYNAMIC_DISPATCH(multiply_add_chains)(kSteps, 0.1f + sink, &done);
          flops[static_cast<std::size_t>(i)] = done;
        }
      });
    });
    best = std::max(best, flops[0] * threads / time * 1e-9);
  }
  return best;
}

double read_bandwidth_gb(int threads) {
  const ThreadLimit limit(threads);
  static const std::vector<float> data(std::size_t{1} << 26, 1.0f);  // 256 MiB
  double best = 0;
  for (int round = 0; round < 4; ++round) {
    const double time = seconds_of([&] {
      parallel_for(std::ssize(data), 1, [&](std::int64_t begin, std::int64_t end) {
        sink = HWY_DYNAMIC_DISPATCH(read_all)(data.data() + begin, static_cast<std::size_t>(end - begin));
      });
    });
    best = std::max(best, static_cast<double>(data.size() * sizeof(float)) / time * 1e-9);
  }
  return best;
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
