// Values of the template language: Python's, as far as templates can tell. Integers have 64 bits; nothing that a
// template can reach changes, except namespaces and what iterators have left.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "heed/base/json.h"
#include "heed/chat/limits.h"

namespace heed::chat {

class Dict;
class Object;
struct Sequence;

struct None {};
// Prints as nothing; almost any other use throws `why`.
struct Undefined {
  std::shared_ptr<const std::string> why;
};

class Value {
 public:
  Value() : held_(None{}) {}
  Value(None none) : held_(none) {}
  Value(Undefined undefined) : held_(std::move(undefined)) {}
  Value(bool value) : held_(value) {}
  Value(int value) : held_(std::int64_t{value}) {}
  Value(std::int64_t value) : held_(value) {}
  Value(double value) : held_(value) {}
  Value(std::string text) : held_(std::make_shared<const std::string>(std::move(text))) {}
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* text) : Value(std::string(text)) {}
  Value(std::shared_ptr<const Sequence> sequence) : held_(std::move(sequence)) {}
  Value(std::shared_ptr<const Dict> dict) : held_(std::move(dict)) {}
  Value(std::shared_ptr<Object> object) : held_(std::move(object)) {}
  static Value of_size(std::size_t size) { return static_cast<std::int64_t>(size); }
  // jinja2's Markup, what `safe` and `escape` give: a text to which others are added escaped.
  static Value markup(std::string text) {
    Value value(std::move(text));
    value.is_markup_ = true;
    return value;
  }
  static Value undefined(std::string why) { return Undefined{std::make_shared<const std::string>(std::move(why))}; }

  bool is_none() const { return std::holds_alternative<None>(held_); }
  bool is_undefined() const { return std::holds_alternative<Undefined>(held_); }
  // Null, or nothing, where the value is of another type. A bool is no integer here, but a whole number.
  const bool* boolean() const { return std::get_if<bool>(&held_); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&held_); }
  const double* real() const { return std::get_if<double>(&held_); }
  const std::string* text() const { return pointee<const std::string>(); }
  bool is_markup() const { return is_markup_; }
  // What was made of this text: markup if this is.
  Value made(std::string text) const { return is_markup_ ? markup(std::move(text)) : Value(std::move(text)); }
  const Sequence* sequence() const { return pointee<const Sequence>(); }
  const Dict* dict() const { return pointee<const Dict>(); }
  Object* object() const { return pointee<Object>(); }
  std::optional<std::int64_t> whole() const;
  std::optional<double> number() const;

  // Python's `is`.
  bool is_same(const Value& other) const;
  // 0 for what holds no other values.
  int depth() const;
  // Python's name of the type.
  std::string type_name() const;
  // Throws what an undefined value has to say; does nothing for others.
  void check_defined() const;

 private:
  template <class T>
  T* pointee() const {
    const auto* held = std::get_if<std::shared_ptr<T>>(&held_);
    return held ? held->get() : nullptr;
  }

  std::variant<None, Undefined, bool, std::int64_t, double, std::shared_ptr<const std::string>,
               std::shared_ptr<const Sequence>, std::shared_ptr<const Dict>, std::shared_ptr<Object>>
      held_;
  bool is_markup_ = false;
};

using Values = std::vector<Value>;

// list, tuple, range and view have a length; an iterator is used up by the first walk. A group is what groupby makes:
// a tuple (grouper, list).
enum class SequenceKind { kList, kTuple, kGroup, kRange, kView, kIterator };

struct Sequence {
  SequenceKind kind;
  Values items;
  std::string name;              // how a range prints; Python's type of a view
  int depth = 1;                 // levels of values, itself counted
  mutable std::size_t used = 0;  // items that an iterator has given away

  bool is_tuple() const { return kind == SequenceKind::kTuple || kind == SequenceKind::kGroup; }
  bool has_items() const { return kind != SequenceKind::kIterator && kind != SequenceKind::kView; }  // by index
};

// Levels of something that holds the values; throws when they are too many.
int deeper_than(const Values& values);

Value make_sequence(SequenceKind kind, Values items, std::string name = "");
inline Value make_list(Values items) {
  return make_sequence(SequenceKind::kList, std::move(items));
}
inline Value make_tuple(Values items) {
  return make_sequence(SequenceKind::kTuple, std::move(items));
}
inline Value make_iterator(Values items) {
  return make_sequence(SequenceKind::kIterator, std::move(items));
}

// Keys in the order in which they came. 1, 1.0 and true are one key.
class Dict {
 public:
  using Entry = std::pair<Value, Value>;
  // A key that is there already keeps its place and gets the new value. Throws for keys that Python cannot hash.
  void set(const Value& key, Value value);
  const Value* find(const Value& key) const;
  const std::vector<Entry>& entries() const { return entries_; }
  int depth() const { return depth_; }

 private:
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> places_;  // by hash_key()
  int depth_ = 1;
};

Value make_dict(Dict dict);

// A text that is the same for keys that Python takes for one. Throws for lists, dicts and what else has no hash.
std::string hash_key(const Value& value);

// Throws invalid_argument for integers of more than 64 bits and for texts that are not UTF-8. `what` names the value.
Value from_json(const OrderedJson& json, Budget& budget, const std::string& what);

}  // namespace heed::chat
