#include "heed/chat/globals.h"

#include <sys/time.h>

#include <array>
#include <ctime>
#include <unordered_map>

#include "heed/base/utf8.h"
#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/print.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

Value range(Evaluator& evaluator, Arguments& arguments) {
  Parameters parameters("range", arguments);
  const std::int64_t first = as_whole(parameters.required(""), "range's argument");
  const Value second = parameters.optional("", None{}), third = parameters.optional("", 1);
  parameters.done();
  const std::int64_t start = second.is_none() ? 0 : first;
  const std::int64_t stop = second.is_none() ? first : as_whole(second, "range's argument");
  const std::int64_t step = as_whole(third, "range's step");
  HEED_CHECK(step != 0, "range() arg 3 must not be zero");
  Values items;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop;) {
    HEED_CHECK(items.size() < kMostRange, "Range too big. Templates may have ranges of up to ", kMostRange);
    items.push_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  evaluator.budget().spend(items.size());
  std::string name = "range(" + std::to_string(start) + ", " + std::to_string(stop);
  name += step == 1 ? ")" : ", " + std::to_string(step) + ")";
  return make_sequence(SequenceKind::kRange, std::move(items), name);
}

Dict dict_of(Evaluator& evaluator, Arguments& arguments) {
  Dict dict;
  HEED_CHECK(arguments.positional.size() <= 1, "dict expected at most 1 argument, got ", arguments.positional.size());
  if (!arguments.positional.empty() && arguments.positional[0].dict()) {
    dict = *arguments.positional[0].dict();
  } else if (!arguments.positional.empty()) {
    for (const Value& pair : items_of(evaluator, arguments.positional[0])) {
      const Values parts = items_of(evaluator, pair);
      HEED_CHECK(parts.size() == 2, "dict() needs pairs, found ", parts.size(), " values");
      dict.set(parts[0], parts[1]);
    }
  }
  evaluator.budget().spend(dict.entries().size() * 4);
  for (auto& [name, value] : arguments.named) dict.set(name, value);
  return dict;
}

Value dict(Evaluator& evaluator, Arguments& arguments) {
  return make_dict(dict_of(evaluator, arguments));
}

Value name_space(Evaluator& evaluator, Arguments& arguments) {
  return evaluator.make_namespace(dict_of(evaluator, arguments));
}

// Nothing at the first call, then the separator.
class Joiner final : public Object {
 public:
  explicit Joiner(const Value& separator) : Object(deeper_than({separator})), separator_(separator) {}
  std::string type_name() const override { return "Joiner"; }
  std::string print(Evaluator&) const override { return "<Joiner>"; }
  bool is_callable() const override { return true; }
  Value call(Evaluator&, Arguments arguments) override {
    Parameters("joiner", arguments).done();
    return std::exchange(is_used_, true) ? separator_ : Value("");
  }

 private:
  Value separator_;
  bool is_used_ = false;
};

Value joiner(Evaluator&, Arguments& arguments) {
  Parameters parameters("joiner", arguments);
  const Value separator = parameters.optional("sep", ", ");
  parameters.done();
  return std::shared_ptr<Object>(std::make_shared<Joiner>(separator));
}

class Cycler final : public Object, public std::enable_shared_from_this<Cycler> {
 public:
  explicit Cycler(Values items) : Object(deeper_than(items)), items_(std::move(items)) {}
  std::string type_name() const override { return "Cycler"; }
  std::string print(Evaluator&) const override { return "<Cycler>"; }
  std::optional<Value> attribute(Evaluator&, std::string_view name) override {
    if (name == "current") return items_[at_];
    if (name == "items") return make_tuple(items_);
    if (name == "pos") return Value::of_size(at_);
    if (name != "next" && name != "reset") return std::nullopt;
    const bool is_next = name == "next";
    const auto call = [self = shared_from_this(), is_next](Evaluator&, Arguments& none) {
      Parameters("cycler", none).done();
      const Value current = self->items_[self->at_];
      self->at_ = is_next ? (self->at_ + 1) % self->items_.size() : 0;
      return is_next ? current : Value();
    };
    return make_function(std::string(name), call, deeper_than({std::shared_ptr<Object>(shared_from_this())}));
  }

 private:
  Values items_;
  std::size_t at_ = 0;
};

Value cycler(Evaluator&, Arguments& arguments) {
  HEED_CHECK(!arguments.positional.empty() && arguments.named.empty(), "at least one item has to be provided");
  return std::shared_ptr<Object>(std::make_shared<Cycler>(std::move(arguments.positional)));
}

Value raise_exception(Evaluator& evaluator, Arguments& arguments) {
  Parameters parameters("raise_exception", arguments);
  const Value message = parameters.required("message");
  parameters.done();
  fail(ErrorKind::invalid_argument, to_text(evaluator, message));
}

// The time of this machine, by strftime; %f is microseconds, as Python has it.
Value strftime_now(Evaluator& evaluator, Arguments& arguments) {
  Parameters parameters("strftime_now", arguments);
  const std::string format = as_text(parameters.required("format"), "strftime_now's format");
  parameters.done();
  constexpr std::size_t kMostFormatBytes = 1000;
  HEED_CHECK(format.size() <= kMostFormatBytes && format.find('\0') == std::string::npos,
             "strftime_now's format has over ", kMostFormatBytes, " bytes");
  timeval now{};
  gettimeofday(&now, nullptr);
  std::tm local{};
  localtime_r(&now.tv_sec, &local);
  const std::string micros = std::to_string(1'000'000 + now.tv_usec).substr(1);
  std::string with_micros;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const bool is_field = format[i] == '%' && i + 1 < format.size();
    with_micros += is_field && format[i + 1] == 'f' ? micros : format.substr(i, is_field ? 2 : 1);
    i += is_field ? 1 : 0;
  }
  // A mark at the end tells an empty result from one that has no room.
  std::vector<char> buffer(64 * kMostFormatBytes);
  evaluator.budget().spend_bytes(buffer.size());
  const std::size_t size = std::strftime(buffer.data(), buffer.size(), (with_micros + ".").c_str(), &local);
  HEED_CHECK(size > 0, "strftime_now has no result for its format");
  return utf8_replace_invalid(std::string_view(buffer.data(), size - 1));
}

}  // namespace

const Value* find_global(const std::string& name) {
  static const std::unordered_map<std::string, Value> table = [] {
    std::unordered_map<std::string, Value> map;
    const auto add = [&](const char* key, Value (*body)(Evaluator&, Arguments&)) {
      map.emplace(key, make_function(key, body));
    };
    add("range", range);
    add("dict", dict);
    add("namespace", name_space);
    add("joiner", joiner);
    add("cycler", cycler);
    add("raise_exception", raise_exception);
    add("strftime_now", strftime_now);
    return map;
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace heed::chat
