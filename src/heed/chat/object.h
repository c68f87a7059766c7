// Values with behaviour: functions, macros, namespaces, the `loop` of a for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/chat/value.h"

namespace heed::chat {

class Evaluator;

struct Arguments {
  Values positional{};
  std::vector<std::pair<std::string, Value>> named{};
};

class Object {
 public:
  // `depth` is that of what it holds and cannot change: deeper_than() of it.
  explicit Object(int depth = 0) : depth_(depth) {}
  virtual ~Object() = default;
  int depth() const { return depth_; }
  virtual std::string type_name() const = 0;
  // How Python prints it.
  virtual std::string print(Evaluator& evaluator) const = 0;
  virtual std::optional<Value> attribute(Evaluator&, std::string_view) { return std::nullopt; }
  virtual std::optional<std::size_t> length() const { return std::nullopt; }  // len()
  virtual bool is_callable() const { return false; }
  virtual Value call(Evaluator& evaluator, Arguments arguments);

 private:
  int depth_;
};

// A function of heed's, or a method together with its object.
class Function final : public Object {
 public:
  using Body = std::function<Value(Evaluator&, Arguments&)>;
  Function(std::string name, Body body, int depth) : Object(depth), name_(std::move(name)), body_(std::move(body)) {}
  std::string type_name() const override { return "function"; }
  std::string print(Evaluator&) const override { return "<function " + name_ + ">"; }
  bool is_callable() const override { return true; }
  Value call(Evaluator& evaluator, Arguments arguments) override { return body_(evaluator, arguments); }

 private:
  std::string name_;
  Body body_;
};

// `depth` is deeper_than() what the body captures.
inline Value make_function(std::string name, Function::Body body, int depth = 0) {
  return std::shared_ptr<Object>(std::make_shared<Function>(std::move(name), std::move(body), depth));
}

// The one thing that a template can change: {% set ns.name = value %}.
class Namespace final : public Object {
 public:
  explicit Namespace(Dict attributes) : attributes_(std::move(attributes)) {}
  std::string type_name() const override { return "Namespace"; }
  std::string print(Evaluator& evaluator) const override;
  std::optional<Value> attribute(Evaluator&, std::string_view name) override;
  void set(const std::string& name, Value value) { attributes_.set(name, std::move(value)); }
  // Namespaces may hold each other; this lets go.
  void clear() { attributes_ = {}; }

 private:
  Dict attributes_;
};

// Takes arguments one after the other, by place or by name, as Python hands them to parameters.
class Parameters {
 public:
  Parameters(std::string function, const Arguments& arguments)
      : function_(std::move(function)), arguments_(arguments) {}
  // The next parameter; a name of "" can only be given by place.
  Value required(std::string_view name);
  Value optional(std::string_view name, Value fallback);
  // Throws when there are arguments left.
  void done() const;

 private:
  // Null if it was not given.
  const Value* take(std::string_view name);

  std::string function_;
  const Arguments& arguments_;
  std::size_t next_ = 0;                 // of the positional ones
  std::vector<std::string_view> taken_;  // names of the others
};

// The value as what the parameter needs; throws if it is something else. `what` names it.
std::int64_t as_whole(const Value& value, std::string_view what);
const std::string& as_text(const Value& value, std::string_view what);

}  // namespace heed::chat
