#include "heed/text/normalized.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/text/unicode.h"

namespace heed::text {

NormalizedString::NormalizedString(std::string_view original, std::size_t begin, std::size_t end)
    : shift_(static_cast<std::uint32_t>(begin)), view_(original.substr(begin, end - begin)) {
  HEED_CHECK(original.size() < std::numeric_limits<std::uint32_t>::max(), "[tokenize] the text has ", original.size(),
             " bytes, expected less than 4 GiB");
}

Span NormalizedString::source(std::size_t index) const {
  if (mapped_) return map_[index];
  const std::string_view all = text();
  std::size_t begin = index;
  while (is_continuation(all[begin])) --begin;
  const std::size_t end = begin + sequence_length(all[begin]);
  return {static_cast<std::uint32_t>(shift_ + begin), static_cast<std::uint32_t>(shift_ + end)};
}

std::string& NormalizedString::edit_in_place() {
  if (!owned_) {
    storage_.assign(view_);
    owned_ = true;
  }
  return storage_;
}

void NormalizedString::append(const NormalizedString& other) {
  const auto map = [](NormalizedString& string) {
    if (string.mapped_) return;
    string.map_.reserve(string.size());
    for (std::size_t i = 0; i < string.size(); ++i) string.map_.push_back(string.source(i));
    string.mapped_ = true;
  };
  edit_in_place();
  map(*this);
  storage_ += other.text();
  if (other.mapped_) {
    map_.insert(map_.end(), other.map_.begin(), other.map_.end());
  } else {
    for (std::size_t i = 0; i < other.size(); ++i) map_.push_back(other.source(i));
  }
}

Rewriter::Rewriter(const NormalizedString& old) : old_(old), old_text_(old.text()), shift_(old.shift()) {
  reserve(old.size() + 8);
}

void Rewriter::reserve(std::size_t bytes) {
  text_.reserve(bytes);
  map_.reserve(bytes);
}

Span Rewriter::origin_before() const {
  return cursor_ <= part_begin_ ? Span{shift_, shift_} : old_.source(std::min(cursor_, old_text_.size()) - 1);
}

void Rewriter::emit(char32_t point, int change) {
  Span origin;
  if (change > 0 || cursor_ >= old_text_.size()) {
    origin = origin_before();
  } else {
    origin = old_.source(cursor_);
    cursor_ += sequence_length(old_text_[cursor_]);
    for (; change < 0 && cursor_ < old_text_.size(); ++change) cursor_ += sequence_length(old_text_[cursor_]);
  }
  append_point(text_, point);
  map_.resize(text_.size(), origin);
}

void Rewriter::keep(std::size_t count) {
  count = std::min(count, old_text_.size() - cursor_);
  text_.append(old_text_, cursor_, count);
  if (old_.mapped_) {
    const auto from = old_.map_.begin() + static_cast<std::ptrdiff_t>(cursor_);
    map_.insert(map_.end(), from, from + static_cast<std::ptrdiff_t>(count));
    cursor_ += count;
    return;
  }
  for (const std::size_t end = cursor_ + count; cursor_ < end;) {
    const std::uint32_t length = sequence_length(old_text_[cursor_]);
    const auto begin = static_cast<std::uint32_t>(old_.shift_ + cursor_);
    for (std::uint32_t i = 0; i < length; ++i) map_.push_back({begin, begin + length});
    cursor_ += length;
  }
}

void Rewriter::replace_next(std::string_view replacement) {
  const Span origin = old_.source(cursor_);
  cursor_ += sequence_length(old_text_[cursor_]);
  text_ += replacement;
  map_.resize(text_.size(), origin);
}

void Rewriter::prepend(std::string_view text) {
  if (cursor_ >= old_text_.size()) return;
  const Span origin = old_.source(cursor_);
  text_ += text;
  map_.resize(text_.size(), origin);
}

void Rewriter::commit(NormalizedString& target) {
  HEED_CHECK(text_.size() < std::numeric_limits<std::uint32_t>::max(), "[tokenize] the normalised text has ",
             text_.size(), " bytes, expected less than 4 GiB");
  target.storage_ = std::move(text_);
  target.map_ = std::move(map_);
  target.owned_ = true;
  target.mapped_ = true;
}

}  // namespace heed::text
