// Pooled, 64-byte aligned memory. Released blocks wait in free lists by size class, so that a steady loop (training
// steps, server requests) asks the system for nothing after warm-up: pool_stats() counts what it asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace heed {

inline constexpr std::size_t kMemoryAlignment = 64;

// Never null; throws std::bad_alloc when the system has no more. Contents are undefined. Thread-safe.
void* pool_allocate(std::size_t bytes);
// `bytes` is what was asked for. Thread-safe.
void pool_release(void* block, std::size_t bytes) noexcept;

struct PoolStats {
  std::uint64_t system_allocations = 0;  // blocks asked of the system since the start
  std::uint64_t in_use_bytes = 0;        // handed out now, rounded up to size classes
  std::uint64_t peak_bytes = 0;          // largest in_use_bytes since the start or the last reset_peak
  std::uint64_t cached_bytes = 0;        // waiting in free lists
};
PoolStats pool_stats();
void pool_reset_peak();
// Gives all waiting blocks back to the system.
void pool_trim();

// The pool as a standard allocator: std::allocate_shared, PoolVector.
template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) noexcept {}
  T* allocate(std::size_t count) {
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(pool_allocate(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept { pool_release(block, count * sizeof(T)); }
  template <class U>
  bool operator==(const PoolAllocator<U>&) const noexcept {
    return true;
  }
};

template <class T>
using PoolVector = std::vector<T, PoolAllocator<T>>;

}  // namespace heed
