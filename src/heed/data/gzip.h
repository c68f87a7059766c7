// Files that gzip packed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace heed::detail {

// More than any text file that one would pack for a model of this size; what is unpacked has to fit in memory.
inline constexpr std::size_t kMostUnpackedBytes = std::size_t{4} << 30;

// By the name: it ends in .gz.
bool is_gzip(const std::filesystem::path& path);
// What tells the format, in lower case: ".csv" of R.CSV and of r.csv.gz.
std::string format_extension(const std::filesystem::path& path);

// The whole file, unpacked; several packed files one after the other count as one. Throws bad_format for what is
// damaged, cut off, or has more than max_bytes.
std::string read_gzip(const std::filesystem::path& path, std::size_t max_bytes = kMostUnpackedBytes);

}  // namespace heed::detail
