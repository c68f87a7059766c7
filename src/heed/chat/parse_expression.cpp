#include <algorithm>

#include "heed/chat/parser.h"

namespace heed::chat {
namespace {

std::vector<ExpressionPtr> listed(ExpressionPtr first, ExpressionPtr second = nullptr) {
  std::vector<ExpressionPtr> items;
  items.push_back(std::move(first));
  if (second) items.push_back(std::move(second));
  return items;
}

int depth_of(const ExpressionPtr& expression) {
  return expression ? expression->depth : 0;
}

}  // namespace

ExpressionPtr ExpressionParser::make(Expression&& expression) {
  int depth = std::max(depth_of(expression.arguments.list), depth_of(expression.arguments.dict));
  for (const auto& item : expression.items) depth = std::max(depth, depth_of(item));
  for (const auto& item : expression.arguments.positional) depth = std::max(depth, depth_of(item));
  for (const auto& item : expression.arguments.named) depth = std::max(depth, depth_of(item.second));
  expression.depth = depth + 1;
  if (expression.depth > kMostTreeDepth) {
    stream_.refuse("an expression deeper than " + std::to_string(kMostTreeDepth) + " levels");
  }
  return std::make_unique<const Expression>(std::move(expression));
}

ExpressionPtr ExpressionParser::make(Kind kind, int line, std::vector<ExpressionPtr> items, std::string name) {
  Expression expression{kind, line};
  expression.items = std::move(items);
  expression.name = std::move(name);
  return make(std::move(expression));
}

ExpressionPtr ExpressionParser::constant(Value value, int line) {
  Expression expression{Kind::kConstant, line};
  expression.value = std::move(value);
  return make(std::move(expression));
}

ExpressionPtr ExpressionParser::tuple(bool with_conditions, std::string_view end_name) {
  const int line = stream_.current().line;
  std::vector<ExpressionPtr> items;
  bool is_tuple = false;
  while (true) {
    const TokenKind kind = stream_.current().kind;
    const bool ends = kind == TokenKind::kVariableEnd || kind == TokenKind::kBlockEnd || stream_.is_operator(")") ||
                      (!end_name.empty() && stream_.is_name(end_name));
    if (ends) break;
    items.push_back(with_conditions ? condition() : disjunction());
    if (!stream_.skip_operator(",")) break;
    is_tuple = true;
  }
  if (items.empty() && !stream_.is_operator(")")) stream_.refuse("Expected an expression");
  if (items.size() == 1 && !is_tuple) return std::move(items[0]);
  return make(Kind::kTuple, line, std::move(items));
}

ExpressionPtr ExpressionParser::condition() {
  int line = stream_.current().line;
  ExpressionPtr value = disjunction();
  while (stream_.skip_name("if")) {
    auto items = listed(std::move(value), disjunction());
    if (stream_.skip_name("else")) {
      const Level level(depth_, kMostTreeDepth, "an expression");
      items.push_back(condition());
    }
    value = make(Kind::kCondition, line, std::move(items));
    line = stream_.current().line;
  }
  return value;
}

ExpressionPtr ExpressionParser::disjunction() {
  // Every way to nest passes here, in condition(), negation() or unary().
  const Level level(depth_, kMostTreeDepth, "an expression");
  const int line = stream_.current().line;
  ExpressionPtr left = conjunction();
  while (stream_.skip_name("or")) {
    auto items = listed(std::move(left), conjunction());
    left = make(Kind::kOr, line, std::move(items));
  }
  return left;
}

ExpressionPtr ExpressionParser::conjunction() {
  const int line = stream_.current().line;
  ExpressionPtr left = negation();
  while (stream_.skip_name("and")) {
    auto items = listed(std::move(left), negation());
    left = make(Kind::kAnd, line, std::move(items));
  }
  return left;
}

ExpressionPtr ExpressionParser::negation() {
  const int line = stream_.current().line;
  if (!stream_.skip_name("not")) return comparison();
  const Level level(depth_, kMostTreeDepth, "an expression");
  return make(Kind::kNot, line, listed(negation()));
}

ExpressionPtr ExpressionParser::comparison() {
  Expression expression{Kind::kCompare, stream_.current().line};
  expression.items.push_back(sum());
  while (true) {
    std::string name;
    if (stream_.is_one_of(TokenKind::kOperator, {"==", "!=", "<", "<=", ">", ">="})) {
      name = stream_.next().text;
    } else if (stream_.skip_name("in")) {
      name = "in";
    } else if (stream_.is_name("not") && TokenStream::is_name(stream_.following(), "in")) {
      stream_.next();
      stream_.next();
      name = "not in";
    } else {
      break;
    }
    expression.names.push_back(name);
    expression.items.push_back(sum());
  }
  return expression.names.empty() ? std::move(expression.items[0]) : make(std::move(expression));
}

ExpressionPtr ExpressionParser::sum() {
  ExpressionPtr left = concatenation();
  while (stream_.is_one_of(TokenKind::kOperator, {"+", "-"})) {
    const Token token = stream_.next();
    auto items = listed(std::move(left), concatenation());
    left = make(Kind::kBinary, token.line, std::move(items), token.text);
  }
  return left;
}

ExpressionPtr ExpressionParser::concatenation() {
  const int line = stream_.current().line;
  auto items = listed(product());
  while (stream_.skip_operator("~")) items.push_back(product());
  return items.size() == 1 ? std::move(items[0]) : make(Kind::kConcat, line, std::move(items));
}

ExpressionPtr ExpressionParser::product() {
  ExpressionPtr left = power();
  while (stream_.is_one_of(TokenKind::kOperator, {"*", "/", "//", "%"})) {
    const Token token = stream_.next();
    auto items = listed(std::move(left), power());
    left = make(Kind::kBinary, token.line, std::move(items), token.text);
  }
  return left;
}

ExpressionPtr ExpressionParser::power() {
  ExpressionPtr left = unary();
  while (stream_.is_operator("**")) {
    const Token token = stream_.next();
    auto items = listed(std::move(left), unary());
    left = make(Kind::kBinary, token.line, std::move(items), token.text);
  }
  return left;
}

ExpressionPtr ExpressionParser::unary(bool with_filters) {
  const Level level(depth_, 2 * kMostTreeDepth, "an expression");
  const int line = stream_.current().line;
  ExpressionPtr value;
  if (stream_.skip_operator("-")) {
    value = make(Kind::kNegative, line, listed(unary(false)));
  } else if (stream_.skip_operator("+")) {
    value = make(Kind::kPositive, line, listed(unary(false)));
  } else {
    value = primary();
  }
  value = postfix(std::move(value));
  return with_filters ? filters_and_tests(std::move(value)) : std::move(value);
}

ExpressionPtr ExpressionParser::filters_and_tests(ExpressionPtr value) {
  while (true) {
    if (stream_.is_operator("|")) {
      value = filters(std::move(value));
    } else if (stream_.is_name("is")) {
      value = test(std::move(value));
    } else if (stream_.is_operator("(")) {
      value = call(std::move(value));
    } else {
      return value;
    }
  }
}

ExpressionPtr ExpressionParser::block_filters(bool without_bar) {
  return filters(make(Kind::kBlockText, stream_.current().line, {}), without_bar);
}

ExpressionPtr ExpressionParser::filters(ExpressionPtr value, bool without_bar) {
  while (without_bar || stream_.skip_operator("|")) {
    without_bar = false;
    Expression filter{Kind::kFilter, stream_.current().line};
    filter.name = dotted_name();
    filter.items.push_back(std::move(value));
    if (stream_.is_operator("(")) filter.arguments = call_arguments();
    value = make(std::move(filter));
  }
  return value;
}

ExpressionPtr ExpressionParser::test(ExpressionPtr value) {
  const int line = stream_.next().line;  // is
  const bool is_negated = stream_.skip_name("not");
  Expression expression{Kind::kTest, line};
  expression.name = dotted_name();
  expression.items.push_back(std::move(value));
  const Token& token = stream_.current();
  const bool is_argument = token.kind == TokenKind::kName || token.kind == TokenKind::kConstant ||
                           stream_.is_one_of(TokenKind::kOperator, {"[", "{"});
  if (stream_.is_operator("(")) {
    expression.arguments = call_arguments();
  } else if (is_argument && !stream_.is_one_of(TokenKind::kName, {"else", "or", "and"})) {
    if (stream_.is_name("is")) stream_.refuse("You cannot chain multiple tests with is");
    expression.arguments.positional.push_back(postfix(primary()));
  }
  ExpressionPtr result = make(std::move(expression));
  return is_negated ? make(Kind::kNot, line, listed(std::move(result))) : std::move(result);
}

std::string ExpressionParser::dotted_name() {
  std::string name = stream_.expect_name();
  while (stream_.skip_operator(".")) name += "." + stream_.expect_name();
  return name;
}

}  // namespace heed::chat
