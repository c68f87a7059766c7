#include "heed/base/thread_budget.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {
namespace {

thread_local const ThreadShare* innermost_share = nullptr;

}  // namespace

ThreadBudget::ThreadBudget(int threads) : threads_(threads), free_(threads) {
  HEED_CHECK(threads >= 1, "[ThreadBudget] ", threads, " threads, expected at least 1");
}

ThreadBudget& ThreadBudget::process() {
  static ThreadBudget budget(available_threads());
  return budget;
}

int ThreadBudget::taken() const {
  std::lock_guard lock(mutex_);
  return threads_ - free_;
}

int ThreadBudget::waiting() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(arrived_ - served_);
}

int ThreadBudget::take(int most) {
  std::unique_lock lock(mutex_);
  const std::uint64_t place = arrived_++;
  changed_.wait(lock, [&] { return place == served_ && free_ > 0; });
  const auto in_line = static_cast<int>(std::min<std::uint64_t>(arrived_ - served_, static_cast<std::uint64_t>(free_)));
  const int share = std::min(most, (free_ + in_line - 1) / in_line);
  free_ -= share;
  ++served_;
  changed_.notify_all();
  return share;
}

void ThreadBudget::give_back(int threads) {
  std::lock_guard lock(mutex_);
  free_ += threads;
  changed_.notify_all();
}

ThreadShare::ThreadShare(ThreadBudget& budget) : budget_(budget), outer_(innermost_share) {
  const ThreadShare* held = outer_;
  while (held && &held->budget_ != &budget) held = held->outer_;
  if (!held) {
    taken_ = budget_.take(current_threads());
    limit_.emplace(taken_);
  }
  innermost_share = this;
}

ThreadShare::~ThreadShare() {
  innermost_share = outer_;
  limit_.reset();
  if (taken_ > 0) budget_.give_back(taken_);
}

}  // namespace heed
