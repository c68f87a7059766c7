// What a tokenizer makes of a text: one entry per token in each list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/normalized.h"

namespace heed::text {

// The text that an id has in the vocabulary, added tokens included.
class TokenTexts {
 public:
  virtual ~TokenTexts() = default;
  virtual std::string_view text_of(std::int32_t id) const = 0;
};

enum class Direction { left, right };

struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;
  std::vector<Span> byte_offsets;            // into the text (the first or second of a pair) as the caller gave it
  std::vector<Span> char_offsets;            // the same in code points
  std::vector<std::int32_t> word_ids;        // which pre-token; -1 for special and padding tokens
  std::vector<std::int32_t> sequence_ids;    // 0, 1 for a pair; -1 for special and padding tokens
  std::vector<std::uint8_t> special_mask;    // 1: added by the post-processor or padding
  std::vector<std::uint8_t> attention_mask;  // 0: padding
  // Further windows over a text that was truncated. HuggingFace nests windows of windows for pairs; here the list is
  // flat and has what is at the top there.
  std::vector<Encoding> overflowing;
  bool cut = false;  // there were further windows, and they were dropped

  // Tokens that have another text than their id in the vocabulary, by position: unknown words of Unigram models,
  // added tokens with the spaces around them.
  struct Surface {
    std::uint32_t token;
    std::string text;
  };
  std::vector<Surface> surfaces;

  std::size_t size() const { return ids.size(); }
  void reserve(std::size_t tokens);
  // The text of one token.
  std::string_view text_of(std::size_t token, const TokenTexts& texts) const;

  void set_sequence(std::int32_t id);  // of all tokens, windows included
  // Appends a token that stands for no text.
  void append_special(std::int32_t id, std::string_view text, std::int32_t type_id, const TokenTexts& texts);
  void append_special(std::int32_t id, std::int32_t type_id);  // with the text that it has in the vocabulary
  // Appends the tokens of another, without its windows.
  void append(const Encoding& other);
  // Appends the tokens of another; its windows are combined with those of this.
  void merge(const Encoding& other);
  // Keeps max_length tokens (the first for Direction::right) and moves the rest to windows that overlap by `stride`
  // tokens. Throws invalid_argument when the stride is not below max_length.
  void truncate(std::size_t max_length, std::size_t stride, Direction direction);

  // Keeps the first window only.
  void drop_windows() {
    cut = cut || !overflowing.empty();
    overflowing.clear();
  }

  struct Pad {
    std::int32_t id = 0;
    std::int32_t type_id = 0;
    std::string token = "[PAD]";
    Direction direction = Direction::right;
  };
  // Fills up to `length` tokens, windows too.
  void pad(std::size_t length, const Pad& pad, const TokenTexts& texts);

 private:
  Encoding window(std::size_t begin, std::size_t end) const;
};

}  // namespace heed::text
