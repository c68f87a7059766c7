#include "heed/chat/loop.h"

#include "heed/chat/compare.h"

namespace heed::chat {

Loop::Loop(Values items, int level, Test test, Recurse recurse)
    : Object(deeper_than(items)),
      items_(std::move(items)),
      level_(level),
      test_(std::move(test)),
      recurse_(std::move(recurse)) {}

bool Loop::has(std::size_t count) {
  while (kept_ < count && taken_ < items_.size()) {
    const Value item = items_[taken_++];
    if (!test_ || test_(item)) items_[kept_++] = item;
  }
  return kept_ >= count;
}

std::size_t Loop::count_all() {
  has(items_.size() + 1);
  return kept_;
}

const Value* Loop::next() {
  return has(next_ + 1) ? &items_[next_++] : nullptr;
}

void Loop::release() {
  is_over_ = true;
  items_.clear();
  test_ = nullptr;
  recurse_ = nullptr;
  last_changed_ = std::nullopt;
}

std::string Loop::print(Evaluator&) const {
  return "<LoopContext " + std::to_string(next_) + ">";
}

Value Loop::call(Evaluator&, Arguments arguments) {
  Parameters parameters("loop", arguments);
  const Value items = parameters.required("iterable");
  parameters.done();
  HEED_CHECK(recurse_, "The loop must have the 'recursive' marker to be called recursively.");
  return recurse_(items);
}

Value Loop::cycle(const Arguments& arguments) const {
  HEED_CHECK(!arguments.positional.empty() && arguments.named.empty(), "no items for cycling given");
  return arguments.positional[(next_ - 1) % arguments.positional.size()];
}

Value Loop::changed(Evaluator& evaluator, Arguments& arguments) {
  const Value now = make_tuple(std::move(arguments.positional));
  if (last_changed_ && is_equal(evaluator, *last_changed_, now)) return false;
  last_changed_ = now;
  return true;
}

std::optional<Value> Loop::attribute(Evaluator&, std::string_view name) {
  HEED_CHECK(!is_over_, "loop.", name, " after the end of the loop");
  if (name == "index") return Value::of_size(next_);
  if (name == "index0") return Value::of_size(next_ - 1);
  if (name == "first") return next_ == 1;
  if (name == "last") return !has(next_ + 1);
  if (name == "length") return Value::of_size(count_all());
  if (name == "revindex") return Value::of_size(count_all() - next_ + 1);
  if (name == "revindex0") return Value::of_size(count_all() - next_);
  if (name == "depth") return level_ + 1;
  if (name == "depth0") return level_;
  if (name == "previtem") return next_ > 1 ? items_[next_ - 2] : Value::undefined("there is no previous item");
  if (name == "nextitem") return has(next_ + 1) ? items_[next_] : Value::undefined("there is no next item");
  if (name != "cycle" && name != "changed") return std::nullopt;
  const bool is_cycle = name == "cycle";
  return make_function(std::string(name),
                       [self = shared_from_this(), is_cycle](Evaluator& evaluator, Arguments& given) {
                         HEED_CHECK(!self->is_over_, "the loop is over");
                         return is_cycle ? self->cycle(given) : self->changed(evaluator, given);
                       });
}

}  // namespace heed::chat
