#include "heed/chat/text.h"

#include <string.h>

#include <algorithm>

#include "heed/base/utf8.h"

namespace heed::chat {
namespace {

// The code point that ends before `end`.
CodePoint decode_before(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return utf8_decode(text, begin);
}

bool is_line_end(char32_t point) {
  return (point >= 0x0A && point <= 0x0D) || (point >= 0x1C && point <= 0x1E) || point == 0x85 || point == 0x2028 ||
         point == 0x2029;
}

// The last place of `part` before `end`.
std::optional<std::size_t> find_part_before(std::string_view text, std::string_view part, std::size_t end) {
  const std::size_t place = text.substr(0, end).rfind(part);
  return place == std::string_view::npos ? std::nullopt : std::optional(place);
}

std::vector<std::string> split_at_spaces(std::string_view text, std::int64_t most) {
  std::vector<std::string> parts;
  text = strip(text, Side::kLeft);
  while (!text.empty()) {
    if (most >= 0 && std::cmp_greater_equal(parts.size(), most)) {
      parts.emplace_back(text);
      break;
    }
    std::size_t end = 0;
    while (end < text.size() && !is_space(utf8_decode(text, end).value)) end += utf8_decode(text, end).length;
    parts.emplace_back(text.substr(0, end));
    text = strip(text.substr(end), Side::kLeft);
  }
  return parts;
}

std::vector<std::string> split_at_spaces_from_end(std::string_view text, std::int64_t most) {
  std::vector<std::string> parts;
  text = strip(text, Side::kRight);
  while (!text.empty()) {
    if (most >= 0 && std::cmp_greater_equal(parts.size(), most)) {
      parts.emplace_back(text);
      break;
    }
    std::size_t begin = text.size();
    while (begin > 0 && !is_space(decode_before(text, begin).value)) begin = decode_before(text, begin).offset;
    parts.emplace_back(text.substr(begin));
    text = strip(text.substr(0, begin), Side::kRight);
  }
  std::ranges::reverse(parts);
  return parts;
}

}  // namespace

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) out += part;
  return out;
}

std::string escaped_markup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&#34;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string_view strip(std::string_view text, Side side, const std::optional<std::string>& chars) {
  const auto goes = [&](const CodePoint& point) {
    return chars ? chars->find(text.substr(point.offset, point.length)) != std::string::npos : is_space(point.value);
  };
  std::size_t begin = 0, end = text.size();
  if (side != Side::kRight) {
    while (begin < end && goes(utf8_decode(text, begin))) begin += utf8_decode(text, begin).length;
  }
  if (side != Side::kLeft) {
    while (end > begin && goes(decode_before(text, end))) end = decode_before(text, end).offset;
  }
  return text.substr(begin, end - begin);
}

std::vector<std::string> split(std::string_view text, const std::optional<std::string>& separator, std::int64_t most) {
  if (!separator) return split_at_spaces(text, most);
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (most < 0 || std::cmp_less(parts.size(), most)) {
    const auto end = find_part(text, *separator, begin);
    if (!end) break;
    parts.emplace_back(text.substr(begin, *end - begin));
    begin = *end + separator->size();
  }
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::vector<std::string> split_from_end(std::string_view text, const std::optional<std::string>& separator,
                                        std::int64_t most) {
  if (!separator) return split_at_spaces_from_end(text, most);
  std::vector<std::string> parts;
  while (most < 0 || std::cmp_less(parts.size(), most)) {
    const auto begin = find_part_before(text, *separator, text.size());
    if (!begin) break;
    parts.emplace_back(text.substr(*begin + separator->size()));
    text = text.substr(0, *begin);
  }
  parts.emplace_back(text);
  std::ranges::reverse(parts);
  return parts;
}

std::vector<std::string> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = utf8_decode(text, at);
    const std::size_t end = at;
    at += point.length;
    if (!is_line_end(point.value)) continue;
    if (point.value == '\r' && at < text.size() && text[at] == '\n') ++at;
    lines.emplace_back(text.substr(begin, (keep_ends ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.emplace_back(text.substr(begin));
  return lines;
}

std::optional<std::size_t> find_part(std::string_view text, std::string_view part, std::size_t from) {
  if (from > text.size()) return std::nullopt;
  if (part.empty()) return from;
  // Unlike string_view::find, the C library takes no quadratic time.
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  if (!found) return std::nullopt;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::size_t count_parts(std::string_view text, std::string_view part) {
  if (part.empty()) return utf8_length(text) + 1;
  std::size_t count = 0, from = 0;
  while (const auto place = find_part(text, part, from)) {
    ++count;
    from = *place + part.size();
  }
  return count;
}

std::string replace_parts(std::string_view text, std::string_view part, std::string_view by, std::int64_t most) {
  std::string out;
  std::size_t begin = 0;
  for (std::int64_t done = 0; most < 0 || done < most; ++done) {
    const auto end = find_part(text, part, begin);
    if (!end) break;
    out.append(text, begin, *end - begin).append(by);
    begin = *end + part.size();
    if (!part.empty()) continue;
    // Before each character, and at the end.
    if (begin == text.size()) return out;
    const std::size_t length = utf8_decode(text, begin).length;
    out.append(text, begin, length);
    begin += length;
  }
  return out.append(text, begin);
}

std::vector<std::size_t> code_point_offsets(std::string_view text) {
  std::vector<std::size_t> offsets;
  for (const CodePoint& point : Utf8View(text)) offsets.push_back(point.offset);
  offsets.push_back(text.size());
  return offsets;
}

std::vector<std::string> code_points(std::string_view text) {
  std::vector<std::string> points;
  for (const CodePoint& point : Utf8View(text)) points.emplace_back(text.substr(point.offset, point.length));
  return points;
}

SliceRange slice_range(std::int64_t length, std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                       std::int64_t step) {
  const std::int64_t low = step < 0 ? -1 : 0, high = step < 0 ? length - 1 : length;
  const auto place = [&](std::int64_t at) { return std::clamp(at < 0 ? at + length : at, low, high); };
  const std::int64_t from = start ? place(*start) : step < 0 ? high : low;
  const std::int64_t to = stop ? place(*stop) : step < 0 ? low : high;
  const std::int64_t span = step < 0 ? from - to : to - from;
  if (span <= 0) return {from, step, 0};
  // -step has no room in 64 bits for the smallest number.
  const auto stride = step < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
  return {from, step, static_cast<std::size_t>((static_cast<std::uint64_t>(span) - 1) / stride + 1)};
}

std::pair<std::string_view, std::size_t> text_slice(std::string_view text, std::optional<std::int64_t> start,
                                                    std::optional<std::int64_t> stop) {
  if (!start && !stop) return {text, 0};
  const auto offsets = code_point_offsets(text);
  const auto length = static_cast<std::int64_t>(offsets.size()) - 1;
  const SliceRange range = slice_range(length, start, stop, 1);
  const std::size_t begin = offsets[static_cast<std::size_t>(range.start)];
  const std::size_t end = offsets[static_cast<std::size_t>(range.start) + range.count];
  return {text.substr(begin, end - begin), begin};
}

}  // namespace heed::chat
