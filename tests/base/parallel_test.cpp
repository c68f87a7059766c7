#include "heed/base/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

TEST(Parallel, RangesCoverEveryItemOnce) {
  for (int threads = 1; threads <= 4; ++threads) {
    ThreadLimit limit(threads);
    for (std::int64_t count : {0, 1, 2, 3, 7, 100, 1001}) {
      std::vector<int> seen(static_cast<std::size_t>(count), 0);
      parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
      });
      for (int times : seen) EXPECT_EQ(times, 1);
    }
  }
}

TEST(Parallel, GrainKeepsSmallWorkTogether) {
  ThreadLimit limit(4);
  std::atomic<int> ranges{0};
  parallel_for(100, 60, [&](std::int64_t, std::int64_t) { ++ranges; });
  EXPECT_EQ(ranges, 1);
  ranges = 0;
  parallel_for(100, 25, [&](std::int64_t, std::int64_t) { ++ranges; });
  EXPECT_EQ(ranges, 4);
}

// The thread that has item 0 waits until the 7 others are done, which only the other thread can do.
TEST(Parallel, AThreadThatIsDoneHelpsTheOthers) {
  ThreadLimit limit(2);
  std::atomic<std::int64_t> done{0}, found{0};
  parallel_for(8, 1, [&](std::int64_t begin, std::int64_t end) {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (begin == 0 && done < 7 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    if (begin == 0) found = done.load();
    done += end - begin;
  });
  EXPECT_EQ(found, 7);
  EXPECT_EQ(done, 8);
}

// Other work on the machine needs the CPU that a waiting thread would burn.
TEST(Parallel, ThreadsThatWaitLeaveTheCpu) {
  ThreadLimit limit(2);
  const auto loop = [] {
    parallel_for(2, 1, [](std::int64_t, std::int64_t) { std::this_thread::sleep_for(std::chrono::microseconds(100)); });
  };
  loop();
  const std::clock_t before = std::clock();  // of all threads of this process
  for (int i = 0; i < 30; ++i) {
    loop();
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.02);  // of 0.09 s
}

// Callers share the helpers; each gets its work done, with help or without.
TEST(Parallel, ManyCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<std::int64_t> sum{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 500; ++repeat) {
        ThreadLimit limit(1 + repeat % 5);
        std::vector<std::int64_t> items(64, 0);
        parallel_for(64, 1, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) items[static_cast<std::size_t>(i)] += i;
        });
        for (const std::int64_t item : items) sum += item;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 500 * 2016);
}

// Helpers do not follow into a child process. (Not for the thread sanitizer, which allows no threads there.)
TEST(Fork, LoopsRunInTheChild) {
  ThreadLimit limit(3);
  const auto count = [] {
    std::atomic<std::int64_t> sum{0};
    parallel_for(100, 1, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    return sum.load();
  };
  ASSERT_EQ(count(), 100);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(count() == 100 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Parallel, NestedCallsRunInsideTheirRange) {
  ThreadLimit limit(3);
  std::atomic<std::int64_t> sum{0};
  parallel_for(3, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      parallel_for(10, 1, [&](std::int64_t b, std::int64_t e) { sum += e - b; });
    }
  });
  EXPECT_EQ(sum, 30);
}

TEST(Parallel, TheErrorOfTheLowestRangeIsThrown) {
  ThreadLimit limit(4);
  for (int repeat = 0; repeat < 20; ++repeat) {
    try {
      parallel_for(4, 1, [&](std::int64_t begin, std::int64_t) {
        if (begin >= 1) fail(ErrorKind::internal, "range ", begin);
      });
      FAIL() << "expected an error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "range 1");
    }
  }
}

TEST(Parallel, LimitsNestAndAreChecked) {
  const int outside = current_threads();
  {
    ThreadLimit three(3);
    EXPECT_EQ(current_threads(), 3);
    {
      ThreadLimit one(1);
      EXPECT_EQ(current_threads(), 1);
    }
    EXPECT_EQ(current_threads(), 3);
  }
  EXPECT_EQ(current_threads(), outside);
  EXPECT_THROW(ThreadLimit(0), Error);
}

}  // namespace
}  // namespace heed
