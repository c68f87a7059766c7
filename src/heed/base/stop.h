// Cancellation. The side that may end a computation holds a StopSource; the computation holds its token and asks at
// places where it can stop without harm.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "heed/base/error.h"

namespace heed {

// Cheap to copy; safe to ask from any thread. A default token never stops.
class StopToken {
 public:
  using Clock = std::chrono::steady_clock;

  StopToken() = default;

  // The same token, which also stops at `deadline` (or at its own, if that is earlier).
  StopToken with_deadline(Clock::time_point deadline) const {
    StopToken token = *this;
    token.deadline_ = std::min(deadline_, deadline);
    return token;
  }

  bool stop_requested() const { return is_cancelled() || is_late(); }

  // Throws kind cancelled if it is to stop; `where` starts the message: "[decode]".
  void check(const char* where) const {
    HEED_CHECK_AS(cancelled, !is_cancelled(), where, " cancelled");
    HEED_CHECK_AS(cancelled, !is_late(), where, " cancelled: the deadline has passed");
  }

 private:
  friend class StopSource;
  explicit StopToken(std::shared_ptr<const std::atomic<bool>> stopped) : stopped_(std::move(stopped)) {}

  bool is_cancelled() const { return stopped_ && stopped_->load(std::memory_order_relaxed); }
  bool is_late() const { return deadline_ != Clock::time_point::max() && Clock::now() >= deadline_; }

  std::shared_ptr<const std::atomic<bool>> stopped_;
  Clock::time_point deadline_ = Clock::time_point::max();
};

class StopSource {
 public:
  StopToken token() const { return StopToken(stopped_); }

  // May be called from any thread and from a signal handler, any number of times.
  void request_stop() const noexcept {
    static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers need it");
    stopped_->store(true, std::memory_order_relaxed);
  }

 private:
  std::shared_ptr<std::atomic<bool>> stopped_ = std::make_shared<std::atomic<bool>>(false);
};

// What a thread is to stop by, for as long as the scope lives; the innermost scope counts. Every call of the library
// asks:
//   const StopScope scope(source.token());
//   heed::embed(model, texts);      // throws cancelled soon after source.request_stop()
class StopScope {
 public:
  explicit StopScope(StopToken token) : outer_(std::exchange(slot(), std::move(token))) {}
  ~StopScope() { slot() = std::move(outer_); }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  static const StopToken& current() { return slot(); }

 private:
  static StopToken& slot() {
    thread_local StopToken token;
    return token;
  }
  StopToken outer_;
};

}  // namespace heed
