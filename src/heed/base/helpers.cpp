#include "heed/base/helpers.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "heed/base/memory.h"
#include "heed/base/parallel.h"

namespace heed::detail {
namespace {

// How long a thread watches for news before it sleeps. To sleep and be woken takes some microseconds, which many short
// loops one after the other would feel; to watch for longer takes time from other processes.
constexpr std::chrono::microseconds kPatience(50);

constexpr int kMostHelpers = 1024;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether it happens soon.
template <class Happened>
bool watch_for(const Happened& happened) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    for (int i = 0; i < 16; ++i) {
      if (happened()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// Moves this thread to another of the CPUs that it may use. The system may put a thread that wakes beside the one that
// woke it and see only milliseconds later that the next CPU is idle: by then a short loop is over.
void leave_cpu(int cpu) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<std::size_t>(cpu), &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  static_cast<void>(sched_setaffinity(0, sizeof allowed, &allowed));
}

// One thread. Its state is one word: what it does, and how often it was called, so that a caller knows its own call.
//
//   idle or asleep -> claimed -> called -> working or awaited -> idle        the way of a call that it answers
//                                called -> idle                              the caller was done first
class Helper {
 public:
  Helper() {
    std::thread([this] { run(); }).detach();
  }

  // Asks for help with the work: the state that dismiss() wants, or nothing if it is busy.
  std::optional<std::uint32_t> call(SharedWork& work, int number) {
    std::uint32_t state = state_.load(std::memory_order_relaxed);
    while (phase(state) == kIdle || phase(state) == kAsleep) {
      const std::uint32_t claimed = with(state + kNextCall, kClaimed), called = with(claimed, kCalled);
      if (!state_.compare_exchange_weak(state, claimed, std::memory_order_acquire, std::memory_order_relaxed)) continue;
      work_ = &work;
      number_ = number;
      caller_cpu_ = sched_getcpu();
      state_.store(called, std::memory_order_release);
      if (phase(state) == kAsleep) state_.notify_all();
      return called;
    }
    return {};
  }

  // Returns when it is not at that call's work: because it never began, or because it is done.
  void dismiss(std::uint32_t called) {
    std::uint32_t state = called;
    if (state_.compare_exchange_strong(state, with(called, kIdle), std::memory_order_acq_rel)) return;
    const std::uint32_t working = with(called, kWorking), awaited = with(called, kAwaited);
    if (watch_for([&] { return state_.load(std::memory_order_acquire) != working; })) return;
    state = working;
    if (state_.compare_exchange_strong(state, awaited, std::memory_order_acq_rel)) {
      state_.wait(awaited, std::memory_order_acquire);
    }
  }

 private:
  enum Phase : std::uint32_t { kIdle, kAsleep, kClaimed, kCalled, kWorking, kAwaited };
  static constexpr std::uint32_t kNextCall = 8;  // phases are the lowest three bits
  static Phase phase(std::uint32_t state) { return static_cast<Phase>(state % kNextCall); }
  static std::uint32_t with(std::uint32_t state, Phase phase) { return state / kNextCall * kNextCall + phase; }

  [[noreturn]] void run() {
    for (;;) {
      if (!watch_for([&] { return phase(state_.load(std::memory_order_relaxed)) == kCalled; })) sleep();
      std::uint32_t state = state_.load(std::memory_order_relaxed);
      if (phase(state) != kCalled) continue;
      if (!state_.compare_exchange_strong(state, with(state, kWorking), std::memory_order_acq_rel)) continue;
      if (const int cpu = sched_getcpu(); cpu >= 0 && cpu == caller_cpu_) leave_cpu(cpu);
      work_->take_part(number_);
      const std::uint32_t before = state_.exchange(with(state, kIdle), std::memory_order_acq_rel);
      if (phase(before) == kAwaited) state_.notify_all();
    }
  }

  void sleep() {
    std::uint32_t state = state_.load(std::memory_order_relaxed);
    if (phase(state) != kIdle) return;
    const std::uint32_t asleep = with(state, kAsleep);
    if (state_.compare_exchange_strong(state, asleep, std::memory_order_relaxed)) state_.wait(asleep);
  }

  alignas(64) std::atomic<std::uint32_t> state_ = kIdle;
  // Of the last call; written between claimed and called.
  SharedWork* work_ = nullptr;
  int number_ = 0;
  int caller_cpu_ = -1;
};

// All helpers of the process. They and their list live until it ends: a thread may wait in one of them while static
// objects are destroyed.
class Crew {
 public:
  static Crew& process() {
    static const bool watched = pthread_atfork(nullptr, nullptr, [] { current() = new Crew; }) == 0;
    static_cast<void>(watched);
    return *current();
  }

  int size() const { return size_.load(std::memory_order_acquire); }
  Helper& operator[](int index) { return *list_[static_cast<std::size_t>(index)]; }

  // One helper more, if there are fewer than that and the system has a thread for it.
  bool grow(int most) {
    const std::lock_guard lock(growing_);
    const int size = size_.load(std::memory_order_relaxed);
    if (size >= std::min(most, kMostHelpers)) return false;
    try {
      list_[static_cast<std::size_t>(size)] = new Helper;
    } catch (const std::system_error&) {  // the threads that are there do the work
      return false;
    }
    size_.store(size + 1, std::memory_order_release);
    return true;
  }

 private:
  // Threads do not follow a process into its fork: a child begins with a crew of its own.
  static Crew*& current() {
    static Crew* crew = new Crew;
    return crew;
  }

  std::mutex growing_;
  std::atomic<int> size_ = 0;
  std::array<Helper*, kMostHelpers> list_ = {};
};

struct Call {
  Helper* helper;
  std::uint32_t called;
};

}  // namespace

void work_with_helpers(SharedWork& work, int helpers) {
  Crew& crew = Crew::process();
  // Callers that work at the same time share the CPUs; only one that asks for more than there are gets more.
  const int most = std::max(helpers, available_threads() - 1);
  PoolVector<Call> calls;
  calls.reserve(static_cast<std::size_t>(helpers));
  for (int i = 0; std::ssize(calls) < helpers; ++i) {
    if (i == crew.size() && !crew.grow(most)) break;
    const int number = static_cast<int>(std::ssize(calls)) + 1;
    if (const auto called = crew[i].call(work, number)) calls.push_back({&crew[i], *called});
  }
  work.take_part(0);
  for (const Call& each : calls) each.helper->dismiss(each.called);
}

}  // namespace heed::detail
