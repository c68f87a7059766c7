#include "heed/constrain/regex.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "heed/base/error.h"
#include "heed/constrain/automaton.h"
#include "heed/constrain/constraint.h"
#include "heed/constrain/regex_tree.h"

namespace heed::constrain {
namespace {

using Kind = RegexNode::Kind;

bool has(const RegexNode& node, Kind kind) {
  return node.kind == kind ||
         std::any_of(node.parts.begin(), node.parts.end(), [&](const RegexNode& part) { return has(part, kind); });
}

// Of the ways in which an expression can match: those that begin with ^ (end with $), those that do not, or both.
enum class Anchored { yes, no, either };

// Turns a tree into expressions. Anchors say something about what surrounds the match, which expressions cannot: so it
// builds the ways with and without them separately, and leaves the anchors out.
class Builder {
 public:
  Builder(Grammar& grammar, const Spelling& spelling, const std::string& context)
      : grammar_(grammar), spelling_(spelling), context_(context) {}

  // Nothing when there is no such way.
  std::optional<ExpressionId> select(const RegexNode& node, Anchored begin, Anchored end) {
    const bool needs_anchor = begin == Anchored::yes || end == Anchored::yes;
    switch (node.kind) {
      case Kind::begin: return only_if(begin != Anchored::no && end != Anchored::yes, grammar_.empty());
      case Kind::end: return only_if(end != Anchored::no && begin != Anchored::yes, grammar_.empty());
      case Kind::chars:
        if (needs_anchor) return std::nullopt;
        return spelling_(node.set);
      case Kind::repeat: {
        check_without(node, Kind::begin);
        check_without(node, Kind::end);
        if (needs_anchor) return std::nullopt;
        const auto part = select(node.parts[0], Anchored::no, Anchored::no);
        return grammar_.repeat(*part, node.min, node.max);
      }
      case Kind::choice: return select_choice(node, begin, end);
      case Kind::sequence: return select_sequence(node, begin, end);
    }
    return std::nullopt;
  }

 private:
  static std::optional<ExpressionId> only_if(bool condition, ExpressionId expression) {
    return condition ? std::optional(expression) : std::nullopt;
  }

  void check_without(const RegexNode& node, Kind anchor) const {
    HEED_CHECK_AS(bad_format, !has(node, anchor), context_,
                  ": ^ is supported at the start of a regular expression or alternative, $ at the end, and neither "
                  "inside a repetition");
  }

  std::optional<ExpressionId> select_choice(const RegexNode& node, Anchored begin, Anchored end) {
    std::vector<ExpressionId> ways;
    for (const RegexNode& part : node.parts) {
      if (const auto way = select(part, begin, end)) ways.push_back(*way);
    }
    return only_if(!ways.empty(), grammar_.choice(ways));
  }

  std::optional<ExpressionId> select_sequence(const RegexNode& node, Anchored begin, Anchored end) {
    std::size_t first = 0, last = node.parts.size();
    while (first < last && node.parts[first].kind == Kind::begin) ++first;
    while (last > first && node.parts[last - 1].kind == Kind::end) --last;
    if (first > 0) {
      if (begin == Anchored::no) return std::nullopt;
      begin = Anchored::either;
    }
    if (last < node.parts.size()) {
      if (end == Anchored::no) return std::nullopt;
      end = Anchored::either;
    }
    if (first == last) return only_if(begin != Anchored::yes && end != Anchored::yes, grammar_.empty());
    std::vector<ExpressionId> parts;
    for (std::size_t i = first; i < last; ++i) {
      if (i > first) check_without(node.parts[i], Kind::begin);
      if (i + 1 < last) check_without(node.parts[i], Kind::end);
      const auto part = select(node.parts[i], i == first ? begin : Anchored::no, i + 1 == last ? end : Anchored::no);
      if (!part) return std::nullopt;
      parts.push_back(*part);
    }
    return grammar_.sequence(parts);
  }

  Grammar& grammar_;
  const Spelling& spelling_;
  const std::string& context_;
};

}  // namespace

ExpressionId add_regex(Grammar& grammar, std::string_view pattern, RegexUse use, const Spelling& spelling,
                       const std::string& context) {
  const RegexNode tree = parse_regex(pattern, context);
  Builder builder(grammar, spelling, context);
  std::vector<ExpressionId> ways;
  if (use == RegexUse::whole) {
    if (const auto way = builder.select(tree, Anchored::either, Anchored::either)) ways.push_back(*way);
    return grammar.choice(ways);
  }
  const auto anything = [&] { return grammar.repeat(spelling(CharSet::all()), 0, kUnbounded); };
  for (const Anchored begin : {Anchored::yes, Anchored::no}) {
    for (const Anchored end : {Anchored::yes, Anchored::no}) {
      const auto way = builder.select(tree, begin, end);
      if (!way) continue;
      std::vector<ExpressionId> parts;
      if (begin == Anchored::no) parts.push_back(anything());
      parts.push_back(*way);
      if (end == Anchored::no) parts.push_back(anything());
      ways.push_back(grammar.sequence(parts));
    }
  }
  return grammar.choice(ways);
}

Constraint regex_constraint(std::string_view pattern) {
  const std::string context = "regular expression";
  Grammar grammar(context, 1000);
  const RuleId root = grammar.add_rule(context, 0);
  grammar.set_root(root);
  const auto plain = [&](const CharSet& set) { return grammar.chars(set); };
  grammar.define(root, add_regex(grammar, pattern, RegexUse::whole, plain, context));
  return Constraint(std::make_shared<const Automaton>(compile(grammar)));
}

}  // namespace heed::constrain
