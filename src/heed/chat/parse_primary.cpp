#include "heed/chat/parser.h"

namespace heed::chat {

ExpressionPtr ExpressionParser::primary() {
  const Token token = stream_.current();
  if (token.kind == TokenKind::kName) {
    stream_.next();
    if (token.text == "true" || token.text == "True") return constant(true, token.line);
    if (token.text == "false" || token.text == "False") return constant(false, token.line);
    if (token.text == "none" || token.text == "None") return constant(None{}, token.line);
    return make(Kind::kName, token.line, {}, token.text);
  }
  if (token.kind == TokenKind::kConstant) {
    stream_.next();
    if (!token.value.text()) return constant(token.value, token.line);
    // Strings side by side are one.
    std::string text = *token.value.text();
    while (stream_.current().kind == TokenKind::kConstant && stream_.current().value.text()) {
      text += *stream_.next().value.text();
    }
    return constant(text, token.line);
  }
  if (stream_.skip_operator("(")) {
    ExpressionPtr value = tuple();
    stream_.expect_operator(")");
    return value;
  }
  if (stream_.is_operator("[")) return list();
  if (stream_.is_operator("{")) return dict();
  stream_.refuse("expected an expression, found " + (token.text.empty() ? "the end of the tag" : token.text));
}

ExpressionPtr ExpressionParser::list() {
  const int line = stream_.next().line;
  std::vector<ExpressionPtr> items;
  while (!stream_.is_operator("]")) {
    items.push_back(condition());
    if (!stream_.skip_operator(",")) break;
  }
  stream_.expect_operator("]");
  return make(Kind::kList, line, std::move(items));
}

ExpressionPtr ExpressionParser::dict() {
  const int line = stream_.next().line;
  std::vector<ExpressionPtr> items;
  while (!stream_.is_operator("}")) {
    items.push_back(condition());
    stream_.expect_operator(":");
    items.push_back(condition());
    if (!stream_.skip_operator(",")) break;
  }
  stream_.expect_operator("}");
  return make(Kind::kDict, line, std::move(items));
}

ExpressionPtr ExpressionParser::postfix(ExpressionPtr value) {
  while (true) {
    if (stream_.is_operator(".") || stream_.is_operator("[")) {
      value = subscript(std::move(value));
    } else if (stream_.is_operator("(")) {
      value = call(std::move(value));
    } else {
      return value;
    }
  }
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr value) {
  const Token token = stream_.next();
  if (token.text == "[") return item_or_slice(std::move(value), token.line);
  std::vector<ExpressionPtr> items;
  items.push_back(std::move(value));
  const Token attribute = stream_.next();
  if (attribute.kind == TokenKind::kName) return make(Kind::kAttribute, token.line, std::move(items), attribute.text);
  if (attribute.kind != TokenKind::kConstant || !attribute.value.integer()) stream_.refuse("expected name or number");
  items.push_back(constant(attribute.value, token.line));
  return make(Kind::kItem, token.line, std::move(items));
}

// After the bracket: [item], [start:stop:step], [a, b].
ExpressionPtr ExpressionParser::item_or_slice(ExpressionPtr value, int line) {
  std::vector<ExpressionPtr> items;
  items.push_back(std::move(value));
  if (!stream_.is_operator(":")) items.push_back(stream_.is_operator("]") ? nullptr : condition());
  if (!stream_.is_operator(":")) {
    if (items.back() && !stream_.is_operator(",")) {
      stream_.expect_operator("]");
      return make(Kind::kItem, line, std::move(items));
    }
    // x[] and x[a, b] look up a tuple.
    std::vector<ExpressionPtr> keys;
    if (items.back()) keys.push_back(std::move(items.back()));
    while (!keys.empty() && stream_.skip_operator(",")) keys.push_back(condition());
    stream_.expect_operator("]");
    items.back() = make(Kind::kTuple, line, std::move(keys));
    return make(Kind::kItem, line, std::move(items));
  }
  if (items.size() == 1) items.push_back(nullptr);
  while (items.size() < 4 && stream_.skip_operator(":")) {
    items.push_back(stream_.is_operator(":") || stream_.is_operator("]") ? nullptr : condition());
  }
  items.resize(4);
  stream_.expect_operator("]");
  return make(Kind::kSlice, line, std::move(items));
}

ExpressionPtr ExpressionParser::call(ExpressionPtr value) {
  Expression expression{Kind::kCall, stream_.current().line};
  expression.items.push_back(std::move(value));
  expression.arguments = call_arguments();
  return make(std::move(expression));
}

CallArguments ExpressionParser::call_arguments() {
  CallArguments arguments;
  stream_.expect_operator("(");
  while (!stream_.is_operator(")")) {
    call_argument(arguments);
    if (!stream_.skip_operator(",")) break;
  }
  stream_.expect_operator(")");
  return arguments;
}

void ExpressionParser::call_argument(CallArguments& arguments) {
  const auto ensure = [&](bool right) {
    if (!right) stream_.refuse("invalid syntax for function call expression");
  };
  if (stream_.skip_operator("*")) {
    ensure(!arguments.list && !arguments.dict);
    arguments.list = condition();
  } else if (stream_.skip_operator("**")) {
    ensure(!arguments.dict);
    arguments.dict = condition();
  } else if (stream_.current().kind == TokenKind::kName && TokenStream::is_operator(stream_.following(), "=")) {
    ensure(!arguments.dict);
    std::string name = stream_.next().text;
    stream_.next();
    for (const auto& named : arguments.named) ensure(named.first != name);
    ExpressionPtr value = condition();
    arguments.named.emplace_back(std::move(name), std::move(value));
  } else {
    ensure(!arguments.list && !arguments.dict && arguments.named.empty());
    arguments.positional.push_back(condition());
  }
}

}  // namespace heed::chat
