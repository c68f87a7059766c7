#include "heed/metrics/mteval.h"

#include "heed/metrics/words.h"

namespace heed {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_period(char c) {
  return c == '.' || c == ',';
}

bool is_symbol(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
         (c >= ':' && c <= '@') || c == '/';
}

// Two bytes that `fit` are rewritten by write(out, first, second), from left to right, and do not overlap. All that is
// looked for is ASCII, so bytes of other characters are as good as whole ones.
template <class Fit, class Write>
std::string rewrite_pairs(std::string_view text, const Fit& fit, const Write& write) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && fit(text[i], text[i + 1])) {
      write(out, text[i], text[i + 1]);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

void write_spaced_second(std::string& out, char first, char second) {
  out += first;
  out += ' ';
  out += second;
  out += ' ';
}

void write_spaced_first(std::string& out, char first, char second) {
  out += ' ';
  out += first;
  out += ' ';
  out += second;
}

}  // namespace

std::string without_entities(std::string_view text) {
  if (text.find('&') == std::string_view::npos) return std::string(text);
  std::string result = replace_all(text, "&quot;", "\"");
  result = replace_all(result, "&amp;", "&");
  result = replace_all(result, "&lt;", "<");
  return replace_all(result, "&gt;", ">");
}

std::string space_symbols(std::string_view text) {
  std::string out;
  out.reserve(text.size() * 2);
  for (const char c : text) {
    if (is_symbol(c)) {
      out += ' ';
      out += c;
      out += ' ';
    } else {
      out += c;
    }
  }
  return out;
}

std::string space_periods(std::string_view text) {
  const std::string after_others = rewrite_pairs(
      text, [](char a, char b) { return !is_digit(a) && is_period(b); }, write_spaced_second);
  const std::string before_others = rewrite_pairs(
      after_others, [](char a, char b) { return is_period(a) && !is_digit(b); }, write_spaced_first);
  return rewrite_pairs(
      before_others, [](char a, char b) { return is_digit(a) && b == '-'; }, write_spaced_second);
}

}  // namespace heed
