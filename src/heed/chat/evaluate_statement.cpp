#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/loop.h"
#include "heed/chat/print.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

class MacroValue final : public Object {
 public:
  MacroValue(std::shared_ptr<const Macro> macro, std::shared_ptr<Scope> scope)
      : macro_(std::move(macro)), scope_(std::move(scope)) {}
  std::string type_name() const override { return "Macro"; }
  std::string print(Evaluator&) const override { return concat({"<Macro ", quoted_text(macro_->name), ">"}); }
  bool is_callable() const override { return true; }
  std::optional<Value> attribute(Evaluator&, std::string_view name) override {
    if (name == "name") return macro_->name;
    return std::nullopt;
  }
  Value call(Evaluator& evaluator, Arguments arguments) override {
    return evaluator.call_macro(*macro_, scope_, std::move(arguments));
  }

 private:
  std::shared_ptr<const Macro> macro_;
  std::shared_ptr<Scope> scope_;
};

Value make_macro(const std::shared_ptr<Macro>& macro, const std::shared_ptr<Scope>& scope) {
  return std::shared_ptr<Object>(std::make_shared<MacroValue>(macro, scope));
}

}  // namespace

// A scope inside `parent` for as long as it lives.
class Evaluator::OpenScope {
 public:
  OpenScope(Evaluator& evaluator, std::shared_ptr<Scope> parent, const std::vector<std::string>& undefined_at_start)
      : evaluator_(evaluator),
        before_(evaluator.scope_),
        scope_(std::make_shared<Scope>(Scope{std::move(parent), {}})) {
    for (const std::string& name : undefined_at_start) {
      scope_->names.emplace(name, Value::undefined(concat({"'", name, "' is undefined"})));
    }
    evaluator_.scope_ = scope_;
  }
  ~OpenScope() {
    evaluator_.scope_ = before_;
    scope_->names.clear();
  }
  OpenScope(const OpenScope&) = delete;
  OpenScope& operator=(const OpenScope&) = delete;

 private:
  Evaluator& evaluator_;
  std::shared_ptr<Scope> before_, scope_;
};

Evaluator::Evaluator(const Value& variables) : variables_(variables) {}

Evaluator::~Evaluator() {
  for (const auto& each : namespaces_) each->clear();
}

std::string Evaluator::run(const Template& parsed) {
  const OpenScope scope(*this, nullptr, parsed.undefined_at_start);
  execute(parsed.body);
  return std::move(outputs_.front());
}

Value Evaluator::make_namespace(Dict attributes) {
  namespaces_.push_back(std::make_shared<Namespace>(std::move(attributes)));
  return std::shared_ptr<Object>(namespaces_.back());
}

void Evaluator::write(std::string_view text) {
  budget_.spend_bytes(text.size());
  HEED_CHECK(outputs_.back().size() + text.size() <= kMostOutputBytes, "the template writes more than ",
             kMostOutputBytes, " bytes");
  outputs_.back() += text;
}

std::string Evaluator::captured(const Body& body, const std::vector<std::string>& undefined_at_start, Flow& flow) {
  const OpenScope scope(*this, scope_, undefined_at_start);
  outputs_.emplace_back();
  flow = execute(body);
  std::string text = std::move(outputs_.back());
  outputs_.pop_back();
  return text;
}

