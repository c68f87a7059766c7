// Parallel loops: which thread does an item never changes what the item computes (law 1).
//
// The default thread count is what this process may really use: its CPU affinity mask and its cgroup quota, whichever
// is smaller. ThreadLimit sets another count for the calls made by the current thread while it lives.
#pragma once

#include <cstdint>
#include <type_traits>

namespace heed {

// CPUs this process may use, from affinity and cgroup (v1 and v2) quota, at least 1. Read once.
int available_threads();

// The count that parallel_for uses now on this thread: the innermost ThreadLimit, else available_threads().
int current_threads();

// While it lives, parallel_for on this thread uses `threads` (at least 1; more than the machine has is allowed).
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int previous_;
};

namespace detail {
using RangeBody = void (*)(const void* body, std::int64_t begin, std::int64_t end);
void parallel_ranges(std::int64_t count, std::int64_t grain, const void* body, RangeBody call);
}  // namespace detail

// Calls body(begin, end) on disjoint ranges of at least `grain` items that cover [0, count): small work stays on the
// calling thread. A thread that is done with its own ranges helps the others, since cores are not equally fast. Nested
// calls run serially. The first exception (of the lowest range) is thrown again on the calling thread after all ended.
template <class Body>
void parallel_for(std::int64_t count, std::int64_t grain, const Body& body) {
  detail::parallel_ranges(count, grain, &body, [](const void* b, std::int64_t begin, std::int64_t end) {
    (*static_cast<const Body*>(b))(begin, end);
  });
}

}  // namespace heed
