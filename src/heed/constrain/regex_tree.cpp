#include "heed/constrain/regex_tree.h"

#include <array>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/constrain/grammar.h"
#include "heed/text/unicode.h"

namespace heed::constrain {
namespace {

using Kind = RegexNode::Kind;
constexpr int kMaxNesting = 200;

const CharSet kDigits{{'0', '9'}};
const CharSet kWords{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const CharSet kSpaces{{'\t', '\r'}, {' ', ' '}};
const CharSet kLineEnds{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

CharSet with_property(text::Properties property) {
  const text::PropertyTable table;
  CharSet set;
  for (char32_t point = 0; point <= kLastPoint; ++point) {
    if (!table.has(point, property)) continue;
    char32_t last = point;
    while (last < kLastPoint && table.has(last + 1, property)) ++last;
    set.add(point, last);
    point = last;
  }
  return set;
}

// What \p may name, found once.
const auto& properties() {
  static const std::array<std::pair<std::string_view, CharSet>, 6> sets = [] {
    const CharSet letters = with_property(text::kIsRegexLetter), numbers = with_property(text::kIsRegexNumber);
    const CharSet marks = with_property(text::kIsCombiningMark), flat = with_property(text::kIsNonspacingMark);
    return std::array<std::pair<std::string_view, CharSet>, 6>{{{"{L}", letters},
                                                                {"{Letter}", letters},
                                                                {"{N}", numbers},
                                                                {"{Number}", numbers},
                                                                {"{M}", marks},
                                                                {"{Mn}", flat}}};
  }();
  return sets;
}

class Parser {
 public:
  Parser(std::string_view pattern, const std::string& context) : context_(context) {
    const auto invalid = utf8_find_invalid(pattern);
    HEED_CHECK_AS(bad_format, !invalid, context, ": byte ", *invalid, " of the regular expression is not UTF-8");
    for (const CodePoint& point : Utf8View(pattern)) points_.push_back(point.value);
  }

  RegexNode run() {
    RegexNode result = choice();
    if (at_ < points_.size()) refuse("a ) without its (");
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail(ErrorKind::bad_format, context_, ": character ", at_ + 1, " of the regular expression: ", why);
  }
  bool sees(char32_t point) const { return at_ < points_.size() && points_[at_] == point; }
  bool take(char32_t point) {
    if (!sees(point)) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view ascii) {
    if (points_.size() - at_ < ascii.size()) return false;
    for (std::size_t i = 0; i < ascii.size(); ++i) {
      if (points_[at_ + i] != static_cast<unsigned char>(ascii[i])) return false;
    }
    at_ += ascii.size();
    return true;
  }
  char32_t next() {
    if (at_ == points_.size()) refuse("ends too early");
    return points_[at_++];
  }

  RegexNode choice() {
    RegexNode result{.kind = Kind::choice};
    do {
      result.parts.push_back(sequence());
    } while (take(U'|'));
    if (result.parts.size() == 1) return std::move(result.parts[0]);
    return result;
  }

  RegexNode sequence() {
    RegexNode result;
    while (at_ < points_.size() && !sees(U'|') && !sees(U')')) result.parts.push_back(repeated());
    if (result.parts.size() == 1) return std::move(result.parts[0]);
    return result;
  }

  RegexNode repeated() {
    RegexNode item = atom();
    int nested = 0;
    for (std::optional<RegexNode> repeat; (repeat = quantifier());) {
      if (item.kind == Kind::begin || item.kind == Kind::end) refuse("an anchor cannot be repeated");
      if (++nested > 1) refuse("a quantifier after a quantifier; write (?:...) around the first");
      take(U'?');  // lazy: the same texts
      if (sees(U'+')) refuse("possessive quantifiers are not supported");
      repeat->parts.push_back(std::move(item));
      item = std::move(*repeat);
    }
    return item;
  }

  std::optional<RegexNode> quantifier() {
    if (take(U'*')) return RegexNode{.kind = Kind::repeat, .min = 0, .max = kUnbounded};
    if (take(U'+')) return RegexNode{.kind = Kind::repeat, .min = 1, .max = kUnbounded};
    if (take(U'?')) return RegexNode{.kind = Kind::repeat, .min = 0, .max = 1};
    const std::size_t start = at_;
    if (!take(U'{')) return std::nullopt;
    if (sees(U',')) refuse("{,n} means other things to Python than to ECMA-262: write {0,n} or \\{");
    RegexNode result{.kind = Kind::repeat};
    const auto min = number();
    bool good = min.has_value();
    if (good) {
      result.min = result.max = *min;
      if (take(U',')) result.max = number().value_or(kUnbounded);
      good = take(U'}');
    }
    if (!good) {  // a brace that stands for itself
      at_ = start;
      return std::nullopt;
    }
    if (result.min > result.max) refuse("the repetition has a minimum above its maximum");
    return result;
  }

  std::optional<std::uint32_t> number() {
    std::optional<std::uint32_t> result;
    while (at_ < points_.size() && kDigits.contains(points_[at_])) {
      result = result.value_or(0) * 10 + static_cast<std::uint32_t>(points_[at_++] - U'0');
      if (*result > 1000000) refuse("a repetition of more than 1000000");
    }
    return result;
  }

  RegexNode atom() {
    const char32_t point = next();
    switch (point) {
      case U'^': return {.kind = Kind::begin};
      case U'$': return {.kind = Kind::end};
      case U'.': return {.kind = Kind::chars, .set = kLineEnds.complement()};
      case U'(': return group();
      case U'[': return {.kind = Kind::chars, .set = char_class()};
      case U'\\': return {.kind = Kind::chars, .set = escape(false)};
      case U'*':
      case U'+':
      case U'?': --at_; refuse("a quantifier without anything before it");
      default: return {.kind = Kind::chars, .set = {{point, point}}};
    }
  }

  RegexNode group() {
    if (take(U'?')) {
      if (take("<=") || take("<!")) refuse("lookbehind is not supported");
      if (sees(U'=') || sees(U'!')) refuse("lookahead is not supported");
      const bool named = take("P<") || take("<");
      if (named) {
        while (next() != U'>') {
        }
      } else if (!take(U':')) {
        if (take("P=")) refuse("back-references are not supported");
        if (sees(U'>')) refuse("atomic groups are not supported");
        refuse("flags and other (?...) groups are not supported");
      }
    }
    if (++depth_ > kMaxNesting) refuse("groups are nested more than " + std::to_string(kMaxNesting) + " deep");
    RegexNode result = choice();
    --depth_;
    if (!take(U')')) refuse("a ( without its )");
    return result;
  }

  // What stands between the brackets; the first is taken.
  CharSet char_class() {
    CharSet set;
    const bool negated = take(U'^');
    if (sees(U']')) refuse("an empty class");
    while (!take(U']')) {
      const CharSet low = class_item();
      if (at_ + 1 >= points_.size() || !sees(U'-') || points_[at_ + 1] == U']') {
        set.add(low);
        continue;
      }
      ++at_;
      const CharSet high = class_item();
      if (!single(low) || !single(high)) refuse("a range between classes");
      const char32_t first = low.ranges()[0].low, last = high.ranges()[0].low;
      if (first > last) refuse("a range that ends before it begins");
      set.add(first, last);
    }
    set = negated ? set.complement() : set;
    if (set.empty()) refuse("a class without characters");
    return set;
  }
  static bool single(const CharSet& set) {
    return set.ranges().size() == 1 && set.ranges()[0].low == set.ranges()[0].high;
  }
  CharSet class_item() {
    const char32_t point = next();
    return point == U'\\' ? escape(true) : CharSet{{point, point}};
  }

  CharSet escape(bool in_class) {
    const char32_t point = next();
    switch (point) {
      case U'd': return kDigits;
      case U'D': return kDigits.complement();
      case U'w': return kWords;
      case U'W': return kWords.complement();
      case U's': return kSpaces;
      case U'S': return kSpaces.complement();
      case U't': return one(U'\t');
      case U'n': return one(U'\n');
      case U'r': return one(U'\r');
      case U'f': return one(U'\f');
      case U'v': return one(U'\v');
      case U'0': return one(0);
      case U'x': return one(hex(2));
      case U'u': return one(sees(U'{') ? braced_hex() : utf16());
      case U'p': return property();
      case U'P': return property().complement();
      case U'b':
        if (in_class) return one(U'\b');
        [[fallthrough]];
      case U'B': refuse("word boundaries are not supported");
      case U'k': refuse("back-references are not supported");
      default: break;
    }
    if (point >= U'1' && point <= U'9') refuse("back-references are not supported");
    if (kWords.contains(point) && point != U'_') refuse("unknown escape");
    return one(point);
  }

  CharSet one(char32_t point) const {
    if (point > kLastPoint || (point >= 0xD800 && point <= 0xDFFF)) refuse("not a character");
    return {{point, point}};
  }

  char32_t hex_digit() {
    const char32_t point = next();
    if (point >= U'0' && point <= U'9') return point - U'0';
    const char32_t low = point | 0x20;
    if (low < U'a' || low > U'f') refuse("expected a hexadecimal digit");
    return low - U'a' + 10;
  }
  char32_t hex(int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i) value = value * 16 + hex_digit();
    return value;
  }
  char32_t utf16() {
    const char32_t high = hex(4);
    if (high < 0xD800 || high > 0xDBFF || !take("\\u")) return high;
    const char32_t low = hex(4);
    if (low < 0xDC00 || low > 0xDFFF) refuse("half a surrogate pair");
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }
  char32_t braced_hex() {
    char32_t value = 0;
    ++at_;
    do {
      value = value * 16 + hex_digit();
      if (value > kLastPoint) refuse("not a character");
    } while (!take(U'}'));
    return value;
  }

  CharSet property() {
    for (const auto& [name, set] : properties()) {
      if (take(name)) return set;
    }
    refuse("of \\p{...}, only L, N, M and Mn are supported");
  }

  const std::string& context_;
  std::u32string points_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

RegexNode parse_regex(std::string_view pattern, const std::string& context) {
  constexpr std::size_t kMaxBytes = 1 << 18;
  HEED_CHECK_AS(bad_format, pattern.size() <= kMaxBytes, context, ": a regular expression of ", pattern.size(),
                " bytes, more than ", kMaxBytes);
  return Parser(pattern, context).run();
}

}  // namespace heed::constrain
