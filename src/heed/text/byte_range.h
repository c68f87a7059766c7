// A part of a text.
#pragma once

#include <cstddef>
#include <string_view>

namespace heed::text {

// Bytes begin to end.
struct ByteRange {
  std::size_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

}  // namespace heed::text
