#include "heed/text/byte_level.h"

#include <array>

#include "heed/text/unicode.h"

namespace heed::text {
namespace {

struct Alphabet {
  std::array<char32_t, 256> points;
  std::array<std::string, 256> texts;        // UTF-8 of points
  std::array<std::int16_t, 0x180> bytes_of;  // -1: not of the alphabet

  Alphabet() {
    bytes_of.fill(-1);
    char32_t next = 256;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool visible = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      points[byte] = visible ? byte : next++;
      append_point(texts[byte], points[byte]);
      bytes_of[points[byte]] = static_cast<std::int16_t>(byte);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet instance;
  return instance;
}

enum class Kind : unsigned char { other, letter, number, space, end };

// Reads kinds of characters from left to right.
class Scanner {
 public:
  Scanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  const char* at() const { return at_; }
  Kind kind() const { return at_ < end_ ? kind_at(at_).first : Kind::end; }
  void next() { at_ = kind_at(at_).second; }
  void move_to(const char* at) { at_ = at; }
  // Moves past characters of one kind; returns the start of the last of them.
  const char* skip(Kind wanted) {
    const char* last = at_;
    while (at_ < end_) {
      const auto [found, next] = kind_at(at_);
      if (found != wanted) break;
      last = at_;
      at_ = next;
    }
    return last;
  }

 private:
  std::pair<Kind, const char*> kind_at(const char* at) const {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte < 0x80) {
      const auto low = static_cast<unsigned char>(byte | 0x20);
      if (low >= 'a' && low <= 'z') return {Kind::letter, at + 1};
      if (byte == ' ' || (byte >= '\t' && byte <= '\r')) return {Kind::space, at + 1};
      return {byte >= '0' && byte <= '9' ? Kind::number : Kind::other, at + 1};
    }
    const Properties properties = table_[next_point(at)];
    if (properties & kIsRegexLetter) return {Kind::letter, at};
    if (properties & kIsRegexNumber) return {Kind::number, at};
    return {properties & kIsWhitespace ? Kind::space : Kind::other, at};
  }

  const char* at_;
  const char* end_;
  PropertyTable table_;
};

// Bytes of the contraction that `text` starts with, 0 when it starts with none.
std::size_t contraction(std::string_view text) {
  if (text.size() < 2) return 0;
  switch (text[1]) {
    case 's':
    case 't':
    case 'm':
    case 'd': return 2;
    case 'r':
    case 'v': return text.size() > 2 && text[2] == 'e' ? 3 : 0;
    case 'l': return text.size() > 2 && text[2] == 'l' ? 3 : 0;
    default: return 0;
  }
}

// Moves the scanner past the word that starts where it stands.
void scan_word(std::string_view text, Scanner& scanner) {
  const char* start = scanner.at();
  if (*start == '\'') {
    const auto rest = text.substr(static_cast<std::size_t>(start - text.data()));
    if (const std::size_t length = contraction(rest)) {
      scanner.move_to(start + length);
      return;
    }
  }
  if (*start == ' ') scanner.next();
  const Kind kind = scanner.kind();
  if (kind != Kind::space && kind != Kind::end) {
    scanner.skip(kind);
    return;
  }
  // White space: the last one of several goes to the word after it.
  scanner.move_to(start);
  const char* last = scanner.skip(Kind::space);
  if (scanner.kind() != Kind::end && last != start) scanner.move_to(last);
}

}  // namespace

char32_t byte_level_point(unsigned char byte) {
  return alphabet().points[byte];
}

std::optional<unsigned char> byte_level_byte(char32_t point) {
  const Alphabet& all = alphabet();
  if (point >= all.bytes_of.size() || all.bytes_of[point] < 0) return std::nullopt;
  return static_cast<unsigned char>(all.bytes_of[point]);
}

void byte_level_rewrite(std::string_view old_text, std::size_t end, Rewriter& rewriter) {
  const Alphabet& all = alphabet();
  while (rewriter.cursor() < end) {
    const char* at = old_text.data() + rewriter.cursor();
    const std::uint32_t length = sequence_length(*at);
    if (length == 1) {
      rewriter.replace_next(all.texts[static_cast<unsigned char>(*at)]);
      continue;
    }
    char buffer[8];
    std::size_t size = 0;
    for (std::uint32_t i = 0; i < length; ++i) {
      const std::string& text = all.texts[static_cast<unsigned char>(at[i])];
      size += text.copy(buffer + size, text.size());
    }
    rewriter.replace_next({buffer, size});
  }
}

void gpt2_words(std::string_view text, std::vector<Span>& words) {
  Scanner scanner(text);
  const char* end = text.data() + text.size();
  while (scanner.at() < end) {
    const auto begin = static_cast<std::uint32_t>(scanner.at() - text.data());
    scan_word(text, scanner);
    words.push_back({begin, static_cast<std::uint32_t>(scanner.at() - text.data())});
  }
}

}  // namespace heed::text
