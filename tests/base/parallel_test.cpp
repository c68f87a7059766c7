#include "heed/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
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

// Whoever has item 0 waits until the 7 others are done, which only the other thread can do.
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
