#include "heed/chat/scopes.h"

#include <functional>
#include <map>
#include <set>

namespace heed::chat {
namespace {

using NameAction = std::function<void(const std::string&)>;

void each_name(const ExpressionPtr& expression, const NameAction& action) {
  if (!expression) return;
  if (expression->kind == ExpressionKind::kName) action(expression->name);
  for (const auto& item : expression->items) each_name(item, action);
  for (const auto& item : expression->arguments.positional) each_name(item, action);
  for (const auto& item : expression->arguments.named) each_name(item.second, action);
  each_name(expression->arguments.list, action);
  each_name(expression->arguments.dict, action);
}

void each_target(const Target& target, const NameAction& action) {
  if (target.is_tuple) {
    for (const Target& item : target.items) each_target(item, action);
  } else {
    action(target.name);
  }
}

// The names that a body reads, in whatever it contains.
void each_name_read(const Body& body, const NameAction& action) {
  for (const Statement& statement : body) {
    each_name(statement.value, action);
    each_name(statement.test, action);
    if (!statement.target.attribute.empty()) action(statement.target.name);
    for (const Branch& branch : statement.branches) {
      each_name(branch.test, action);
      each_name_read(branch.body, action);
    }
    for (const auto& assignment : statement.assignments) each_name(assignment.second, action);
    if (statement.macro) {
      for (const auto& value : statement.macro->defaults) each_name(value, action);
      each_name_read(statement.macro->body, action);
    }
    each_name_read(statement.body, action);
    each_name_read(statement.otherwise, action);
  }
}

// What a scope knows of its names. kUndefined: its own, and nothing at the start.
enum class Start { kGiven, kElsewhere, kUndefined };

struct Symbols {
  const Symbols* parent = nullptr;
  std::map<std::string, Start> names{};
  std::set<std::string> stores{};

  bool knows(const std::string& name) const { return names.count(name) || (parent && parent->knows(name)); }
  void declare(const std::string& name) {
    stores.insert(name);
    names[name] = Start::kGiven;
  }
  void load(const std::string& name) {
    if (!knows(name)) names[name] = Start::kElsewhere;
  }
  void store(const std::string& name) {
    stores.insert(name);
    if (!names.count(name)) names[name] = parent && parent->knows(name) ? Start::kElsewhere : Start::kUndefined;
  }
  std::vector<std::string> undefined() const {
    std::vector<std::string> list;
    for (const auto& [name, start] : names) {
      if (start == Start::kUndefined) list.push_back(name);
    }
    return list;
  }
};

void scan(Symbols& symbols, const Body& body);

// A name that only some of the branches set may come from elsewhere.
void merge(Symbols& symbols, const std::vector<Symbols>& branches) {
  std::map<std::string, std::size_t> counts;
  for (const Symbols& branch : branches) {
    for (const std::string& name : branch.stores) counts[name] += symbols.stores.count(name) ? 0U : 1U;
  }
  for (const Symbols& branch : branches) {
    for (const auto& [name, start] : branch.names) symbols.names[name] = start;
    symbols.stores.insert(branch.stores.begin(), branch.stores.end());
  }
  for (const auto& [name, count] : counts) {
    if (count > 0 && count < branches.size()) symbols.names[name] = Start::kElsewhere;
  }
}

void scan_if(Symbols& symbols, const std::vector<Branch>& branches, std::size_t first) {
  const auto load = [&](const std::string& name) { symbols.load(name); };
  each_name(branches[first].test, load);
  std::vector<Symbols> copies(3, symbols);  // then, all elifs, else
  scan(copies[0], branches[first].body);
  for (std::size_t i = first + 1; first == 0 && i < branches.size(); ++i) {
    branches[i].test ? scan_if(copies[1], branches, i) : scan(copies[2], branches[i].body);
  }
  merge(symbols, copies);
}

void scan(Symbols& symbols, const Body& body) {
  const auto load = [&](const std::string& name) { symbols.load(name); };
  const auto store = [&](const std::string& name) { symbols.store(name); };
  for (const Statement& statement : body) {
    const auto kind = statement.kind;
    if (kind == StatementKind::kIf) scan_if(symbols, statement.branches, 0);
    if (kind == StatementKind::kMacro) store(statement.macro->name);
    each_name(statement.value, load);
    for (const auto& assignment : statement.assignments) each_name(assignment.second, load);
    if (kind != StatementKind::kSet && kind != StatementKind::kSetBlock) continue;
    statement.target.attribute.empty() ? each_target(statement.target, store) : load(statement.target.name);
  }
}

void fill(Body& body, const Symbols& symbols);

void fill_macro(Macro& macro, const Symbols& outer) {
  each_name_read(macro.body, [&](const std::string& name) {
    macro.uses_caller |= name == "caller";
    macro.uses_named |= name == "kwargs";
    macro.uses_positional |= name == "varargs";
  });
  Symbols symbols{&outer};
  for (const std::string& name : macro.parameters) symbols.declare(name);
  if (macro.uses_caller) symbols.declare("caller");
  if (macro.uses_named) symbols.declare("kwargs");
  if (macro.uses_positional) symbols.declare("varargs");
  for (const auto& value : macro.defaults) {
    each_name(value, [&](const std::string& name) { symbols.load(name); });
  }
  scan(symbols, macro.body);
  macro.undefined_at_start = symbols.undefined();
  fill(macro.body, symbols);
}

void fill_scope(Statement& statement, const Symbols& outer) {
  Symbols symbols{&outer};
  const auto declare = [&](const std::string& name) { symbols.declare(name); };
  if (statement.kind == StatementKind::kFor) {
    symbols.declare("loop");
    each_target(statement.target, declare);
  }
  for (const auto& assignment : statement.assignments) each_target(assignment.first, declare);
  scan(symbols, statement.body);
  statement.undefined_at_start = symbols.undefined();
  fill(statement.body, symbols);
  Symbols otherwise{&outer};
  scan(otherwise, statement.otherwise);
  fill(statement.otherwise, otherwise);
}

void fill(Body& body, const Symbols& symbols) {
  for (Statement& statement : body) {
    for (Branch& branch : statement.branches) fill(branch.body, symbols);
    if (statement.macro) fill_macro(*statement.macro, symbols);
    if (!statement.body.empty() || !statement.otherwise.empty()) fill_scope(statement, symbols);
  }
}

}  // namespace

Template with_scopes(Body body) {
  Symbols symbols;
  scan(symbols, body);
  Template result{std::move(body), symbols.undefined()};
  fill(result.body, symbols);
  return result;
}

}  // namespace heed::chat
