// Tokens to a tree, by jinja2's grammar.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "heed/chat/lexer.h"
#include "heed/chat/tree.h"

namespace heed::chat {

// Throws bad_format: "<name>:<line>: ...".
Template parse_template(std::string_view source, const std::string& name);

// Where the parser is in the tokens, and its errors.
class TokenStream {
 public:
  TokenStream(std::vector<Token> tokens, const std::string& name) : tokens_(std::move(tokens)), name_(name) {}

  const Token& current() const { return tokens_[at_]; }
  const Token& following() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token next();
  bool is_name(std::string_view word) const { return is_name(current(), word); }
  static bool is_name(const Token& token, std::string_view word) {
    return token.kind == TokenKind::kName && token.text == word;
  }
  bool is_operator(std::string_view text) const { return is_operator(current(), text); }
  static bool is_operator(const Token& token, std::string_view text) {
    return token.kind == TokenKind::kOperator && token.text == text;
  }
  bool is_one_of(TokenKind kind, std::initializer_list<std::string_view> texts) const;
  bool skip_name(std::string_view word);
  bool skip_operator(std::string_view text);
  void expect_operator(std::string_view text);
  void expect_name(std::string_view word);
  std::string expect_name();
  void expect(TokenKind kind);
  [[noreturn]] void refuse(const std::string& why) const { refuse(why, current().line); }
  [[noreturn]] void refuse(const std::string& why, int line) const;

 private:
  std::vector<Token> tokens_;
  std::string name_;
  std::size_t at_ = 0;
};

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& stream) : stream_(stream) {}

  ExpressionPtr expression() { return condition(); }
  // An expression, or a tuple of them without brackets. Without conditions, as after `in` of a for.
  ExpressionPtr tuple(bool with_conditions = true, std::string_view end_name = "");
  ExpressionPtr primary();
  // The filters of a block; the first may have no |.
  ExpressionPtr block_filters(bool without_bar);

 private:
  using Kind = ExpressionKind;
  ExpressionPtr make(Kind kind, int line, std::vector<ExpressionPtr> items, std::string name = "");
  ExpressionPtr make(Expression&& expression);
  ExpressionPtr constant(Value value, int line);
  ExpressionPtr condition();
  ExpressionPtr disjunction();
  ExpressionPtr conjunction();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool with_filters = true);
  ExpressionPtr postfix(ExpressionPtr value);
  // value|filter|filter ...
  ExpressionPtr filters(ExpressionPtr value, bool without_bar = false);
  ExpressionPtr filters_and_tests(ExpressionPtr value);
  ExpressionPtr subscript(ExpressionPtr value);
  ExpressionPtr item_or_slice(ExpressionPtr value, int line);
  ExpressionPtr call(ExpressionPtr value);
  ExpressionPtr test(ExpressionPtr value);
  ExpressionPtr list();
  ExpressionPtr dict();
  CallArguments call_arguments();
  void call_argument(CallArguments& arguments);
  std::string dotted_name();

  TokenStream& stream_;
  int depth_ = 0;
};

}  // namespace heed::chat
