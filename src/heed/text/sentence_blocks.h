// A document as blocks: runs of lines that belong together because the text was wrapped, without bullets, numbers of
// list items, rules and the marks of headings. Sentences do not cross blocks.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "heed/base/utf8.h"
#include "heed/text/byte_range.h"
#include "heed/text/unicode.h"

namespace heed::text {

struct TextBlock {
  std::size_t begin = 0, end = 0;  // bytes, without spaces around; not empty
  std::size_t paragraph = 0;       // counted from 0
};

std::vector<TextBlock> text_blocks(std::string_view document);

inline bool is_space(char32_t point) {
  return PropertyTable().has(point, kIsWhitespace);
}

// The code point that ends at `offset` > 0.
CodePoint point_before(std::string_view text, std::size_t offset);

// `begin` to `end` without the spaces at its ends.
ByteRange trimmed(std::string_view text, std::size_t begin, std::size_t end);

}  // namespace heed::text
