// Grammars in GBNF, the notation of llama.cpp.
#include <algorithm>
#include <memory>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/constrain/automaton.h"
#include "heed/constrain/constraint.h"

namespace heed::constrain {
namespace {

constexpr std::uint32_t kMaxDepth = 1000;
constexpr int kMaxNesting = 200;
constexpr std::uint32_t kMaxRepetitions = 1000000;

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), grammar_("grammar", kMaxDepth) {
    const auto invalid = utf8_find_invalid(text);
    HEED_CHECK_AS(bad_format, !invalid, "grammar: byte ", *invalid, " is not UTF-8");
  }

  Grammar run(const std::string& root) {
    skip_space(true);
    while (at_ < text_.size()) rule();
    for (const auto& [name, known] : rules_) {
      if (!known.defined) refuse_at(known.first_use, "rule " + name + " is not defined");
    }
    const auto found = rules_.find(root);
    HEED_CHECK_AS(bad_format, found != rules_.end(), "grammar: there is no rule ", root, " to start with");
    grammar_.set_root(found->second.id);
    return std::move(grammar_);
  }

 private:
  struct Known {
    RuleId id;
    std::size_t first_use;
    bool defined = false;
  };

  [[noreturn]] void refuse_at(std::size_t place, const std::string& why) const {
    const std::string_view read = text_.substr(0, place);
    const auto line = std::count(read.begin(), read.end(), '\n') + 1;
    fail(ErrorKind::bad_format, "grammar:", line, ":", place - (read.rfind('\n') + 1) + 1, ": ", why);
  }
  [[noreturn]] void refuse(const std::string& why) const { refuse_at(at_, why); }
  bool sees(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }

