// NumPy's .npy, version 1.0: a matrix of f32, row by row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "heed/base/file.h"

namespace heed {

// The file appears by commit(), which also notes how many rows it has.
class NpyFile {
 public:
  explicit NpyFile(const std::filesystem::path& path);

  // Throws invalid_argument for a row of another length than the first.
  void add_row(std::span<const float> row);
  void commit();

 private:
  void flush();

  AtomicFile file_;
  std::string name_, waiting_;
  std::uint64_t rows_ = 0, width_ = 0;
};

}  // namespace heed
