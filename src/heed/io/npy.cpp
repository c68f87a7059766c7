#include "heed/io/npy.h"

#include <bit>

#include "heed/base/error.h"

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "rows are written as they are in memory");

constexpr std::size_t kHeaderBytes = 128;  // a multiple of 64, with room for any two numbers
constexpr std::size_t kFlushBytes = 1 << 20;

std::string header(std::uint64_t rows, std::uint64_t width) {
  constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
  constexpr std::size_t kText = kHeaderBytes - kMagic.size() - 2;
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                     std::to_string(width) + "), }";
  text.resize(kText - 1, ' ');
  const char length[2] = {static_cast<char>(kText & 0xff), static_cast<char>(kText >> 8)};
  return std::string(kMagic) + std::string(length, 2) + text + "\n";
}

}  // namespace

NpyFile::NpyFile(const std::filesystem::path& path) : file_(path), name_(path.string()) {
  file_.write(header(0, 0));
}

void NpyFile::add_row(std::span<const float> row) {
  if (rows_ == 0) width_ = row.size();
  HEED_CHECK(row.size() == width_, name_, ": row ", rows_, " has ", row.size(), " numbers, expected ", width_,
             " as the first");
  ++rows_;
  waiting_.append(reinterpret_cast<const char*>(row.data()), row.size_bytes());
  if (waiting_.size() >= kFlushBytes) flush();
}

void NpyFile::flush() {
  file_.write(waiting_);
  waiting_.clear();
}

void NpyFile::commit() {
  flush();
  file_.write_again(0, header(rows_, width_));
  file_.commit();
}

}  // namespace heed
