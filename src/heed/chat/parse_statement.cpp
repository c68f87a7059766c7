#include <algorithm>

#include "heed/chat/parser.h"
#include "heed/chat/scopes.h"

namespace heed::chat {

Token TokenStream::next() {
  Token token = current();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool TokenStream::is_one_of(TokenKind kind, std::initializer_list<std::string_view> texts) const {
  return current().kind == kind && std::ranges::find(texts, current().text) != texts.end();
}

bool TokenStream::skip_name(std::string_view word) {
  const bool is_here = is_name(word);
  if (is_here) next();
  return is_here;
}

bool TokenStream::skip_operator(std::string_view text) {
  const bool is_here = is_operator(text);
  if (is_here) next();
  return is_here;
}

void TokenStream::expect_operator(std::string_view text) {
  if (!skip_operator(text)) refuse("expected '" + std::string(text) + "', found '" + current().text + "'");
}

void TokenStream::expect_name(std::string_view word) {
  if (!skip_name(word)) refuse("expected '" + std::string(word) + "', found '" + current().text + "'");
}

std::string TokenStream::expect_name() {
  if (current().kind != TokenKind::kName) refuse("expected a name, found '" + current().text + "'");
  return next().text;
}

void TokenStream::expect(TokenKind kind) {
  if (current().kind != kind) refuse("expected the end of the tag, found '" + current().text + "'");
  next();
}

void TokenStream::refuse(const std::string& why, int line) const {
  fail(ErrorKind::bad_format, name_, ":", line, ": ", why);
}

namespace {

class TemplateParser {
 public:
  explicit TemplateParser(TokenStream& stream) : stream_(stream), expressions_(stream) {}

  // Up to a tag that begins with one of the names, which is left in the stream; without names, up to the end.
  Body body(std::initializer_list<std::string_view> end_names) {
    const Level level(depth_, kMostTreeDepth / 2, "blocks");
    Body result;
    while (true) {
      const Token token = stream_.next();
      switch (token.kind) {
        case TokenKind::kData: result.push_back({StatementKind::kText, token.line, token.text}); break;
        case TokenKind::kVariableBegin:
          result.push_back({StatementKind::kOutput, token.line});
          result.back().value = expressions_.tuple();
          stream_.expect(TokenKind::kVariableEnd);
          break;
        case TokenKind::kBlockBegin:
          if (stream_.is_one_of(TokenKind::kName, end_names)) return result;
          statement(result);
          stream_.expect(TokenKind::kBlockEnd);
          break;
        default:
          if (end_names.size() > 0) {
            stream_.refuse("Unexpected end of template, expected " + std::string(*(end_names.end() - 1)), token.line);
          }
          return result;
      }
    }
  }

 private:
  // The rest of a tag, what follows, and the name of the tag that ends it.
  Body block(std::initializer_list<std::string_view> end_names) {
    stream_.skip_operator(":");
    stream_.expect(TokenKind::kBlockEnd);
    return body(end_names);
  }
  Body whole_block(std::string_view end_name) {
    Body result = block({end_name});
    stream_.next();
    return result;
  }

  void statement(Body& into) {
    const Token token = stream_.current();
    const std::string name = stream_.expect_name();
    Statement result{StatementKind::kText, token.line};
    if (name == "if") return if_tag(into, std::move(result));
    if (name == "print") return print_tag(into, token.line);
    if (name == "for") {
      for_tag(result);
    } else if (name == "set") {
      set_tag(result);
    } else if (name == "macro") {
      result.kind = StatementKind::kMacro;
      result.macro = macro(stream_.expect_name(), "endmacro", true);
    } else if (name == "call") {
      call_tag(result);
    } else if (name == "filter") {
      result.kind = StatementKind::kFilter;
      result.value = expressions_.block_filters(true);
      result.body = whole_block("endfilter");
    } else if (name == "with") {
      with_tag(result);
    } else if (name == "generation") {
      result.kind = StatementKind::kGeneration;
      result.macro = macro("", "endgeneration", false);
    } else if (name == "break" || name == "continue") {
      if (loops_ == 0) stream_.refuse("'" + name + "' outside loop", token.line);
      result.kind = name == "break" ? StatementKind::kBreak : StatementKind::kContinue;
    } else {
      stream_.refuse("Encountered unknown tag '" + name + "'", token.line);
    }
    into.push_back(std::move(result));
  }

  void if_tag(Body& into, Statement result) {
    result.kind = StatementKind::kIf;
    std::string tag = "elif";
    while (tag == "elif") {
      ExpressionPtr test = expressions_.tuple(false);
      Body then = block({"elif", "else", "endif"});
      result.branches.push_back({std::move(test), std::move(then)});
      tag = stream_.next().text;
    }
    if (tag == "else") result.branches.push_back({nullptr, whole_block("endif")});
    into.push_back(std::move(result));
  }

  void print_tag(Body& into, int line) {
    while (stream_.current().kind != TokenKind::kBlockEnd) {
      into.push_back({StatementKind::kOutput, line});
      into.back().value = expressions_.expression();
      if (!stream_.skip_operator(",")) break;
    }
  }

  void for_tag(Statement& result) {
    result.kind = StatementKind::kFor;
    result.target = target("in");
    refuse_loop_name(result.target);
    stream_.expect_name("in");
    result.value = expressions_.tuple(false, "recursive");
    if (stream_.skip_name("if")) result.test = expressions_.expression();
    result.is_recursive = stream_.skip_name("recursive");
    ++loops_;
    result.body = block({"endfor", "else"});
    --loops_;
    if (stream_.next().text == "else") result.otherwise = whole_block("endfor");
  }

  void refuse_loop_name(const Target& target) {
    if (target.name == "loop" && target.attribute.empty()) {
      stream_.refuse("Can't assign to special loop variable in for-loop target");
    }
    for (const Target& item : target.items) refuse_loop_name(item);
  }

  void set_tag(Statement& result) {
    if (TokenStream::is_operator(stream_.following(), ".")) {
      result.target.name = stream_.expect_name();
      stream_.next();
      result.target.attribute = stream_.expect_name();
    } else {
      result.target = target("");
      if (loops_ > 0) refuse_loop_name(result.target);
    }
    if (stream_.skip_operator("=")) {
      result.kind = StatementKind::kSet;
      result.value = expressions_.tuple();
      return;
    }
    result.kind = StatementKind::kSetBlock;
    if (stream_.is_operator("|")) result.value = expressions_.block_filters(false);
    result.body = whole_block("endset");
  }

  // A name, or several in a tuple, with brackets or without. `end_name` may follow a comma at the end.
  Target target(std::string_view end_name) {
    const Level level(depth_, kMostTreeDepth, "names in brackets");
    Target result;
    while (true) {
      const TokenKind kind = stream_.current().kind;
      if (kind == TokenKind::kBlockEnd || stream_.is_operator(")") || stream_.is_name(end_name)) break;
      result.items.push_back(single_target());
      if (!stream_.skip_operator(",")) break;
      result.is_tuple = true;
    }
    if (result.items.empty()) stream_.refuse("expected a name to assign to");
    return result.is_tuple ? result : std::move(result.items[0]);
  }

  Target single_target() {
    if (stream_.skip_operator("(")) {
      Target inner = target("");
      stream_.expect_operator(")");
      return inner;
    }
    Target result;
    result.name = stream_.expect_name();
    for (const char* constant : {"true", "false", "none", "True", "False", "None"}) {
      if (result.name == constant) stream_.refuse("can't assign to '" + result.name + "'");
    }
    return result;
  }

  std::shared_ptr<Macro> macro(std::string name, std::string_view end_name, bool has_signature) {
    auto result = std::make_shared<Macro>();
    result->name = std::move(name);
    if (has_signature) signature(*result);
    return macro_body(std::move(result), end_name);
  }

  std::shared_ptr<Macro> macro_body(std::shared_ptr<Macro> result, std::string_view end_name) {
    const int loops = loops_;
    loops_ = 0;
    result->body = whole_block(end_name);
    loops_ = loops;
    return result;
  }

  void signature(Macro& macro) {
    stream_.expect_operator("(");
    while (!stream_.is_operator(")")) {
      macro.parameters.push_back(stream_.expect_name());
      if (stream_.skip_operator("=")) {
        macro.defaults.push_back(expressions_.expression());
      } else if (!macro.defaults.empty()) {
        stream_.refuse("non-default argument follows default argument");
      }
      if (!stream_.is_operator(")")) stream_.expect_operator(",");
    }
    stream_.expect_operator(")");
  }

  void call_tag(Statement& result) {
    result.kind = StatementKind::kCall;
    auto caller = std::make_shared<Macro>();
    caller->name = "caller";
    if (stream_.is_operator("(")) signature(*caller);
    result.value = expressions_.expression();
    if (result.value->kind != ExpressionKind::kCall) stream_.refuse("expected call");
    result.macro = macro_body(std::move(caller), "endcall");
  }

  void with_tag(Statement& result) {
    result.kind = StatementKind::kWith;
    while (stream_.current().kind != TokenKind::kBlockEnd) {
      Target name = target("");
      stream_.expect_operator("=");
      ExpressionPtr value = expressions_.expression();
      result.assignments.emplace_back(std::move(name), std::move(value));
      if (stream_.current().kind != TokenKind::kBlockEnd) stream_.expect_operator(",");
    }
    result.body = whole_block("endwith");
  }

  TokenStream& stream_;
  ExpressionParser expressions_;
  int depth_ = 0;
  int loops_ = 0;  // around, in the same macro
};

}  // namespace

Template parse_template(std::string_view source, const std::string& name) {
  TokenStream stream(tokenize(source, name), name);
  try {
    Body body = TemplateParser(stream).body({});
    return with_scopes(std::move(body));
  } catch (const Error& error) {
    // A limit of Level has no line.
    if (std::string_view(error.what()).starts_with(name + ":")) throw;
    stream.refuse(error.what());
  }
}

}  // namespace heed::chat
