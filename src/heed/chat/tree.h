// A template as a tree: what the parser makes and the evaluator walks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/chat/value.h"

namespace heed::chat {

enum class ExpressionKind {
  kConstant,   // value
  kName,       // name
  kList,       // items
  kTuple,      // items
  kDict,       // items: key, value, key, value ...
  kNegative,   // -items[0]
  kPositive,   // +items[0]
  kNot,        // not items[0]
  kAnd,        // items[0] and items[1]
  kOr,         // items[0] or items[1]
  kBinary,     // items[0] <name> items[1]: + - * / // % **
  kConcat,     // items[0] ~ items[1] ~ ...
  kCompare,    // items[0] <names[0]> items[1] <names[1]> ...: == != < <= > >= in, not in
  kCondition,  // items[0] if items[1] else items[2]; without else there are two
  kAttribute,  // items[0].name
  kItem,       // items[0][items[1]]
  kSlice,      // items[0][items[1]:items[2]:items[3]]; null where nothing stands
  kCall,       // items[0](arguments)
  kFilter,     // items[0]|name(arguments)
  kBlockText,  // what the filters of a block are given
  kTest,       // items[0] is name(arguments)
};

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

struct CallArguments {
  std::vector<ExpressionPtr> positional{};
  std::vector<std::pair<std::string, ExpressionPtr>> named{};
  ExpressionPtr list{}, dict{};  // *list, **dict
};

struct Expression {
  ExpressionKind kind;
  int line = 0;
  int depth = 1;  // levels of the tree below and with it
  std::string name{};
  Value value{};
  std::vector<ExpressionPtr> items{};
  std::vector<std::string> names{};
  CallArguments arguments{};
};

enum class StatementKind {
  kText,        // name
  kOutput,      // {{ value }}
  kIf,          // branches
  kFor,         // for target in value if test: body else otherwise
  kSet,         // target = value
  kSetBlock,    // target = body through the filters of value, which may be null
  kFilter,      // body through the filters of value
  kMacro,       // macro
  kCall,        // value is a call, macro the caller
  kWith,        // pairs of targets and values, then body
  kGeneration,  // body, noted as what the model says
  kBreak,
  kContinue,
};

struct Macro;
struct Statement;
using Body = std::vector<Statement>;

// A name, a tuple of targets, or an attribute of a namespace.
struct Target {
  std::string name{}, attribute{};
  std::vector<Target> items{};
  bool is_tuple = false;
};

struct Branch {
  ExpressionPtr test;  // null: else
  Body body;
};

struct Statement {
  StatementKind kind;
  int line = 0;
  std::string name{};
  ExpressionPtr value{}, test{};
  Target target{};
  bool is_recursive = false;
  Body body{}, otherwise{};
  std::vector<Branch> branches{};
  std::vector<std::pair<Target, ExpressionPtr>> assignments{};  // of with
  std::shared_ptr<Macro> macro{};
  std::vector<std::string> undefined_at_start{};
};

struct Macro {
  std::string name{};
  std::vector<std::string> parameters{};
  std::vector<ExpressionPtr> defaults{};  // of the last parameters
  Body body{};
  // Names that the body uses without setting them.
  bool uses_caller = false, uses_named = false, uses_positional = false;
  std::vector<std::string> undefined_at_start{};  // in the scope of the body; see scopes.h
};

struct Template {
  Body body;
  std::vector<std::string> undefined_at_start;
};

}  // namespace heed::chat
