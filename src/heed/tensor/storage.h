// The bytes behind tensors: pooled memory of our own, or somebody else's bytes kept alive (a mapped file).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "heed/kernels/gemm.h"

namespace heed {

// Weights in the layout of the GEMM kernel, made on first use and kept until the bytes change. Which part of the
// storage, and how, is the key: a fused weight may be used whole and in slices.
struct PackKey {
  std::int64_t offset, rows, columns, leading;
  bool transposed, is_f64;
  bool operator==(const PackKey&) const = default;
};

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
  // Announces a change: packed copies are made anew. Throws on read-only bytes.
  std::byte* mutable_bytes();
  std::int64_t size() const { return size_; }
  bool read_only() const { return owner_ != nullptr; }
  // Counts the announced changes.
  std::uint64_t version() const { return version_.load(std::memory_order_relaxed); }

  // The matrix at `key`, packed for kernels::gemm; packed once, then shared by all threads.
  template <class T>
  std::shared_ptr<const kernels::PackedMatrix<T>> packed(const PackKey& key) const;

 private:
  struct Pack {
    PackKey key{};
    std::uint64_t version = 0;
    std::shared_ptr<const void> matrix;
  };
  static constexpr std::size_t kPacks = 4;  // forward and backward layouts of a whole and of one slice

  std::byte* bytes_ = nullptr;
  std::int64_t size_ = 0;
  std::shared_ptr<const void> owner_;
  std::atomic<std::uint64_t> version_{0};
  mutable std::mutex pack_mutex_;
  mutable std::array<Pack, kPacks> packs_;
  mutable std::size_t next_pack_ = 0;
};

}  // namespace heed
