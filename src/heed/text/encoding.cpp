#include "heed/text/encoding.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::text {
namespace {

// Calls action(list of a, list of b) for every list with an entry per token.
template <class A, class B, class Action>
void for_each_list(A& a, B& b, const Action& action) {
  action(a.ids, b.ids);
  action(a.type_ids, b.type_ids);
  action(a.byte_offsets, b.byte_offsets);
  action(a.char_offsets, b.char_offsets);
  action(a.word_ids, b.word_ids);
  action(a.sequence_ids, b.sequence_ids);
  action(a.special_mask, b.special_mask);
  action(a.attention_mask, b.attention_mask);
}

std::uint32_t narrow(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

// [begin, end) of each window, the kept one first.
std::vector<Span> windows(std::size_t size, std::size_t length, std::size_t step, Direction direction) {
  std::vector<Span> found;
  if (direction == Direction::right) {
    for (std::size_t begin = 0;; begin += step) {
      const std::size_t end = std::min(begin + length, size);
      found.push_back({narrow(begin), narrow(end)});
      if (end == size) return found;
    }
  }
  for (std::size_t end = size;; end -= step) {
    const std::size_t begin = end < length ? 0 : end - length;
    found.push_back({narrow(begin), narrow(end)});
    if (begin == 0) return found;
  }
}

}  // namespace

void Encoding::reserve(std::size_t tokens) {
  for_each_list(*this, *this, [&](auto& list, auto&) { list.reserve(tokens); });
}

std::string_view Encoding::text_of(std::size_t token, const TokenTexts& texts) const {
  const auto found = std::lower_bound(surfaces.begin(), surfaces.end(), token,
                                      [](const Surface& surface, std::size_t at) { return surface.token < at; });
  if (found != surfaces.end() && found->token == token) return found->text;
  return texts.text_of(ids[token]);
}

void Encoding::set_sequence(std::int32_t id) {
  sequence_ids.assign(size(), id);
  for (Encoding& other : overflowing) other.sequence_ids.assign(other.size(), id);
}

void Encoding::append_special(std::int32_t id, std::string_view text, std::int32_t type_id, const TokenTexts& texts) {
  if (texts.text_of(id) != text) surfaces.push_back({narrow(size()), std::string(text)});
  append_special(id, type_id);
}

void Encoding::append_special(std::int32_t id, std::int32_t type_id) {
  ids.push_back(id);
  type_ids.push_back(type_id);
  byte_offsets.push_back({});
  char_offsets.push_back({});
  word_ids.push_back(-1);
  sequence_ids.push_back(-1);
  special_mask.push_back(1);
  attention_mask.push_back(1);
}

void Encoding::append(const Encoding& other) {
  for (const Surface& surface : other.surfaces) surfaces.push_back({narrow(size()) + surface.token, surface.text});
  for_each_list(*this, other, [](auto& list, const auto& more) { list.insert(list.end(), more.begin(), more.end()); });
}

void Encoding::merge(const Encoding& other) {
  std::vector<Encoding> combined;
  const auto combine = [&](const Encoding& first, const Encoding& second) {
    Encoding both;
    both.reserve(first.size() + second.size());
    both.append(first);
    both.append(second);
    combined.push_back(std::move(both));
  };
  for (const Encoding& mine : overflowing) {
    combine(mine, other);
    for (const Encoding& theirs : other.overflowing) combine(mine, theirs);
  }
  for (const Encoding& theirs : other.overflowing) combine(*this, theirs);
  append(other);
  overflowing = std::move(combined);
}

Encoding Encoding::window(std::size_t begin, std::size_t end) const {
  Encoding part;
  for_each_list(part, *this, [&](auto& list, const auto& all) {
    list.assign(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end));
  });
  for (const Surface& surface : surfaces) {
    if (surface.token >= begin && surface.token < end) {
      part.surfaces.push_back({surface.token - narrow(begin), surface.text});
    }
  }
  return part;
}

void Encoding::truncate(std::size_t max_length, std::size_t stride, Direction direction) {
  if (size() <= max_length) return;
  if (max_length == 0) {
    Encoding all = std::move(*this);
    *this = {};
    overflowing.push_back(std::move(all));
    return;
  }
  HEED_CHECK(stride < max_length, "[truncate] the stride is ", stride, ", expected less than the ", max_length,
             " tokens that are left for the text");
  const std::vector<Span> spans = windows(size(), max_length, max_length - stride, direction);
  Encoding kept = window(spans[0].begin, spans[0].end);
  for (std::size_t i = 1; i < spans.size(); ++i) kept.overflowing.push_back(window(spans[i].begin, spans[i].end));
  *this = std::move(kept);
}

void Encoding::pad(std::size_t length, const Pad& pad, const TokenTexts& texts) {
  for (Encoding& other : overflowing) other.pad(length, pad, texts);
  if (size() >= length) return;
  const std::size_t count = length - size();
  Encoding padding;
  padding.reserve(length);
  for (std::size_t i = 0; i < count; ++i) padding.append_special(pad.id, pad.token, pad.type_id, texts);
  padding.attention_mask.assign(count, 0);
  if (pad.direction == Direction::right) {
    append(padding);
  } else {
    padding.append(*this);
    padding.overflowing = std::move(overflowing);
    *this = std::move(padding);
  }
}

}  // namespace heed::text
