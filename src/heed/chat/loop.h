// The `loop` of a for.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "heed/chat/evaluator.h"

namespace heed::chat {

class Loop final : public Object, public std::enable_shared_from_this<Loop> {
 public:
  // Whether an item takes part, asked when it is its turn or someone looks ahead; none: all do.
  using Test = std::function<bool(const Value&)>;
  // loop(items) of a recursive for; none: refused.
  using Recurse = std::function<Value(const Value& items)>;
  Loop(Values items, int level, Test test, Recurse recurse);
  // The next item, null after the last.
  const Value* next();
  // The loop is over, and so is what it holds.
  void release();

  std::string type_name() const override { return "LoopContext"; }
  std::string print(Evaluator& evaluator) const override;
  bool is_callable() const override { return true; }
  Value call(Evaluator& evaluator, Arguments arguments) override;
  std::optional<Value> attribute(Evaluator& evaluator, std::string_view name) override;

 private:
  // Takes items until there are `count`; whether there are that many.
  bool has(std::size_t count);
  std::size_t count_all();
  Value cycle(const Arguments& arguments) const;
  Value changed(Evaluator& evaluator, Arguments& arguments);

  Values items_;           // those that take part up to taken_, the others after it
  std::size_t kept_ = 0;   // items that take part
  std::size_t taken_ = 0;  // items that were asked
  std::size_t next_ = 0;   // items that had their turn
  bool is_over_ = false;
  int level_;
  Test test_;
  Recurse recurse_;
  std::optional<Value> last_changed_;
};

}  // namespace heed::chat
