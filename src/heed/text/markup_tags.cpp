#include "heed/text/markup_tags.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace heed::text {
namespace {

constexpr std::size_t kLongestTag = 1 << 20;  // bytes

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_name(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == ':';
}

bool is_one_of(std::string_view name, std::string_view words) {
  std::string small(name);
  for (char& c : small) c = is_letter(c) ? static_cast<char>(c | 0x20) : c;
  return words.find(" " + small + " ") != std::string_view::npos;
}

constexpr std::string_view kEmpty = " br hr img wbr input area base col embed link meta source track ";
constexpr std::string_view kBreaks =
    " br hr p div li ul ol dl dt dd tr td th table tbody thead h1 h2 h3 h4 h5 h6 section article header footer "
    "blockquote pre option ";

// Of <!-- -->, <![CDATA[ ]]>, <? ?> and <! >; 0 if it does not end before another begins.
std::size_t special_length(std::string_view text) {
  constexpr std::string_view kForms[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}, {"<!", ">"}};
  for (const auto& [begin, end] : kForms) {
    if (!text.starts_with(begin)) continue;
    for (std::size_t at = begin.size(); at < text.size(); ++at) {
      const std::string_view rest = text.substr(at);
      if (rest.starts_with(end)) return at + end.size();
      if (rest.starts_with(begin)) return 0;
    }
    return 0;
  }
  return 0;
}

// Past the > that ends the tag whose name ends at `at`; 0 if another < comes first.
std::size_t end_of_tag(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const char c = text[at++];
    if (c == '>') return at;
    if (c == '<') return 0;
    if (c != '"' && c != '\'') continue;
    const std::size_t quote = text.find(c, at);
    if (quote == std::string_view::npos) return 0;
    at = quote + 1;
  }
  return 0;
}

}  // namespace

std::optional<MarkupTag> tag_at(std::string_view text, std::size_t at) {
  text = text.substr(at, kLongestTag);
  if (const std::size_t length = special_length(text); length > 0) return MarkupTag{.length = length};
  const bool closes = text.size() > 1 && text[1] == '/';
  const std::size_t begin = closes ? 2 : 1;
  std::size_t end = begin;
  if (begin >= text.size() || !(is_letter(text[begin]) || text[begin] == '_')) return {};
  while (end < text.size() && is_name(text[end])) ++end;
  const std::size_t length = end_of_tag(text, end);
  if (length == 0) return {};
  MarkupTag tag{.length = length, .name = text.substr(begin, end - begin)};
  const bool is_single = text[length - 2] == '/' || is_one_of(tag.name, kEmpty);
  tag.kind = closes ? MarkupTag::Kind::close : is_single ? MarkupTag::Kind::single : MarkupTag::Kind::open;
  tag.breaks_line = is_one_of(tag.name, kBreaks);
  return tag;
}

std::optional<MarkupEntity> entity_at(std::string_view text, std::size_t at) {
  text = text.substr(at, 12);
  const std::size_t end = text.find(';');
  if (end == std::string_view::npos) return {};
  std::string_view name = text.substr(1, end - 1);
  constexpr std::pair<std::string_view, char32_t> kNames[] = {{"amp", '&'},  {"lt", '<'},    {"gt", '>'},
                                                              {"quot", '"'}, {"apos", '\''}, {"nbsp", 0xA0}};
  for (const auto& [known, point] : kNames) {
    if (name == known) return MarkupEntity{point, end + 1};
  }
  if (!name.starts_with('#')) return {};
  name.remove_prefix(1);
  const bool is_hex = name.starts_with('x') || name.starts_with('X');
  if (is_hex) name.remove_prefix(1);
  std::uint32_t number = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), number, is_hex ? 16 : 10);
  const bool valid = error == std::errc() && rest == name.data() + name.size() && number >= 0x20 &&
                     number <= 0x10FFFF && (number < 0xD800 || number > 0xDFFF);
  return valid ? std::optional(MarkupEntity{number, end + 1}) : std::nullopt;
}

}  // namespace heed::text
