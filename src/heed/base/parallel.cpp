#include "heed/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include "heed/base/cpu.h"
#include "heed/base/error.h"
#include "heed/base/helpers.h"
#include "heed/base/memory.h"

namespace heed {
namespace {

thread_local int thread_limit = 0;  // 0: no ThreadLimit alive
thread_local bool inside_loop = false;

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

namespace {

// All ranges of one call of parallel_for.
class Loop final : public detail::SharedWork {
 public:
  Loop(std::int64_t count, std::int64_t per_thread, int threads, const void* body, detail::RangeBody call)
      : count_(count),
        per_thread_(per_thread),
        ranges_(threads * per_thread),
        threads_(threads),
        body_(body),
        call_(call),
        next_(static_cast<std::size_t>(threads)) {}

  // Takes the thread's own ranges, then those that others have left.
  void take_part(int number) noexcept override {
    const bool outside = std::exchange(inside_loop, true);
    for (int i = 0; i < threads_; ++i) {
      const int owner = (number + i) % threads_;
      std::atomic<std::int64_t>& taken = next_[static_cast<std::size_t>(owner)].range;
      for (std::int64_t j = taken++; j < per_thread_; j = taken++) run(owner * per_thread_ + j);
    }
    inside_loop = outside;
  }

  void rethrow() const {
    if (first_error_) std::rethrow_exception(first_error_);
  }

 private:
  void run(std::int64_t range) noexcept {
    try {
      call_(body_, count_ * range / ranges_, count_ * (range + 1) / ranges_);
    } catch (...) {
      const std::lock_guard lock(failing_);
      if (first_error_ && error_range_ < range) return;
      error_range_ = range;
      first_error_ = std::current_exception();
    }
  }

  const std::int64_t count_, per_thread_, ranges_;
  const int threads_;
  const void* const body_;
  const detail::RangeBody call_;
  PoolVector<Next> next_;
  std::mutex failing_;
  std::int64_t error_range_ = 0;
  std::exception_ptr first_error_;
};

}  // namespace

void detail::parallel_ranges(std::int64_t count, std::int64_t grain, const void* body, RangeBody call) {
  if (count <= 0) return;
  const std::int64_t most = std::max<std::int64_t>(1, count / std::max<std::int64_t>(1, grain));
  const int threads = static_cast<int>(std::min<std::int64_t>(most, current_threads()));
  if (threads == 1 || inside_loop) return call(body, 0, count);
  Loop loop(count, std::min(most / threads, kMostRanges), threads, body, call);
  work_with_helpers(loop, threads - 1);
  loop.rethrow();
}

}  // namespace heed
