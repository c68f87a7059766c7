// Where the tags of a text belong in its translation.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "heed/text/inline_markup.h"

namespace heed::text {

struct MarkupPlace {
  enum class Kind { open, close } kind = Kind::open;  // single tags open
  std::size_t span = 0;
  std::size_t offset = 0;  // bytes of the target
};

// Every tag once, in the order in which they are to be written.
std::vector<MarkupPlace> place_markup(std::span<const MarkupSpan> spans, const AlignedText& words);

}  // namespace heed::text
