#include "heed/chat/arithmetic.h"
#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/filters.h"
#include "heed/chat/globals.h"
#include "heed/chat/methods.h"
#include "heed/chat/print.h"
#include "heed/chat/tests.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

bool holds(Evaluator& evaluator, const std::string& operation, const Value& a, const Value& b) {
  if (operation == "in") return contains(evaluator, b, a);
  if (operation == "not in") return !contains(evaluator, b, a);
  if (operation == "==") return is_equal(evaluator, a, b);
  if (operation == "!=") return !is_equal(evaluator, a, b);
  return compare(evaluator, operation, a, b);
}

std::optional<std::int64_t> slice_index(const Value& value) {
  if (value.is_none()) return std::nullopt;
  HEED_CHECK(value.whole(), "slice indices must be integers or None, not ", value.type_name());
  return value.whole();
}

Values parts_of(const Sequence& sequence, const SliceRange& range) {
  Values items;
  std::int64_t place = range.start;
  for (std::size_t i = 0; i < range.count; ++i) {
    items.push_back(sequence.items[static_cast<std::size_t>(place)]);
    if (i + 1 < range.count) place += range.step;
  }
  return items;
}

std::string parts_of(const std::string& text, const std::vector<std::size_t>& offsets, const SliceRange& range) {
  std::string out;
  std::int64_t place = range.start;
  for (std::size_t i = 0; i < range.count; ++i) {
    const auto at = static_cast<std::size_t>(place);
    out.append(text, offsets[at], offsets[at + 1] - offsets[at]);
    if (i + 1 < range.count) place += range.step;
  }
  return out;
}

std::string missing_text(const Value& of, const std::string& name) {
  return concat({"'", of.type_name(), " object' has no attribute '", name, "'"});
}

}  // namespace

Value Evaluator::look_up(const std::string& name) const {
  for (const Scope* scope = scope_.get(); scope; scope = scope->parent.get()) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return found->second;
  }
  if (const Value* given = variables_.dict()->find(name)) return *given;
  const Value* global = find_global(name);
  return global ? *global : Value::undefined(concat({"'", name, "' is undefined"}));
}

Value Evaluator::evaluate(const Expression& expression) {
  const Level level(depth_, kMostCallDepth, "the template calls itself");
  budget_.spend(1);
  line_ = expression.line;
  return evaluate_here(expression);
}

Value Evaluator::evaluate_here(const Expression& expression) {
  const auto& items = expression.items;
  switch (expression.kind) {
    case ExpressionKind::kConstant: return expression.value;
    case ExpressionKind::kName: return look_up(expression.name);
    case ExpressionKind::kList: return make_list(evaluate_all(items));
    case ExpressionKind::kTuple: return make_tuple(evaluate_all(items));
    case ExpressionKind::kDict: return evaluate_dict(expression);
    case ExpressionKind::kNegative: return negative(evaluate(*items[0]));
    case ExpressionKind::kPositive: return positive(evaluate(*items[0]));
    case ExpressionKind::kNot: return !is_true(evaluate(*items[0]));
    case ExpressionKind::kAnd:
    case ExpressionKind::kOr: {
      Value left = evaluate(*items[0]);
      return is_true(left) == (expression.kind == ExpressionKind::kOr) ? left : evaluate(*items[1]);
    }
    case ExpressionKind::kBinary: {
      const Value left = evaluate(*items[0]);
      return arithmetic(*this, expression.name, left, evaluate(*items[1]));
    }
    case ExpressionKind::kConcat: return evaluate_concat(expression);
    case ExpressionKind::kCompare: return evaluate_compare(expression);
    case ExpressionKind::kCondition: return evaluate_condition(expression);
    case ExpressionKind::kAttribute: return attribute(evaluate(*items[0]), expression.name);
    case ExpressionKind::kItem: {
      const Value of = evaluate(*items[0]);
      return item(of, evaluate(*items[1]));
    }
    case ExpressionKind::kSlice: return evaluate_slice(expression);
    case ExpressionKind::kCall: return evaluate_call(expression);
    case ExpressionKind::kBlockText: return block_texts_.back();
    case ExpressionKind::kFilter: {
      const Value value = evaluate(*items[0]);
      return filter(expression.name, value, arguments_of(expression.arguments));
    }
    case ExpressionKind::kTest: {
      const Value value = evaluate(*items[0]);
      return test(expression.name, value, arguments_of(expression.arguments));
    }
  }
  return {};
}

Values Evaluator::evaluate_all(const std::vector<ExpressionPtr>& items) {
  Values values;
  for (const auto& item : items) values.push_back(evaluate(*item));
  return values;
}

Value Evaluator::evaluate_dict(const Expression& expression) {
  Dict dict;
  for (std::size_t i = 0; i < expression.items.size(); i += 2) {
    const Value key = evaluate(*expression.items[i]);
    dict.set(key, evaluate(*expression.items[i + 1]));
  }
  return make_dict(std::move(dict));
}

Value Evaluator::evaluate_compare(const Expression& expression) {
  Value left = evaluate(*expression.items[0]);
  for (std::size_t i = 0; i < expression.names.size(); ++i) {
    Value right = evaluate(*expression.items[i + 1]);
    if (!holds(*this, expression.names[i], left, right)) return false;
    left = std::move(right);
  }
  return true;
}

Value Evaluator::evaluate_condition(const Expression& expression) {
  if (is_true(evaluate(*expression.items[1]))) return evaluate(*expression.items[0]);
  if (expression.items.size() > 2) return evaluate(*expression.items[2]);
  return Value::undefined("the inline if-expression on line " + std::to_string(expression.line) +
                          " evaluated to false and no else section was defined.");
}

