#include "heed/chat/lexer.h"

#include <algorithm>
#include <array>

#include "heed/base/utf8.h"
#include "heed/chat/literals.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

// Newlines as \n, and none at the very end.
std::string normalized(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
    out += source[i] == '\r' ? '\n' : source[i];
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

bool is_name_point(char32_t point) {
  if (point < 0x80) return point == '_' || std::isalnum(static_cast<int>(point));
  return is_letter(point) || is_digit(point);
}

class Lexer {
 public:
  Lexer(std::string_view source, const std::string& name) : name_(name), source_(normalized(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      const std::size_t tag = next_tag();
      const std::string_view text = view().substr(at_, tag - at_);
      if (tag == source_.size()) {
        add_data(text, text.size());
        break;
      }
      tag_at(tag, text);
    }
    tokens_.push_back({TokenKind::kEnd, "", {}, line_});
    return std::move(tokens_);
  }

 private:
  std::string_view view() const { return source_; }
  bool is_at(std::size_t place, std::string_view text) const { return view().substr(place).starts_with(text); }
  [[noreturn]] void refuse(const std::string& why) const { fail(ErrorKind::bad_format, name_, ":", line_, ": ", why); }
  void check(bool right, const char* why) const {
    if (!right) refuse(why);
  }

  // Where the next {{, {% or {# is; the size of the source if there is none.
  std::size_t next_tag() const {
    for (std::size_t brace = at_; (brace = source_.find('{', brace)) != std::string::npos; ++brace) {
      const char next = brace + 1 < source_.size() ? source_[brace + 1] : ' ';
      if (next == '{' || next == '%' || next == '#') return brace;
    }
    return source_.size();
  }

  std::size_t skip_spaces(std::size_t place) const {
    while (place < source_.size() && is_space(utf8_decode(view(), place).value)) {
      place += utf8_decode(view(), place).length;
    }
    return place;
  }

  void move_to(std::size_t place) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
    if (place > at_) line_starting_ = source_[place - 1] == '\n';
    at_ = place;
  }

  // `text` before a tag that begins like this: "{%-".
  std::string_view trimmed(std::string_view text, char sign, bool is_variable) const {
    if (sign == '-') return strip(text, Side::kRight);
    if (sign == '+' || is_variable) return text;
    const std::size_t line = text.rfind('\n') + 1;  // npos + 1 is 0
    const bool starts_line = line > 0 || line_starting_;
    return starts_line && strip(text.substr(line), Side::kRight).empty() ? text.substr(0, line) : text;
  }

  void add_data(std::string_view text, std::size_t length) {
    if (!text.empty()) tokens_.push_back({TokenKind::kData, std::string(text), {}, line_});
    move_to(at_ + length);
  }

  char sign_at(std::size_t place) const {
    const char c = place < source_.size() ? source_[place] : ' ';
    return c == '-' || c == '+' ? c : ' ';
  }

  void tag_at(std::size_t tag, std::string_view text) {
    const char kind = source_[tag + 1];
    const char sign = sign_at(tag + 2);
    const std::size_t inside = tag + 2 + (sign == ' ' ? 0 : 1);
    const std::size_t raw = kind == '%' ? raw_begin_end(inside) : 0;
    add_data(trimmed(text, sign, kind == '{'), text.size());
    const int line = line_;
    move_to(raw ? raw : inside);
    if (raw) return raw_block();
    if (kind == '#') return comment();
    const bool is_block = kind == '%';
    tokens_.push_back({is_block ? TokenKind::kBlockBegin : TokenKind::kVariableBegin, "", {}, line});
    while (!tag_end(is_block)) token();
  }

  // Where the tag `raw` at this place ends; 0 if it is none.
  std::size_t raw_begin_end(std::size_t place) const {
    place = skip_spaces(place);
    if (!is_at(place, "raw")) return 0;
    place = skip_spaces(place + 3);
    if (is_at(place, "-%}")) return skip_spaces(place + 3);
    return is_at(place, "%}") ? place + 2 : 0;
  }

  // The end of a block tag or a comment, "%}" or "#}", at this place; 0 if it is not there.
  std::size_t closed_end(std::size_t place, std::string_view closing) const {
    const char sign = sign_at(place);
    if (!is_at(sign == ' ' ? place : place + 1, closing)) return 0;
    const std::size_t end = place + closing.size() + (sign == ' ' ? 0 : 1);
    if (sign == '-') return skip_spaces(end);
    return sign == ' ' && is_at(end, "\n") ? end + 1 : end;
  }

  void raw_block() {
    for (std::size_t tag = at_; (tag = source_.find("{%", tag)) != std::string::npos; ++tag) {
      const char sign = sign_at(tag + 2);
      const std::size_t word = skip_spaces(tag + 2 + (sign == ' ' ? 0 : 1));
      if (!is_at(word, "endraw")) continue;
      const std::size_t end = closed_end(skip_spaces(word + 6), "%}");
      if (!end) continue;
      const std::string_view text = view().substr(at_, tag - at_);
      add_data(trimmed(text, sign, false), text.size());
      move_to(end);
      return;
    }
    refuse("Missing end of raw directive");
  }

  void comment() {
    std::size_t closing = source_.find("#}", at_);
    check(closing != std::string::npos, "Missing end of comment tag");
    if (closing > at_ && sign_at(closing - 1) != ' ') --closing;
    move_to(closed_end(closing, "#}"));
  }

  // Takes the end of the tag if it is here and all brackets are closed.
  bool tag_end(bool is_block) {
    move_to(skip_spaces(at_));
    check(at_ < source_.size(), "Unexpected end of template");
    if (!brackets_.empty()) return false;
    std::size_t end = 0;
    if (is_block) {
      end = closed_end(at_, "%}");
    } else if (is_at(at_, "-}}")) {
      end = skip_spaces(at_ + 3);
    } else if (is_at(at_, "}}")) {
      end = at_ + 2;
    }
    if (!end) return false;
    tokens_.push_back({is_block ? TokenKind::kBlockEnd : TokenKind::kVariableEnd, "", {}, line_});
    move_to(end);
    return true;
  }

  void token() {
    const std::string_view rest = view().substr(at_);
    if (const std::size_t length = number_length(rest, at_ > 0 && source_[at_ - 1] == '.')) {
      add_constant(length, [&] { return parse_number(rest.substr(0, length)); });
    } else if (const std::size_t name = name_length(rest)) {
      tokens_.push_back({TokenKind::kName, std::string(rest.substr(0, name)), {}, line_});
      move_to(at_ + name);
    } else if (const std::size_t quoted = string_length(rest)) {
      add_constant(quoted, [&] { return Value(unescape(rest.substr(1, quoted - 2))); });
    } else {
      operator_token(rest);
    }
  }

  template <class Parse>
  void add_constant(std::size_t length, const Parse& parse) {
    try {
      tokens_.push_back({TokenKind::kConstant, "", parse(), line_});
    } catch (const Error& error) {
      refuse(error.what());
    }
    move_to(at_ + length);
  }

  static std::size_t name_length(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && is_name_point(utf8_decode(text, end).value)) end += utf8_decode(text, end).length;
    return end;
  }

  // 0 if no string begins here, or none that ends.
  static std::size_t string_length(std::string_view text) {
    if (text[0] != '\'' && text[0] != '"') return 0;
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == text[0]) {
        return i + 1;
      }
    }
    return 0;
  }

  void operator_token(std::string_view rest) {
    static constexpr std::array<std::string_view, 6> kPairs = {"//", "**", "==", "!=", ">=", "<="};
    const bool is_pair = std::ranges::find(kPairs, rest.substr(0, 2)) != kPairs.end();
    const std::string_view text = rest.substr(0, is_pair ? 2 : 1);
    if (!is_pair && std::string_view("+-/*%~[](){}><=.:|,;").find(text) == std::string_view::npos) {
      refuse("unexpected char " + std::string(rest.substr(0, utf8_decode(rest, 0).length)));
    }
    balance(text[0]);
    tokens_.push_back({TokenKind::kOperator, std::string(text), {}, line_});
    move_to(at_ + text.size());
  }

  void balance(char c) {
    if (c == '(' || c == '[' || c == '{') brackets_ += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c != ')' && c != ']' && c != '}') return;
    if (brackets_.empty()) refuse(std::string("unexpected '") + c + "'");
    if (brackets_.back() != c) refuse(std::string("unexpected '") + c + "', expected '" + brackets_.back() + "'");
    brackets_.pop_back();
  }

  const std::string& name_;
  std::string source_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::string brackets_;  // the closing ones that are awaited
};

}  // namespace

std::vector<Token> tokenize(std::string_view source, const std::string& name) {
  HEED_CHECK_AS(bad_format, source.size() <= kMostTemplateBytes, name, ": a template of ", source.size(),
                " bytes, expected at most ", kMostTemplateBytes);
  HEED_CHECK_AS(bad_format, !utf8_find_invalid(source), name, ": the template is not UTF-8");
  return Lexer(source, name).run();
}

}  // namespace heed::chat