  // White space and comments; the end of a line only where it does not end the rule.
  void skip_space(bool lines) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
      } else if (c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r'))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    if (at_ == start) refuse("expected the name of a rule");
    return std::string(text_.substr(start, at_ - start));
  }

  Known& known(const std::string& rule_name, std::size_t place) {
    const auto [found, fresh] = rules_.try_emplace(rule_name, Known{0, place});
    if (fresh) found->second.id = grammar_.add_rule(rule_name, 1);
    return found->second;
  }

  void rule() {
    const std::size_t place = at_;
    const std::string rule_name = name();
    Known& defined = known(rule_name, place);
    if (defined.defined) refuse_at(place, "rule " + rule_name + " is defined a second time");
    defined.defined = true;
    const RuleId id = defined.id;
    skip_space(false);
    if (!take("::=")) refuse("expected ::= after " + rule_name);
    skip_space(true);
    grammar_.define(id, choice(false));
    if (at_ < text_.size() && !sees('\n') && !sees('\r')) refuse("expected the end of the line or |");
    skip_space(true);
  }

  ExpressionId choice(bool nested) {
    std::vector<ExpressionId> ways{sequence(nested)};
    while (take("|")) {
      skip_space(true);
      ways.push_back(sequence(nested));
    }
    return grammar_.choice(ways);
  }

  ExpressionId sequence(bool nested) {
    std::vector<ExpressionId> parts;
    while (at_ < text_.size()) {
      if (const char c = text_[at_]; c == '*' || c == '+' || c == '?' || c == '{') {
        if (parts.empty()) refuse("a repetition without anything before it");
        parts.back() = repetition(parts.back());
      } else if (c == '|' || c == ')' || c == '\n' || c == '\r') {
        break;
      } else {
        parts.push_back(item());
      }
      skip_space(nested);
    }
    return grammar_.sequence(parts);
  }

  ExpressionId item() {
    const std::size_t place = at_;
    if (take("\"")) return literal();
    if (take("[")) return char_class();
    if (take(".")) return grammar_.chars(CharSet::all());
    if (take("!")) {
      if (!take("<")) refuse("expected a token in angle brackets after !");
      return token(true);
    }
    if (take("<")) return token(false);
    if (take("(")) {
      if (++depth_ > kMaxNesting) refuse("groups are nested more than " + std::to_string(kMaxNesting) + " deep");
      skip_space(true);
      const ExpressionId inside = choice(true);
      --depth_;
      if (!take(")")) refuse("expected ) for the ( of this group");
      return inside;
    }
    if (is_name(text_[at_])) {
      const std::string used = name();
      return grammar_.rule(known(used, place).id);
    }
    refuse("expected a rule, a literal, a class or a group");
  }

  ExpressionId literal() {
    std::string bytes;
    while (!take("\"")) utf8_append(bytes, character("the \" that ends the literal"));
    return grammar_.literal(bytes);
  }

  ExpressionId char_class() {
    const bool negated = take("^");
    CharSet set;
    while (!take("]")) {
      const std::size_t place = at_;
      const char32_t low = character("the ] that ends the class");
      char32_t high = low;
      if (sees('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        high = character("the ] that ends the class");
      }
      if (low > high) refuse_at(place, "a range that ends before it begins");
      set.add(low, high);
    }
    if (set.empty()) refuse("an empty class");
    return grammar_.chars(negated ? set.complement() : set);
  }

  char32_t character(const std::string& expected) {
    if (at_ >= text_.size()) refuse("expected " + expected);
    if (text_[at_] != '\\') {
      const CodePoint point = utf8_decode(text_, at_);
      at_ += point.length;
      return point.value;
    }
    ++at_;
    const char c = at_ < text_.size() ? text_[at_++] : ' ';
    switch (c) {
      case 'n': return U'\n';
      case 't': return U'\t';
      case 'r': return U'\r';
      case 'x': return hex(2);
      case 'u': return hex(4);
      case 'U': return hex(8);
      case '"':
      case '\\':
      case '[':
      case ']':
      case '-': return static_cast<unsigned char>(c);
      default: break;
    }
    --at_;
    refuse("unknown escape; known are \\n \\t \\r \\\" \\\\ \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH");
  }

  char32_t hex(int digits) {
    std::uint64_t value = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : ' ';
      const char low = static_cast<char>(c | 0x20);
      const bool decimal = c >= '0' && c <= '9';
      if (!decimal && (low < 'a' || low > 'f')) refuse("expected " + std::to_string(digits) + " hexadecimal digits");
      value = value * 16 + static_cast<std::uint64_t>(decimal ? c - '0' : low - 'a' + 10);
    }
    if (value > kLastPoint || (value >= 0xD800 && value <= 0xDFFF)) refuse("not a character");
    return static_cast<char32_t>(value);
  }

  // After the <: an id in brackets, or the text of the token, whose own angle brackets these are.
  ExpressionId token(bool negated) {
    TokenReference reference;
    reference.negated = negated;
    const std::size_t start = at_ - 1;
    if (take("[")) {
      const auto id = number();
      if (!id || !take("]>")) refuse("expected a token by its id, <[123]>");
      reference.id = static_cast<std::int32_t>(*id);
      return grammar_.token(std::move(reference));
    }
    const std::size_t end = text_.find_first_of(">\r\n", at_);
    if (end == std::string_view::npos || text_[end] != '>') refuse("expected > after the text of a token");
    at_ = end + 1;
    reference.text = std::string(text_.substr(start, at_ - start));
    return grammar_.token(std::move(reference));
  }

  std::optional<std::uint32_t> number() {
    std::optional<std::uint32_t> result;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      result = result.value_or(0) * 10 + static_cast<std::uint32_t>(text_[at_] - '0');
      if (*result > 100000000) refuse("a number that is too large");
    }
    return result;
  }

  ExpressionId repetition(ExpressionId repeated) {
    const std::size_t place = at_;
    if (take("*")) return grammar_.repeat(repeated, 0, kUnbounded);
    if (take("+")) return grammar_.repeat(repeated, 1, kUnbounded);
    if (take("?")) return grammar_.optional(repeated);
    take("{");
    skip_space(false);
    const auto low = number();
    if (!low) refuse("expected the number of repetitions");
    std::uint32_t high = *low;
    skip_space(false);
    if (take(",")) {
      skip_space(false);
      high = number().value_or(kUnbounded);
      skip_space(false);
    }
    if (!take("}")) refuse("expected } after the number of repetitions");
    if (*low > high) refuse_at(place, "a repetition with a minimum above its maximum");
    if (*low > kMaxRepetitions || (high != kUnbounded && high > kMaxRepetitions)) {
      refuse_at(place, "a repetition of more than " + std::to_string(kMaxRepetitions));
    }
    return grammar_.repeat(repeated, *low, high);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Grammar grammar_;
  std::unordered_map<std::string, Known> rules_;
};

}  // namespace

Constraint gbnf_constraint(std::string_view text, const std::string& root) {
  constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
  HEED_CHECK_AS(bad_format, text.size() <= kMaxBytes, "grammar: ", text.size(), " bytes, more than ", kMaxBytes);
  return Constraint(std::make_shared<const Automaton>(compile(Parser(text).run(root))));
}

}  // namespace heed::constrain
