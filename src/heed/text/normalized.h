// A text that is rewritten step by step while each of its bytes keeps the bytes of the original it came from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

// [begin, end)
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const Span&) const = default;
};

// Starts as a part of the original text, which it views (the caller keeps it alive), and copies only once something
// changes. As long as characters keep their places, no map is stored.
class NormalizedString {
 public:
  NormalizedString() = default;
  // original[begin, end), whole characters of valid UTF-8. Texts of 4 GiB and more are refused.
  NormalizedString(std::string_view original, std::size_t begin, std::size_t end);
  explicit NormalizedString(std::string_view original) : NormalizedString(original, 0, original.size()) {}

  std::string_view text() const { return owned_ ? std::string_view(storage_) : view_; }
  std::size_t size() const { return owned_ ? storage_.size() : view_.size(); }
  bool empty() const { return size() == 0; }

  // Where the part of the original starts that this string was made of.
  std::uint32_t shift() const { return shift_; }
  // The bytes of the original that the byte at `index` came from: those of a whole character, or none.
  Span source(std::size_t index) const;
  // The bytes of the original that text()[begin, end) came from; the range is not empty.
  Span source(std::size_t begin, std::size_t end) const { return {source(begin).begin, source(end - 1).end}; }

  // The text for a change that keeps every character's length; must leave it valid UTF-8.
  std::string& edit_in_place();

  // Appends text and map of another string of the same original.
  void append(const NormalizedString& other);

 private:
  friend class Rewriter;

  bool owned_ = false;
  bool mapped_ = false;  // false: byte i came from byte shift_ + i
  std::uint32_t shift_ = 0;
  std::string_view view_;
  std::string storage_;
  std::vector<Span> map_;  // one per byte of text()
};

// Makes the next version of a NormalizedString from left to right, with HuggingFace's rule for what a new character
// came from: `change` 0 takes the place of the next old character, a negative one removes that many old characters
// after it as well, and a positive one inserts a character that shares the origin of the old character before.
class Rewriter {
 public:
  explicit Rewriter(const NormalizedString& old);

  void emit(char32_t point, int change);
  // Removes the next `count` old bytes (whole characters).
  void skip(std::size_t count) { cursor_ += count; }
  // Goes on with the old byte at `offset`, the start of a character.
  void move_to(std::size_t offset) { cursor_ = offset; }
  // Keeps the next `count` old bytes.
  void keep(std::size_t count);
  // Keeps the next character's place but gives it other text, every byte of which comes from the whole character.
  void replace_next(std::string_view replacement);
  // Inserts before the next old character and with its origin (nothing at the end of the text).
  void prepend(std::string_view text);

  // Insertions at the very start of the text, or of the part that the last call of start_part() began, come from an
  // empty range at `shift`.
  void start_part(std::uint32_t shift) {
    part_begin_ = cursor_;
    shift_ = shift;
  }

  std::size_t cursor() const { return cursor_; }        // in the old text
  std::size_t written() const { return text_.size(); }  // bytes of the new text
  void reserve(std::size_t bytes);
  // Makes what was emitted the new version; what is left of the old text is dropped.
  void commit(NormalizedString& target);

 private:
  Span origin_before() const;

  const NormalizedString& old_;
  std::string_view old_text_;
  std::string text_;
  std::vector<Span> map_;
  std::size_t cursor_ = 0;
  std::size_t part_begin_ = 0;
  std::uint32_t shift_;
};

}  // namespace heed::text
