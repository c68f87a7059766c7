// The bytes of tensors: pooled memory of our own, or somebody else's bytes kept alive (a mapped file).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace heed {

class Storage {
 public:
  explicit Storage(std::int64_t bytes);
  // Read-only bytes that `owner` keeps alive.
  Storage(const void* bytes, std::int64_t size, std::shared_ptr<const void> owner);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  static std::shared_ptr<Storage> allocate(std::int64_t bytes);

  const std::byte* bytes() const { return bytes_; }
  // Announces a change: what was made from the bytes is out of date. Throws on read-only bytes.
  std::byte* mutable_bytes();
  std::int64_t size() const { return size_; }
  bool read_only() const { return owner_ != nullptr; }
  // Counts the announced changes.
  std::uint64_t version() const { return version_.load(std::memory_order_relaxed); }

 private:
  std::byte* bytes_ = nullptr;
  std::int64_t size_ = 0;
  std::shared_ptr<const void> owner_;
  std::atomic<std::uint64_t> version_{0};
};

}  // namespace heed
