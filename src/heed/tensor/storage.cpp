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

template <class T>
std::shared_ptr<const kernels::PackedMatrix<T>> Storage::packed(const PackKey& key) const {
  using Matrix = kernels::PackedMatrix<T>;
  const std::uint64_t now = version();
  // Packing happens under the lock: a second thread that wants the same weight waits instead of packing it again.
  std::lock_guard lock(pack_mutex_);
  Pack* slot = nullptr;
  for (Pack& pack : packs_) {
    if (pack.matrix && pack.key == key) slot = &pack;
  }
  if (slot && slot->version == now) return std::static_pointer_cast<const Matrix>(slot->matrix);
  if (!slot) {
    slot = &packs_[next_pack_];
    next_pack_ = (next_pack_ + 1) % kPacks;
  }
  slot->matrix.reset();  // so that its memory serves the new one
  const T* data = reinterpret_cast<const T*>(bytes_) + key.offset;
  auto matrix = std::allocate_shared<const Matrix>(
      PoolAllocator<Matrix>(), Matrix::pack(data, key.rows, key.columns, key.leading, key.transposed));
  *slot = {key, now, matrix};
  return matrix;
}

template std::shared_ptr<const kernels::PackedMatrix<float>> Storage::packed(const PackKey&) const;
template std::shared_ptr<const kernels::PackedMatrix<double>> Storage::packed(const PackKey&) const;

}  // namespace heed
