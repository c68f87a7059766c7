#include "heed/base/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "heed/base/cpu.h"
#include "heed/base/error.h"
#include "heed/base/memory.h"

namespace heed {
namespace {

thread_local int thread_limit = 0;  // 0: no ThreadLimit alive

constexpr std::int64_t kMostRanges = 16;  // of a thread

// The next of a thread's ranges that nobody has taken, on a cache line of its own.
struct alignas(64) Next {
  std::atomic<std::int64_t> range = 0;
};

}  // namespace

int available_threads() {
  static const int threads = usable_cpus();
  return threads;
}

int current_threads() {
  return thread_limit > 0 ? thread_limit : available_threads();
}

ThreadLimit::ThreadLimit(int threads) : previous_(thread_limit) {
  HEED_CHECK(threads >= 1, "[ThreadLimit] threads is ", threads, ", expected at least 1");
  thread_limit = threads;
}

ThreadLimit::~ThreadLimit() {
  thread_limit = previous_;
}

void detail::parallel_ranges(std::int64_t count, std::int64_t grain, const void* body, RangeBody call) {
  if (count <= 0) return;
  const std::int64_t most = std::max<std::int64_t>(1, count / std::max<std::int64_t>(1, grain));
  const int threads = static_cast<int>(std::min<std::int64_t>(most, current_threads()));
  if (threads == 1 || omp_in_parallel()) return call(body, 0, count);

  const std::int64_t per_thread = std::min(most / threads, kMostRanges), ranges = threads * per_thread;
  PoolVector<Next> next(static_cast<std::size_t>(threads));
  std::exception_ptr first_error;
  std::int64_t error_range = ranges;
  const auto run = [&](std::int64_t range) {
    try {
      call(body, count * range / ranges, count * (range + 1) / ranges);
    } catch (...) {
#pragma omp critical(heed_parallel_error)
      if (range < error_range) {
        error_range = range;
        first_error = std::current_exception();
      }
    }
  };
#pragma omp parallel num_threads(threads)
  {
    // The run time may grant fewer threads than asked for; they take all ranges nevertheless.
    for (int i = 0; i < threads; ++i) {
      const int owner = (omp_get_thread_num() + i) % threads;
      std::atomic<std::int64_t>& taken = next[static_cast<std::size_t>(owner)].range;
      for (std::int64_t j = taken++; j < per_thread; j = taken++) run(owner * per_thread + j);
    }
  }
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace heed
