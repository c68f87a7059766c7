// An uninitialised array in pool memory: packed operands and scratch of the kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "heed/base/memory.h"

namespace heed::kernels {

template <class T>
class PoolArray {
 public:
  PoolArray() = default;
  explicit PoolArray(std::int64_t count) : count_(count) {
    if (count > 0) data_ = PoolAllocator<T>().allocate(static_cast<std::size_t>(count));
  }
  PoolArray(PoolArray&& other) noexcept { swap(other); }
  PoolArray& operator=(PoolArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~PoolArray() {
    if (data_) PoolAllocator<T>().deallocate(data_, static_cast<std::size_t>(count_));
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::int64_t size() const { return count_; }

 private:
  void swap(PoolArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
  }

  T* data_ = nullptr;
  std::int64_t count_ = 0;
};

}  // namespace heed::kernels
