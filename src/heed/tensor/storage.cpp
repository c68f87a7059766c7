#include "heed/tensor/storage.h"

#include "heed/base/error.h"
#include "heed/base/memory.h"

namespace heed {

Storage::Storage(std::int64_t bytes)
    : bytes_(static_cast<std::byte*>(pool_allocate(static_cast<std::size_t>(bytes)))), size_(bytes) {}

Storage::Storage(const void* bytes, std::int64_t size, std::shared_ptr<const void> owner)
    : bytes_(static_cast<std::byte*>(const_cast<void*>(bytes))), size_(size), owner_(std::move(owner)) {}

Storage::~Storage() {
  if (!owner_) pool_release(bytes_, static_cast<std::size_t>(size_));
}

std::shared_ptr<Storage> Storage::allocate(std::int64_t bytes) {
  return std::allocate_shared<Storage>(PoolAllocator<Storage>(), bytes);
}

std::byte* Storage::mutable_bytes() {
  HEED_CHECK(!read_only(), "[Tensor] these bytes are read-only (mapped from a file); clone() the tensor to change it");
  version_.fetch_add(1, std::memory_order_relaxed);
  return bytes_;
}

}  // namespace heed
