#include "heed/metrics/words.h"

#include "heed/base/utf8.h"
#include "heed/text/letter_case.h"
#include "heed/text/unicode.h"

namespace heed {

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = utf8_decode(text, at);
    const bool space = text::is_space(point.value);
    if (!space && !inside) begin = at;
    if (space && inside) words.push_back(text.substr(begin, at - begin));
    inside = !space;
    at += point.length;
  }
  if (inside) words.push_back(text.substr(begin));
  return words;
}

std::string_view strip(std::string_view text) {
  while (!text.empty()) {
    const CodePoint first = utf8_decode(text, 0);
    if (!text::is_space(first.value)) break;
    text.remove_prefix(first.length);
  }
  return strip_right(text);
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && text::is_continuation(text[last])) --last;
    if (!text::is_space(utf8_decode(text, last).value)) break;
    text = text.substr(0, last);
  }
  return text;
}

std::string replace_all(std::string_view text, std::string_view part, std::string_view by) {
  std::string result;
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find(part, at);
    result += text.substr(at, found - at);
    if (found == std::string_view::npos) return result;
    result += by;
    at = found + part.size();
  }
}

}  // namespace heed
