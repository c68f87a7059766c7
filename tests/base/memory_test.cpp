#include "heed/base/memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "heed/base/parallel.h"

namespace heed {
namespace {

TEST(Memory, BlocksAreAlignedAndWritableForEverySize) {
  for (std::size_t bytes : {0u, 1u, 63u, 64u, 65u, 127u, 128u, 129u, 1000u, 4096u, 4097u, 100000u, 1u << 20}) {
    void* block = pool_allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % kMemoryAlignment, 0u) << bytes;
    std::memset(block, 0xAB, bytes);
    pool_release(block, bytes);
  }
}

TEST(Memory, SteadyLoopAsksTheSystemForNothing) {
  auto loop = [] {
    std::vector<void*> blocks;
    for (std::size_t i = 1; i < 200; ++i) blocks.push_back(pool_allocate(i * 37));
    for (std::size_t i = 1; i < 200; ++i) pool_release(blocks[i - 1], i * 37);
  };
  loop();
  const auto before = pool_stats();
  for (int i = 0; i < 10; ++i) loop();
  const auto after = pool_stats();
  EXPECT_EQ(after.system_allocations, before.system_allocations);
  EXPECT_EQ(after.in_use_bytes, before.in_use_bytes);
}

TEST(Memory, EverySizeFitsItsClassAndWastesAtMostAQuarter) {
  for (std::size_t bytes = 1; bytes < 70000; bytes += bytes < 2000 ? 1 : 97) {
    const auto before = pool_stats().in_use_bytes;
    void* block = pool_allocate(bytes);
    const auto got = pool_stats().in_use_bytes - before;
    EXPECT_GE(got, bytes);
    EXPECT_LE(got, std::max<std::size_t>(bytes + 63, bytes + bytes / 4 + 1)) << bytes;
    pool_release(block, bytes);
  }
}

TEST(Memory, TrimReturnsWhatWaits) {
  pool_release(pool_allocate(1 << 20), 1 << 20);
  EXPECT_GE(pool_stats().cached_bytes, 1u << 20);
  pool_trim();
  EXPECT_EQ(pool_stats().cached_bytes, 0u);
}

TEST(Memory, ThreadsShareThePool) {
  ThreadLimit limit(4);
  const auto before = pool_stats().in_use_bytes;
  std::atomic<int> overwritten{0};
  parallel_for(4, 1, [&](std::int64_t begin, std::int64_t) {
    for (std::size_t i = 1; i < 500; ++i) {
      // Every thread marks its block; a block handed out twice would show another mark.
      const std::size_t bytes = 64 + i % 7 * 100;
      auto* block = static_cast<unsigned char*>(pool_allocate(bytes));
      std::memset(block, static_cast<int>(begin), bytes);
      for (std::size_t j = 0; j < bytes; ++j) overwritten += block[j] != begin;
      pool_release(block, bytes);
      if (i % 100 == 0) pool_trim();
    }
  });
  EXPECT_EQ(overwritten, 0);
  EXPECT_EQ(pool_stats().in_use_bytes, before);
}

TEST(Memory, AbsurdSizeThrows) {
  EXPECT_THROW(pool_allocate(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW(pool_allocate(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_THROW(pool_allocate(SIZE_MAX / 4), std::bad_alloc);
  EXPECT_THROW(pool_allocate(SIZE_MAX / 16), std::bad_alloc);
  EXPECT_THROW(pool_allocate((std::size_t{1} << 56) + 1), std::bad_alloc);
}

}  // namespace
}  // namespace heed
