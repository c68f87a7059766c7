#include "heed/base/parallel.h"

#include <omp.h>

#include <algorithm>
#include <exception>

#include "heed/base/cpu.h"
#include "heed/base/error.h"

namespace heed {
namespace {

thread_local int thread_limit = 0;  // 0: no ThreadLimit alive

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

  std::exception_ptr first_error;
  int error_range = threads;
#pragma omp parallel num_threads(threads)
  {
    // The run time may grant fewer threads than asked for; the ranges are fixed by what was asked for.
    for (int range = omp_get_thread_num(); range < threads; range += omp_get_num_threads()) {
      try {
        call(body, count * range / threads, count * (range + 1) / threads);
      } catch (...) {
#pragma omp critical(heed_parallel_error)
        if (range < error_range) {
          error_range = range;
          first_error = std::current_exception();
        }
      }
    }
  }
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace heed
