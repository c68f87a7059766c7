// The tags and entities of HTML and XML, one at a time, read from any bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace heed::text {

struct MarkupTag {
  // single: self-closing, a comment, a declaration, an instruction, CDATA, and elements of HTML that are always empty
  enum class Kind { open, close, single } kind = Kind::single;
  std::size_t length = 0;    // bytes
  std::string_view name{};   // "" for comments and the like
  bool breaks_line = false;  // words before it and after it are apart without a space
};

// The tag that begins at `at`, where < is; nothing if it is no tag.
std::optional<MarkupTag> tag_at(std::string_view text, std::size_t at);

struct MarkupEntity {
  char32_t point = 0;
  std::size_t length = 0;  // bytes
};

// The entity that begins at `at`, where & is: &amp; &lt; &gt; &quot; &apos; &nbsp; or a number. Nothing for others.
std::optional<MarkupEntity> entity_at(std::string_view text, std::size_t at);

}  // namespace heed::text
