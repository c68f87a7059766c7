// The words of a text for tests of alignments: what stands between spaces.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "heed/text/byte_range.h"

namespace heed::test {

inline std::vector<text::ByteRange> words_of(std::string_view text) {
  std::vector<text::ByteRange> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back({begin, end});
    begin = end + 1;
  }
  return words;
}

}  // namespace heed::test