Value Evaluator::evaluate_concat(const Expression& expression) {
  std::string text;
  for (const auto& item : expression.items) {
    const std::string part = to_text(*this, evaluate(*item));
    budget_.spend_bytes(part.size());
    text += part;
  }
  return text;
}

Value Evaluator::evaluate_slice(const Expression& expression) {
  const Value of = evaluate(*expression.items[0]);
  of.check_defined();
  const auto index = [&](std::size_t i) {
    const auto& item = expression.items[i];
    return item ? slice_index(evaluate(*item)) : std::nullopt;
  };
  const auto start = index(1), stop = index(2), step = index(3);
  HEED_CHECK(step != 0, "slice step cannot be zero");
  if (const std::string* text = of.text()) {
    budget_.spend_bytes(text->size());
    const auto offsets = code_point_offsets(*text);
    const auto length = static_cast<std::int64_t>(offsets.size()) - 1;
    return of.made(parts_of(*text, offsets, slice_range(length, start, stop, step.value_or(1))));
  }
  const Sequence* sequence = of.sequence();
  HEED_CHECK(sequence && sequence->has_items(), "'", of.type_name(), "' object is not subscriptable");
  budget_.spend(sequence->items.size());
  const auto length = static_cast<std::int64_t>(sequence->items.size());
  const SliceRange range = slice_range(length, start, stop, step.value_or(1));
  const auto kind = sequence->is_tuple() ? SequenceKind::kTuple : sequence->kind;
  return make_sequence(kind, parts_of(*sequence, range), sequence->name);
}

Value Evaluator::evaluate_call(const Expression& expression) {
  const Value callee = evaluate(*expression.items[0]);
  return call(callee, arguments_of(expression.arguments));
}

Arguments Evaluator::arguments_of(const CallArguments& given) {
  Arguments arguments{evaluate_all(given.positional), {}};
  for (const auto& [name, value] : given.named) arguments.named.emplace_back(name, evaluate(*value));
  if (given.list) {
    for (Value& item : items_of(*this, evaluate(*given.list))) arguments.positional.push_back(std::move(item));
  }
  if (given.dict) {
    const Value dict = evaluate(*given.dict);
    HEED_CHECK(dict.dict(), "argument after ** must be a mapping, not ", dict.type_name());
    for (const auto& [key, value] : dict.dict()->entries()) {
      arguments.named.emplace_back(as_text(key, "a keyword after **"), value);
    }
  }
  return arguments;
}

Value Evaluator::call(const Value& callee, Arguments arguments) {
  callee.check_defined();
  HEED_CHECK(callee.object(), "'", callee.type_name(), "' object is not callable");
  const int line = line_;
  Value result = callee.object()->call(*this, std::move(arguments));
  line_ = line;
  return result;
}

Value Evaluator::attribute(const Value& of, const std::string& name) {
  of.check_defined();
  if (of.object()) {
    const auto found = of.object()->attribute(*this, name);
    return found ? *found : Value::undefined(missing_text(of, name));
  }
  if (const auto method = find_method(of, name)) return *method;
  const Value* found = of.dict() ? of.dict()->find(name) : nullptr;
  return found ? *found : Value::undefined(missing_text(of, name));
}

Value Evaluator::item(const Value& of, const Value& key) {
  of.check_defined();
  if (const Dict* dict = of.dict()) {
    const bool is_hashable = !key.dict() && !(key.sequence() && !key.sequence()->is_tuple());
    const Value* found = is_hashable ? dict->find(key) : nullptr;
    if (found) return *found;
  }
  const auto whole = key.whole();
  if (whole && of.text()) {
    budget_.spend_bytes(of.text()->size());
    const auto length = static_cast<std::int64_t>(*length_of(of));
    const auto stop = *whole == -1 || *whole >= length ? std::nullopt : std::optional(*whole + 1);
    if (*whole >= -length && *whole < length) return of.made(std::string(text_slice(*of.text(), *whole, stop).first));
  } else if (whole && of.sequence() && of.sequence()->has_items()) {
    const auto& items = of.sequence()->items;
    const std::int64_t place = *whole < 0 ? *whole + static_cast<std::int64_t>(items.size()) : *whole;
    if (place >= 0 && std::cmp_less(place, items.size())) return items[static_cast<std::size_t>(place)];
  }
  if (const std::string* name = key.text()) {
    if (of.object()) return attribute(of, *name);
    if (const auto method = find_method(of, *name)) return *method;
  }
  return Value::undefined(concat({"'", of.type_name(), " object' has no element ", repr(*this, key)}));
}

Value Evaluator::filtered(const Expression& filters, const Value& text) {
  block_texts_.push_back(text);
  Value result = evaluate(filters);
  block_texts_.pop_back();
  return result;
}

Value Evaluator::filter(const std::string& name, const Value& value, Arguments arguments) {
  const Filter* found = find_filter(name);
  HEED_CHECK(found, "No filter named '", name, "'.");
  budget_.spend_bytes(value.text() ? value.text()->size() : 0);
  return (*found)(*this, value, arguments);
}

bool Evaluator::test(const std::string& name, const Value& value, Arguments arguments) {
  const Test* found = find_test(name);
  HEED_CHECK(found, "No test named '", name, "'.");
  return (*found)(*this, value, arguments);
}

}  // namespace heed::chat