Evaluator::Flow Evaluator::execute(const Body& body) {
  for (const Statement& statement : body) {
    const Flow flow = execute(statement);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Evaluator::Flow Evaluator::execute(const Statement& statement) {
  const Level level(depth_, kMostCallDepth, "the template calls itself");
  budget_.spend(1);
  line_ = statement.line;
  Flow flow = Flow::kNext;
  switch (statement.kind) {
    case StatementKind::kText: write(statement.name); break;
    case StatementKind::kOutput: write(to_text(*this, evaluate(*statement.value))); break;
    case StatementKind::kIf: return execute_if(statement);
    case StatementKind::kFor: return execute_for(statement);
    case StatementKind::kSet: assign(statement.target, evaluate(*statement.value)); break;
    case StatementKind::kSetBlock: {
      const Value text = captured(statement.body, statement.undefined_at_start, flow);
      if (flow != Flow::kNext) return flow;
      assign(statement.target, statement.value ? filtered(*statement.value, text) : text);
      break;
    }
    case StatementKind::kFilter: {
      const Value text = captured(statement.body, statement.undefined_at_start, flow);
      if (flow != Flow::kNext) return flow;
      write(to_text(*this, filtered(*statement.value, text)));
      break;
    }
    case StatementKind::kMacro: scope_->names[statement.macro->name] = make_macro(statement.macro, scope_); break;
    case StatementKind::kCall: execute_call(statement); break;
    case StatementKind::kWith: return execute_with(statement);
    case StatementKind::kGeneration: execute_generation(statement); break;
    case StatementKind::kBreak: return Flow::kBreak;
    case StatementKind::kContinue: return Flow::kContinue;
  }
  return flow;
}

Evaluator::Flow Evaluator::execute_if(const Statement& statement) {
  for (const Branch& branch : statement.branches) {
    if (!branch.test || is_true(evaluate(*branch.test))) return execute(branch.body);
  }
  return Flow::kNext;
}

Evaluator::Flow Evaluator::execute_for(const Statement& statement) {
  const Value items = evaluate(*statement.value);
  if (!statement.is_recursive) return loop(statement, items, 0);
  write(to_text(*this, run_loop(statement, scope_, items, 0)));
  return Flow::kNext;
}

Value Evaluator::run_loop(const Statement& statement, const std::shared_ptr<Scope>& scope, const Value& items,
                          int level) {
  const OpenScope outer(*this, scope, {});
  outputs_.emplace_back();
  loop(statement, items, level);
  Value text = std::move(outputs_.back());
  outputs_.pop_back();
  return text;
}

std::shared_ptr<Loop> Evaluator::make_loop(const Statement& statement, const Value& over, int level) {
  Loop::Test test;
  if (statement.test) {
    test = [this, &statement, outer = scope_](const Value& item) {
      const OpenScope scope(*this, outer, {});
      assign(statement.target, item);
      return is_true(evaluate(*statement.test));
    };
  }
  Loop::Recurse recurse;
  if (statement.is_recursive) {
    recurse = [this, &statement, level, outer = scope_](const Value& items) {
      return run_loop(statement, outer, items, level + 1);
    };
  }
  return std::make_shared<Loop>(items_of(*this, over), level, std::move(test), std::move(recurse));
}

Evaluator::Flow Evaluator::loop(const Statement& statement, const Value& over, int level) {
  const auto state = make_loop(statement, over, level);
  // Values of the template may hold the loop, and the loop those values.
  const auto release = [](Loop* each) { each->release(); };
  const std::unique_ptr<Loop, decltype(release)> end(state.get(), release);
  bool is_finished = false;  // one round, to its end: what jinja2's else asks
  while (const Value* next = state->next()) {
    const Value item = *next;
    const OpenScope scope(*this, scope_, statement.undefined_at_start);
    scope_->names.insert_or_assign("loop", std::shared_ptr<Object>(state));
    assign(statement.target, item);
    const Flow flow = execute(statement.body);
    is_finished |= flow == Flow::kNext;
    if (flow == Flow::kBreak) break;
  }
  if (is_finished || statement.otherwise.empty()) return Flow::kNext;
  const OpenScope scope(*this, scope_, {});
  return execute(statement.otherwise);
}

Evaluator::Flow Evaluator::execute_with(const Statement& statement) {
  Values values;
  for (const auto& assignment : statement.assignments) values.push_back(evaluate(*assignment.second));
  const OpenScope scope(*this, scope_, statement.undefined_at_start);
  for (std::size_t i = 0; i < values.size(); ++i) assign(statement.assignments[i].first, values[i]);
  return execute(statement.body);
}

void Evaluator::execute_call(const Statement& statement) {
  const Expression& expression = *statement.value;
  const Value callee = evaluate(*expression.items[0]);
  Arguments arguments = arguments_of(expression.arguments);
  arguments.named.emplace_back("caller", make_macro(statement.macro, scope_));
  write(to_text(*this, call(callee, std::move(arguments))));
}

void Evaluator::execute_generation(const Statement& statement) {
  const Value text = call_macro(*statement.macro, scope_, {});
  const std::size_t begin = outputs_.front().size();
  generated_.emplace_back(begin, begin + text.text()->size());
  write(*text.text());
}

void Evaluator::assign(const Target& target, const Value& value) {
  if (!target.attribute.empty()) {
    auto* space = dynamic_cast<Namespace*>(look_up(target.name).object());
    HEED_CHECK(space, "cannot assign attribute on non-namespace object");
    space->set(target.attribute, value);
  } else if (!target.is_tuple) {
    scope_->names.insert_or_assign(target.name, value);
  } else {
    const Values items = items_of(*this, value);
    HEED_CHECK(items.size() == target.items.size(), "cannot unpack ", items.size(), " values into ",
               target.items.size(), " names");
    for (std::size_t i = 0; i < items.size(); ++i) assign(target.items[i], items[i]);
  }
}

void Evaluator::bind_parameters(const Macro& macro, Arguments arguments) {
  auto& names = scope_->names;
  const auto take = [&](const std::string& name) -> std::optional<Value> {
    for (auto named = arguments.named.begin(); named != arguments.named.end(); ++named) {
      if (named->first != name) continue;
      Value value = named->second;
      arguments.named.erase(named);
      return value;
    }
    return std::nullopt;
  };
  const std::size_t count = macro.parameters.size(), given = std::min(arguments.positional.size(), count);
  std::vector<std::size_t> missing;
  bool has_caller = false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = macro.parameters[i];
    has_caller |= name == "caller";
    const auto value = i < given ? std::optional(arguments.positional[i]) : take(name);
    if (value) {
      names.insert_or_assign(name, *value);
    } else {
      names.insert_or_assign(name, Value::undefined(concat({"parameter '", name, "' was not provided"})));
      missing.push_back(i);
    }
  }
  if (macro.uses_caller && !has_caller) {
    const auto caller = take("caller");
    names.insert_or_assign("caller", caller && !caller->is_none() ? *caller : Value::undefined("No caller defined"));
  }
  if (macro.uses_named) {
    Dict rest;
    for (auto& [name, value] : arguments.named) rest.set(name, value);
    names.insert_or_assign("kwargs", make_dict(std::move(rest)));
  } else {
    HEED_CHECK(arguments.named.empty(), "macro '", macro.name, "' takes no keyword argument '",
               arguments.named.front().first, "'");
  }
  if (macro.uses_positional) {
    names.insert_or_assign("varargs",
                           make_tuple(Values(arguments.positional.begin() + static_cast<std::ptrdiff_t>(given),
                                             arguments.positional.end())));
  } else {
    HEED_CHECK(arguments.positional.size() <= count, "macro '", macro.name, "' takes not more than ", count,
               " argument(s)");
  }
  // Defaults may use parameters before them.
  const std::size_t first_default = count - macro.defaults.size();
  for (const std::size_t i : missing) {
    if (i >= first_default) names.insert_or_assign(macro.parameters[i], evaluate(*macro.defaults[i - first_default]));
  }
}

Value Evaluator::call_macro(const Macro& macro, const std::shared_ptr<Scope>& defined_in, Arguments arguments) {
  const Level level(depth_, kMostCallDepth, "the template calls itself");
  const OpenScope scope(*this, defined_in, macro.undefined_at_start);
  bind_parameters(macro, std::move(arguments));
  outputs_.emplace_back();
  execute(macro.body);
  Value text = std::move(outputs_.back());
  outputs_.pop_back();
  return text;
}

}  // namespace heed::chat
