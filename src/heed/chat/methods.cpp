#include "heed/chat/methods.h"

#include <algorithm>
#include <array>

#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

using detail::Method;

// Methods that Python's str has and heed has not: to leave them undefined would change what templates print.
constexpr std::array<std::string_view, 12> kUnknownTextMethods = {
    "casefold",     "encode",    "expandtabs",  "format_map", "isascii",   "isdecimal",
    "isidentifier", "isnumeric", "isprintable", "istitle",    "maketrans", "translate"};
constexpr std::array<std::string_view, 8> kListChanges = {"append", "clear",  "extend",  "insert",
                                                          "pop",    "remove", "reverse", "sort"};
constexpr std::array<std::string_view, 5> kDictChanges = {"clear", "pop", "popitem", "setdefault", "update"};

Value view_of(Evaluator& evaluator, const Value& self, Arguments& arguments, const char* name, int part) {
  Parameters(name, arguments).done();
  evaluator.budget().spend(self.dict()->entries().size());
  Values items;
  for (const auto& [key, value] : self.dict()->entries()) {
    items.push_back(part == 0 ? key : part == 1 ? value : make_tuple({key, value}));
  }
  return make_sequence(SequenceKind::kView, std::move(items), name);
}

Value dict_keys(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  return view_of(evaluator, self, arguments, "dict_keys", 0);
}
Value dict_values(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  return view_of(evaluator, self, arguments, "dict_values", 1);
}
Value dict_items(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  return view_of(evaluator, self, arguments, "dict_items", 2);
}

Value dict_get(Evaluator&, const Value& self, Arguments& arguments) {
  Parameters parameters("get", arguments);
  const Value key = parameters.required("");
  Value fallback = parameters.optional("", None{});
  parameters.done();
  const Value* found = self.dict()->find(key);
  return found ? *found : fallback;
}

Value copy(Evaluator&, const Value& self, Arguments& arguments) {
  Parameters("copy", arguments).done();
  return self;
}

Value list_count(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  Parameters parameters("count", arguments);
  const Value wanted = parameters.required("");
  parameters.done();
  std::int64_t count = 0;
  for (const Value& item : self.sequence()->items) count += is_equal(evaluator, item, wanted) ? 1 : 0;
  return count;
}

Value list_index(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  Parameters parameters("index", arguments);
  const Value wanted = parameters.required("");
  const auto& items = self.sequence()->items;
  const auto size = static_cast<std::int64_t>(items.size());
  const auto place = [&](Value value) {
    const std::int64_t given = as_whole(value, "a place");
    return std::clamp<std::int64_t>(given < 0 ? given + size : given, 0, size);
  };
  const std::int64_t begin = place(parameters.optional("", 0)), end = place(parameters.optional("", size));
  parameters.done();
  for (std::int64_t i = begin; i < end; ++i) {
    if (is_equal(evaluator, items[static_cast<std::size_t>(i)], wanted)) return i;
  }
  fail(ErrorKind::invalid_argument, "the item is not in the list");
}

constexpr std::array<Method, 5> kDictMethods = {Method{"copy", copy}, Method{"get", dict_get},
                                                Method{"items", dict_items}, Method{"keys", dict_keys},
                                                Method{"values", dict_values}};
constexpr std::array<Method, 3> kListMethods = {Method{"copy", copy}, Method{"count", list_count},
                                                Method{"index", list_index}};

template <class List>
bool has(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

bool changes(const Value& of, std::string_view name) {
  if (of.dict()) return has(kDictChanges, name);
  return of.sequence() && of.sequence()->kind == SequenceKind::kList && has(kListChanges, name);
}

const Method* find_in(const auto& list, std::string_view name) {
  const auto found = std::ranges::find(list, name, &Method::name);
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

const Method* detail::find_container_method(const Value& of, std::string_view name) {
  if (of.dict()) return find_in(kDictMethods, name);
  const Sequence* sequence = of.sequence();
  if (!sequence || !sequence->has_items()) return nullptr;
  return name == "copy" && sequence->kind != SequenceKind::kList ? nullptr : find_in(kListMethods, name);
}

std::optional<Value> find_method(const Value& of, const std::string& name) {
  const bool is_group = of.sequence() && of.sequence()->kind == SequenceKind::kGroup;
  if (is_group && name == "grouper") return of.sequence()->items[0];
  if (is_group && name == "list") return of.sequence()->items[1];
  if (changes(of, name)) {
    return Value::undefined(concat({"access to attribute '", name, "' of '", of.type_name(), "' object is unsafe."}));
  }
  HEED_CHECK(!of.text() || !has(kUnknownTextMethods, name), "the method ", name, " of texts is not supported");
  const Method* method = of.text() ? detail::find_text_method(name) : detail::find_container_method(of, name);
  if (!method) return std::nullopt;
  const auto call = [method, of](Evaluator& evaluator, Arguments& arguments) {
    evaluator.budget().spend_bytes(of.text() ? of.text()->size() : 0);
    return method->call(evaluator, of, arguments);
  };
  return make_function(name, call, deeper_than({of}));
}

}  // namespace heed::chat
