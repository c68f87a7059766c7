// Runs a template: walks its tree, looks names up, calls functions, collects the text.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heed/chat/object.h"
#include "heed/chat/tree.h"

namespace heed::chat {

// Names of a block and of what it stands in. Its values go when the block ends, so that nothing holds itself alive.
struct Scope {
  std::shared_ptr<Scope> parent{};
  std::unordered_map<std::string, Value> names{};
};

class Loop;

class Evaluator {
 public:
  // The variables are a dict by name.
  explicit Evaluator(const Value& variables);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  std::string run(const Template& parsed);
  // Bytes of the text that stand in {% generation %}: begin and end of each block.
  const std::vector<std::pair<std::size_t, std::size_t>>& generated() const { return generated_; }
  int line() const { return line_; }  // where it is, for errors

  Budget& budget() { return budget_; }
  int& depth() { return depth_; }

  Value evaluate(const Expression& expression);
  Value call(const Value& callee, Arguments arguments);
  // of.name and of[key], as jinja2's sandbox looks them up; undefined where there is nothing.
  Value attribute(const Value& of, const std::string& name);
  Value item(const Value& of, const Value& key);
  Value filter(const std::string& name, const Value& value, Arguments arguments);
  bool test(const std::string& name, const Value& value, Arguments arguments);
  // The text of a macro's body, called with these arguments.
  Value call_macro(const Macro& macro, const std::shared_ptr<Scope>& defined_in, Arguments arguments);
  Value make_namespace(Dict attributes);

 private:
  class OpenScope;
  enum class Flow { kNext, kBreak, kContinue };

  Flow execute(const Body& body);
  Flow execute(const Statement& statement);
  Flow execute_if(const Statement& statement);
  Flow execute_for(const Statement& statement);
  Flow loop(const Statement& statement, const Value& items, int level);
  std::shared_ptr<Loop> make_loop(const Statement& statement, const Value& over, int level);
  // The text of a recursive for, in that scope.
  Value run_loop(const Statement& loop, const std::shared_ptr<Scope>& scope, const Value& items, int level);
  void execute_call(const Statement& statement);
  void execute_generation(const Statement& statement);
  void bind_parameters(const Macro& macro, Arguments arguments);
  Flow execute_with(const Statement& statement);
  void assign(const Target& target, const Value& value);
  // The text of the body, in a scope of its own.
  std::string captured(const Body& body, const std::vector<std::string>& undefined_at_start, Flow& flow);
  void write(std::string_view text);

  Value look_up(const std::string& name) const;
  Arguments arguments_of(const CallArguments& given);
  // The text of a block through its filters.
  Value filtered(const Expression& filters, const Value& text);
  Value evaluate_here(const Expression& expression);
  Value evaluate_dict(const Expression& expression);
  Value evaluate_compare(const Expression& expression);
  Value evaluate_condition(const Expression& expression);
  Value evaluate_concat(const Expression& expression);
  Value evaluate_slice(const Expression& expression);
  Value evaluate_call(const Expression& expression);
  Values evaluate_all(const std::vector<ExpressionPtr>& items);

  Budget budget_;
  int depth_ = 0;
  int line_ = 1;
  const Value variables_;
  std::shared_ptr<Scope> scope_;
  std::vector<std::string> outputs_{""};  // the innermost capture last
  Values block_texts_;                    // for kBlockText, the innermost last
  std::vector<std::pair<std::size_t, std::size_t>> generated_;
  std::vector<std::shared_ptr<Namespace>> namespaces_;  // all, until the end: they may hold each other
};

}  // namespace heed::chat
