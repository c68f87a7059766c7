// Weights of 16 bits that are multiplied where they lie, in a mapped file say: products convert them piece by piece as
// they go (kernels/gemm.h). Nothing is copied, and nothing outside of the matrix is read.
#pragma once

#include <cstdint>

#include "heed/base/memory.h"

namespace heed::kernels {

// W [rows, columns], f16 or bf16.
struct StoredMatrix {
  enum class Format { f16, bf16 };
  // Rows that lie together. Elements are aligned to 2 bytes and no more.
  struct Part {
    const std::uint16_t* data = nullptr;
    std::int64_t rows = 0;
    std::int64_t ld = 0;
  };

  Format format = Format::f16;
  std::int64_t rows = 0, columns = 0;
  bool by_columns = false;   // a part's element [r, c] is at c * ld + r, else at r * ld + c
  PoolVector<Part> parts{};  // one below the other: the three projections of attention, gate and up
};

}  // namespace heed::kernels
