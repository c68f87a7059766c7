// Checksums that servers give for files.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace heed {

// In lower-case hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);
// The name git gives a file with these contents: SHA-1 of "blob <size>", a NUL and the contents.
std::string git_blob_sha1(std::span<const std::byte> bytes);

// Whether the text has `digits` hexadecimal digits and nothing else.
bool is_hexadecimal(std::string_view text, std::size_t digits);

}  // namespace heed
