// A grammar as the front ends (regular expressions, GBNF, JSON Schema) build it: rules of expressions over code points.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/constrain/char_set.h"

namespace heed::constrain {

using ExpressionId = std::uint32_t;
using RuleId = std::uint32_t;
inline constexpr std::uint32_t kUnbounded = 0xFFFFFFFF;

// A token of the vocabulary as such, by its id or by its text; or any ordinary token but that one.
struct TokenReference {
  std::optional<std::int32_t> id;
  std::string text;
  bool negated = false;
};

class Grammar {
 public:
  enum class Kind : std::uint8_t { literal, chars, sequence, choice, repeat, rule, token };
  struct Expression {
    Kind kind;
    std::uint32_t index = 0;         // of a literal, set, rule, token; the repeated expression; the first child
    std::uint32_t count = 0;         // children
    std::uint32_t min = 0, max = 0;  // repetitions
  };
  struct Rule {
    std::string name;
    std::optional<ExpressionId> body;  // nothing: not defined yet
    std::uint32_t weight;              // what a text nested in it adds to the depth
  };

  // `what` starts messages; texts nest at most `max_depth` deep, by the weights of the rules.
  Grammar(std::string what, std::uint32_t max_depth) : what_(std::move(what)), max_depth_(max_depth) {}

  ExpressionId empty() { return sequence({}); }
  ExpressionId literal(std::string_view bytes);
  ExpressionId chars(const CharSet& set);
  ExpressionId sequence(const std::vector<ExpressionId>& parts) { return list(Kind::sequence, parts); }
  // Of nothing: matches no text.
  ExpressionId choice(const std::vector<ExpressionId>& parts) { return list(Kind::choice, parts); }
  // `max` may be kUnbounded.
  ExpressionId repeat(ExpressionId expression, std::uint32_t min, std::uint32_t max);
  ExpressionId optional(ExpressionId expression) { return repeat(expression, 0, 1); }
  ExpressionId rule(RuleId rule) { return add({Kind::rule, rule}); }
  ExpressionId token(TokenReference token);

  RuleId add_rule(std::string name, std::uint32_t weight);
  void define(RuleId rule, ExpressionId body) { rules_[rule].body = body; }
  void set_root(RuleId rule) { root_ = rule; }

  const std::string& what() const { return what_; }
  std::uint32_t max_depth() const { return max_depth_; }
  RuleId root() const { return root_; }
  const std::vector<Rule>& rules() const { return rules_; }
  const Expression& at(ExpressionId id) const { return expressions_[id]; }
  const ExpressionId* children(const Expression& expression) const { return lists_.data() + expression.index; }
  const std::string& literal_of(const Expression& expression) const { return literals_[expression.index]; }
  const CharSet& set_of(const Expression& expression) const { return sets_[expression.index]; }
  const std::vector<TokenReference>& tokens() const { return tokens_; }

 private:
  ExpressionId add(const Expression& expression);
  ExpressionId list(Kind kind, const std::vector<ExpressionId>& parts);

  std::string what_;
  std::uint32_t max_depth_;
  RuleId root_ = 0;
  std::vector<Rule> rules_;
  std::vector<Expression> expressions_;
  std::vector<ExpressionId> lists_;
  std::vector<std::string> literals_;
  std::vector<CharSet> sets_;
  std::vector<TokenReference> tokens_;
};

}  // namespace heed::constrain
