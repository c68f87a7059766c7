#include "heed/constrain/json_text.h"

#include <map>
#include <memory>

#include "heed/base/utf8.h"
#include "heed/constrain/automaton.h"
#include "heed/constrain/constraint.h"
#include "heed/constrain/regex.h"

namespace heed::constrain {
namespace {

// Any number of at most 18 digits before and after the point whose exponent keeps it finite.
constexpr std::string_view kNumber = R"(-?(0|[1-9]\d{0,17})(\.\d{1,18})?([eE](\+?(\d{1,2}|1\d\d|2[0-8]\d)|-\d{1,3}))?)";

CharSet hex_digits(const CharSet& controls, char32_t first) {
  CharSet digits;
  for (char32_t i = 0; i < 16; ++i) {
    if (!controls.contains(first + i)) continue;
    digits.add(i < 10 ? U'0' + i : U'a' + i - 10);
    if (i >= 10) digits.add(U'A' + i - 10);
  }
  return digits;
}

}  // namespace

ExpressionId JsonText::separator(const char* mark) {
  return grammar_.sequence({grammar_.literal(mark), grammar_.optional(grammar_.literal(" "))});
}

ExpressionId JsonText::chars(const CharSet& set) {
  constexpr std::pair<char32_t, char32_t> kShort[] = {{U'"', U'"'},  {U'\\', U'\\'}, {U'\b', U'b'}, {U'\f', U'f'},
                                                      {U'\n', U'n'}, {U'\r', U'r'},  {U'\t', U't'}};
  std::vector<ExpressionId> ways, escapes;
  CharSet rest = set, letters;
  for (const auto& [point, letter] : kShort) {
    if (rest.contains(point)) letters.add(letter);
    rest = rest - CharSet{{point, point}};
  }
  if (!letters.empty()) escapes.push_back(grammar_.chars(letters));
  const CharSet controls = rest & CharSet{{0, 0x1F}};
  rest = rest - controls;
  for (const auto& [first, prefix] : {std::pair(char32_t{0}, "u000"), std::pair(char32_t{16}, "u001")}) {
    const CharSet digits = hex_digits(controls, first);
    if (!digits.empty()) escapes.push_back(grammar_.sequence({grammar_.literal(prefix), grammar_.chars(digits)}));
  }
  if (!rest.empty()) ways.push_back(grammar_.chars(rest));
  if (!escapes.empty()) ways.push_back(grammar_.sequence({grammar_.literal("\\"), grammar_.choice(escapes)}));
  return grammar_.choice(ways);
}

ExpressionId JsonText::quoted(ExpressionId inside) {
  return grammar_.sequence({grammar_.literal("\""), inside, grammar_.literal("\"")});
}

// A tree of the excluded strings: a string may leave it anywhere, but end only where none of them ends. Each node of
// the tree is a rule, so that long strings do not nest expressions.
ExpressionId JsonText::string_except(const std::vector<std::string>& excluded) {
  struct Node {
    bool ends = false;
    std::map<char32_t, std::size_t> next;
  };
  std::vector<Node> tree(1);
  for (const std::string& text : excluded) {
    std::size_t at = 0;
    for (const CodePoint& point : Utf8View(text)) {
      const auto [place, fresh] = tree[at].next.try_emplace(point.value, tree.size());
      at = place->second;
      if (fresh) tree.emplace_back();
    }
    tree[at].ends = true;
  }
  std::vector<RuleId> rules;
  for (std::size_t i = 0; i < tree.size(); ++i) rules.push_back(grammar_.add_rule("other string", 0));
  for (std::size_t i = 0; i < tree.size(); ++i) {
    std::vector<ExpressionId> ways;
    CharSet others = CharSet::all();
    for (const auto& [point, node] : tree[i].next) {
      others = others - CharSet{{point, point}};
      ways.push_back(grammar_.sequence({chars({{point, point}}), grammar_.rule(rules[node])}));
    }
    const ExpressionId anything = grammar_.repeat(chars(CharSet::all()), 0, kUnbounded);
    ways.push_back(grammar_.sequence({chars(others), anything, grammar_.literal("\"")}));
    if (!tree[i].ends) ways.push_back(grammar_.literal("\""));
    grammar_.define(rules[i], grammar_.choice(ways));
  }
  return grammar_.sequence({grammar_.literal("\""), grammar_.rule(rules[0])});
}

ExpressionId JsonText::value(const OrderedJson& value_of, int depth) {
  HEED_CHECK_AS(bad_format, depth <= kJsonDepth, grammar_.what(), ": a value nested deeper than ", kJsonDepth,
                " levels");
  if (!value_of.is_structured()) return grammar_.literal(value_of.dump());
  std::vector<ExpressionId> parts{grammar_.literal(value_of.is_object() ? "{" : "[")};
  bool first = true;
  for (const auto& [key, item] : value_of.items()) {
    if (!std::exchange(first, false)) parts.push_back(comma());
    if (value_of.is_object()) {
      parts.push_back(grammar_.literal(OrderedJson(key).dump()));
      parts.push_back(colon());
    }
    parts.push_back(value(item, depth + 1));
  }
  parts.push_back(grammar_.literal(value_of.is_object() ? "}" : "]"));
  return grammar_.sequence(parts);
}

RuleId JsonText::string_rule() {
  if (!string_) {
    string_ = grammar_.add_rule("string", 0);
    grammar_.define(*string_, quoted(grammar_.repeat(chars(CharSet::all()), 0, kUnbounded)));
  }
  return *string_;
}

RuleId JsonText::number_rule() {
  if (!number_) {
    number_ = grammar_.add_rule("number", 0);
    const auto plain = [&](const CharSet& set) { return grammar_.chars(set); };
    grammar_.define(*number_, add_regex(grammar_, kNumber, RegexUse::whole, plain, "number"));
  }
  return *number_;
}

ExpressionId JsonText::any_value() {
  if (value_) return grammar_.rule(*value_);
  value_ = grammar_.add_rule("value", 0);
  object_ = grammar_.add_rule("object", 1);
  array_ = grammar_.add_rule("array", 1);
  const auto list = [&](const char* open, ExpressionId item, const char* close) {
    const ExpressionId more = grammar_.repeat(grammar_.sequence({comma(), item}), 0, kUnbounded);
    return grammar_.sequence(
        {grammar_.literal(open), grammar_.optional(grammar_.sequence({item, more})), grammar_.literal(close)});
  };
  const ExpressionId item = grammar_.rule(*value_);
  grammar_.define(*object_, list("{", grammar_.sequence({any_string(), colon(), item}), "}"));
  grammar_.define(*array_, list("[", item, "]"));
  std::vector<ExpressionId> ways;
  for (const char* name : {"true", "false", "null"}) ways.push_back(grammar_.literal(name));
  for (const RuleId rule : {string_rule(), number_rule(), *object_, *array_}) ways.push_back(grammar_.rule(rule));
  grammar_.define(*value_, grammar_.choice(ways));
  return grammar_.rule(*value_);
}

Constraint json_constraint() {
  Grammar grammar("JSON", JsonText::kMaxNesting);
  JsonText json(grammar);
  const RuleId root = grammar.add_rule("JSON", 0);
  grammar.define(root, json.any_value());
  grammar.set_root(root);
  return Constraint(std::make_shared<const Automaton>(compile(grammar)));
}

}  // namespace heed::constrain
