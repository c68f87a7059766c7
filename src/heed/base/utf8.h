// UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF.
//
// What is not UTF-8 is decoded as U+FFFD, one for each maximal subpart (the practice of Unicode, chapter 3, and of
// WHATWG): the longest prefix of a well-formed sequence, or else one byte. Offsets are bytes into the text.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace heed {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// Where the first malformed sequence starts; nothing when the text is valid.
std::optional<std::size_t> utf8_find_invalid(std::string_view text);

struct CodePoint {
  char32_t value = 0;      // U+FFFD when not valid
  std::size_t offset = 0;  // of its first byte
  std::size_t length = 0;  // in bytes, 1 to 4
  bool valid = false;      // false: the bytes are malformed; true for an encoded U+FFFD
};

// The code point that starts at `offset` < text.size().
CodePoint utf8_decode(std::string_view text, std::size_t offset);

// for (const CodePoint& point : Utf8View(text)). The view does not own the text.
class Utf8View {
 public:
  explicit Utf8View(std::string_view text) : text_(text) {}

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = CodePoint;
    using difference_type = std::ptrdiff_t;
    using pointer = const CodePoint*;
    using reference = const CodePoint&;

    Iterator() = default;
    Iterator(std::string_view text, std::size_t offset) : text_(text) { decode_at(offset); }
    const CodePoint& operator*() const { return point_; }
    const CodePoint* operator->() const { return &point_; }
    Iterator& operator++() {
      decode_at(point_.offset + point_.length);
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return point_.offset == other.point_.offset; }

   private:
    void decode_at(std::size_t offset) {
      point_ = offset < text_.size() ? utf8_decode(text_, offset) : CodePoint{0, offset, 0, false};
    }
    std::string_view text_;
    CodePoint point_;
  };

  Iterator begin() const { return {text_, 0}; }
  Iterator end() const { return {text_, text_.size()}; }

 private:
  std::string_view text_;
};

// Appends one code point. Throws invalid_argument for a surrogate or a value above U+10FFFF.
void utf8_append(std::string& text, char32_t code_point);

// The text with each malformed subpart replaced by U+FFFD.
std::string utf8_replace_invalid(std::string_view text);

// Code points in the text; a malformed subpart counts as one.
std::size_t utf8_length(std::string_view text);

}  // namespace heed
