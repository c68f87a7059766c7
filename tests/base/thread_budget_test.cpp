#include "heed/base/thread_budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

TEST(ThreadBudget, ACallerAloneTakesWhatItMayUse) {
  ThreadBudget budget(4);
  {
    ThreadLimit limit(8);
    ThreadShare share(budget);
    EXPECT_EQ(current_threads(), 4);
    EXPECT_EQ(budget.taken(), 4);
  }
  EXPECT_EQ(budget.taken(), 0);
  {
    ThreadLimit limit(3);
    ThreadShare share(budget);
    EXPECT_EQ(current_threads(), 3);
  }
  EXPECT_EQ(ThreadBudget::process().threads(), available_threads());
  EXPECT_THROW(ThreadBudget(0), Error);
}

TEST(ThreadBudget, AShareWithinAShareTakesNothing) {
  ThreadBudget budget(2), other(2);
  ThreadLimit limit(2);
  ThreadShare outer(budget);
  {
    ThreadShare different(other);
    EXPECT_EQ(other.taken(), 2);
    ThreadLimit one(1);
    ThreadShare inner(budget);  // would wait for itself forever
    EXPECT_EQ(current_threads(), 1);
    EXPECT_EQ(budget.taken(), 2);
  }
  EXPECT_EQ(current_threads(), 2);
  EXPECT_EQ(budget.taken(), 2);
}

TEST(ThreadBudget, WhatIsFreeIsDividedAmongThoseInLine) {
  ThreadBudget budget(8);
  std::vector<std::thread> callers;
  std::vector<int> shares(3);
  std::atomic<int> served = 0;
  {
    ThreadLimit limit(8);
    ThreadShare all(budget);
    for (int& share : shares) {
      callers.emplace_back([&] {
        ThreadLimit each(8);
        ThreadShare mine(budget);
        share = current_threads();
        ++served;
        while (served < 3) std::this_thread::yield();  // all three at the same time
      });
    }
    while (budget.waiting() < 3) std::this_thread::yield();
    EXPECT_EQ(served, 0);
  }
  for (std::thread& caller : callers) caller.join();
  std::ranges::sort(shares);
  EXPECT_EQ(shares, (std::vector<int>{2, 3, 3}));
  EXPECT_EQ(budget.taken(), 0);
}

TEST(ThreadBudget, ThreadsInParallelLoopsNeverExceedTheBudget) {
  constexpr int kBudget = 3;
  ThreadBudget budget(kBudget);
  std::atomic<int> busy = 0, most = 0;
  std::vector<std::int64_t> sums(6);
  std::vector<std::thread> callers;
  for (std::int64_t& sum : sums) {
    callers.emplace_back([&] {
      ThreadLimit limit(4);
      for (int round = 0; round < 20; ++round) {
        ThreadShare share(budget);
        std::vector<std::int64_t> items(100);
        parallel_for(100, 1, [&](std::int64_t begin, std::int64_t end) {
          const int now = ++busy;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          for (std::int64_t i = begin; i < end; ++i) items[static_cast<std::size_t>(i)] = i * i;
          --busy;
        });
        for (const std::int64_t item : items) sum += item;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const std::int64_t sum : sums) EXPECT_EQ(sum, 20 * 328350);
  EXPECT_LE(most, kBudget);
  EXPECT_EQ(budget.taken(), 0);
}

// One caller comes back again and again; another that waits gets its turn.
TEST(ThreadBudget, AThreadThatWaitsIsServedBeforeLaterOnes) {
  ThreadBudget budget(1);
  std::atomic<bool> served = false;
  std::optional<ThreadShare> held(std::in_place, budget);
  std::thread other([&] {
    ThreadShare share(budget);
    served = true;
  });
  while (budget.waiting() < 1) std::this_thread::yield();
  held.reset();
  {
    ThreadShare again(budget);
    EXPECT_TRUE(served);
  }
  other.join();
}

}  // namespace
}  // namespace heed
