#include "heed/base/memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>

#if defined(__SANITIZE_ADDRESS__)
#define HEED_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEED_ASAN 1
#endif
#endif
#ifdef HEED_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace heed {
namespace {

// Size classes: 64 bytes, then four steps to each power of two (at most 25 % of a block is unused).
constexpr std::size_t kSmallest = 64;
constexpr std::size_t kLargest = std::size_t{1} << 56;  // no machine has more; keeps the arithmetic from overflowing
constexpr int kClasses = 4 * 50 + 1;                    // index of kLargest, and one

struct SizeClass {
  int index;
  std::size_t bytes;
};

SizeClass size_class(std::size_t bytes) {
  if (bytes <= kSmallest) return {0, kSmallest};
  if (bytes > kLargest) throw std::bad_alloc();
  const int power = static_cast<int>(std::bit_width(bytes - 1)) - 1;  // 2^power < bytes <= 2^(power+1)
  const std::size_t step = std::max<std::size_t>(std::size_t{1} << power >> 2, kSmallest);
  const std::size_t rounded = (bytes + step - 1) / step * step;
  const int quarter = static_cast<int>(rounded * 4 >> power) - 4;  // 1..4 above 2^power
  return {(power - 6) * 4 + quarter, rounded};
}

struct FreeBlock {
  FreeBlock* next;
};

struct Pool {
  std::mutex mutex;
  std::array<FreeBlock*, kClasses> free{};
  PoolStats stats;
};

// Never destroyed: tensors with static lifetime may outlive any destructor we could give it.
Pool& pool() {
  static Pool* instance = new Pool;
  return *instance;
}

// The caller holds the mutex.
void free_waiting_blocks(Pool& p) {
  for (FreeBlock*& list : p.free) {
    while (list) {
      FreeBlock* next = list->next;
      std::free(list);
      list = next;
    }
  }
  p.stats.cached_bytes = 0;
}

FreeBlock* system_allocate(Pool& p, std::size_t bytes) {
  void* block = std::aligned_alloc(kMemoryAlignment, bytes);
  if (!block) {
    // Blocks of other sizes may be what the system lacks.
    free_waiting_blocks(p);
    block = std::aligned_alloc(kMemoryAlignment, bytes);
  }
  if (!block) throw std::bad_alloc();
  ++p.stats.system_allocations;
  return static_cast<FreeBlock*>(block);
}

}  // namespace

void* pool_allocate(std::size_t bytes) {
  const SizeClass size = size_class(bytes);
  Pool& p = pool();
  std::unique_lock lock(p.mutex);
  FreeBlock* block = p.free[static_cast<std::size_t>(size.index)];
  if (block) {
    ASAN_UNPOISON_MEMORY_REGION(block, size.bytes);
    p.free[static_cast<std::size_t>(size.index)] = block->next;
    p.stats.cached_bytes -= size.bytes;
  } else {
    block = system_allocate(p, size.bytes);
  }
  p.stats.in_use_bytes += size.bytes;
  p.stats.peak_bytes = std::max(p.stats.peak_bytes, p.stats.in_use_bytes);
  lock.unlock();
  // What lies beyond the bytes asked for is out of bounds too.
  ASAN_POISON_MEMORY_REGION(reinterpret_cast<char*>(block) + bytes, size.bytes - bytes);
  return block;
}

void pool_release(void* block, std::size_t bytes) noexcept {
  if (!block) return;
  const SizeClass size = size_class(bytes);
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  auto* freed = static_cast<FreeBlock*>(block);
  ASAN_UNPOISON_MEMORY_REGION(block, sizeof(FreeBlock));  // a request of under 8 bytes left the link out of bounds
  freed->next = p.free[static_cast<std::size_t>(size.index)];
  p.free[static_cast<std::size_t>(size.index)] = freed;
  // All but the link, which the leak checker must be able to follow.
  ASAN_POISON_MEMORY_REGION(freed + 1, size.bytes - sizeof(FreeBlock));
  p.stats.in_use_bytes -= size.bytes;
  p.stats.cached_bytes += size.bytes;
}

PoolStats pool_stats() {
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  return p.stats;
}

void pool_reset_peak() {
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  p.stats.peak_bytes = p.stats.in_use_bytes;
}

void pool_trim() {
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  free_waiting_blocks(p);
}

}  // namespace heed
