// A number of threads that several callers share, so that requests served at the same time do not each use all CPUs.
//
//   ThreadShare share(ThreadBudget::process());   // waits for its turn
//   model.forward(...);                           // parallel_for uses the threads of the share
//
// How many threads a caller gets changes when it is done, never what it computes (law 1).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "heed/base/parallel.h"

namespace heed {

class ThreadBudget {
 public:
  explicit ThreadBudget(int threads);
  // The one of this process: available_threads().
  static ThreadBudget& process();

  int threads() const { return threads_; }
  // In shares now: at most threads().
  int taken() const;
  // Callers in line.
  int waiting() const;

 private:
  friend class ThreadShare;
  // Waits in line until a thread is free. What is free is divided among those in line, so that the first does not take
  // everything while others wait; `most` bounds the share.
  int take(int most);
  void give_back(int threads);

  const int threads_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int free_;
  std::uint64_t arrived_ = 0, served_ = 0;  // callers are served in the order they arrive
};

// While it lives, parallel_for on this thread uses the threads of the share: at least 1, at most what current_threads()
// was. A share within a share of the same budget on the same thread takes nothing more and changes nothing.
class ThreadShare {
 public:
  explicit ThreadShare(ThreadBudget& budget);
  ~ThreadShare();
  ThreadShare(const ThreadShare&) = delete;
  ThreadShare& operator=(const ThreadShare&) = delete;

 private:
  ThreadBudget& budget_;
  const ThreadShare* outer_;  // the thread's innermost share before this one
  int taken_ = 0;             // 0: uses that of an outer share
  std::optional<ThreadLimit> limit_;
};

}  // namespace heed
