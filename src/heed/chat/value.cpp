#include "heed/chat/value.h"

#include <algorithm>
#include <cmath>

#include "heed/base/utf8.h"
#include "heed/chat/object.h"

namespace heed::chat {
namespace {

constexpr std::size_t kMostKeyBytes = std::size_t{1} << 20;

int checked_depth(int depth) {
  HEED_CHECK(depth <= kMostValueDepth, "values are nested deeper than ", kMostValueDepth, " levels");
  return depth;
}

void append_hash_key(std::string& key, const Value& value) {
  HEED_CHECK(key.size() <= kMostKeyBytes, "a key of a dict takes more than ", kMostKeyBytes, " bytes");
  if (const std::string* text = value.text()) {
    key += "s" + std::to_string(text->size()) + ":" + *text;
  } else if (const auto whole = value.whole()) {
    key += "n" + std::to_string(*whole) + ";";
  } else if (const double* real = value.real()) {
    constexpr double kTwoTo63 = 9223372036854775808.0;
    const bool is_whole = *real == std::floor(*real) && *real >= -kTwoTo63 && *real < kTwoTo63;
    key += is_whole ? "n" + std::to_string(static_cast<std::int64_t>(*real)) + ";" : "f" + Json(*real).dump() + ";";
  } else if (value.is_none()) {
    key += "N";
  } else if (value.is_undefined()) {
    key += "U";
  } else if (value.sequence() && value.sequence()->is_tuple()) {
    key += "(";
    for (const Value& item : value.sequence()->items) append_hash_key(key, item);
    key += ")";
  } else {
    HEED_CHECK(value.object(), "unhashable type: '", value.type_name(), "'");
    key += "o" + std::to_string(reinterpret_cast<std::uintptr_t>(value.object())) + ";";
  }
}

}  // namespace

std::optional<std::int64_t> Value::whole() const {
  if (const bool* flag = boolean()) return *flag ? 1 : 0;
  return integer() ? std::optional(*integer()) : std::nullopt;
}

std::optional<double> Value::number() const {
  if (const auto value = whole()) return static_cast<double>(*value);
  return real() ? std::optional(*real()) : std::nullopt;
}

bool Value::is_same(const Value& other) const {
  if (held_.index() != other.held_.index()) return false;
  if (boolean()) return *boolean() == *other.boolean();
  if (integer()) return *integer() == *other.integer();
  if (text()) return text() == other.text();
  if (sequence()) return sequence() == other.sequence();
  if (dict()) return dict() == other.dict();
  if (object()) return object() == other.object();
  return is_none();
}

int Value::depth() const {
  if (sequence()) return sequence()->depth;
  if (object()) return object()->depth();
  return dict() ? dict()->depth() : 0;
}

std::string Value::type_name() const {
  if (is_none()) return "NoneType";
  if (is_undefined()) return "Undefined";
  if (boolean()) return "bool";
  if (integer()) return "int";
  if (real()) return "float";
  if (text()) return "str";
  if (dict()) return "dict";
  if (object()) return object()->type_name();
  switch (sequence()->kind) {
    case SequenceKind::kList: return "list";
    case SequenceKind::kRange: return "range";
    case SequenceKind::kView: return sequence()->name;
    case SequenceKind::kIterator: return "iterator";
    default: return "tuple";
  }
}

void Value::check_defined() const {
  const auto* undefined = std::get_if<Undefined>(&held_);
  HEED_CHECK(!undefined, *undefined->why);
}

int deeper_than(const Values& values) {
  int depth = 0;
  for (const Value& value : values) depth = std::max(depth, value.depth());
  return checked_depth(depth + 1);
}

Value make_sequence(SequenceKind kind, Values items, std::string name) {
  const int depth = deeper_than(items);
  return std::make_shared<const Sequence>(Sequence{kind, std::move(items), std::move(name), depth});
}

void Dict::set(const Value& key, Value value) {
  depth_ = checked_depth(std::max({depth_, key.depth() + 1, value.depth() + 1}));
  const auto [place, fresh] = places_.try_emplace(hash_key(key), entries_.size());
  if (fresh) {
    entries_.emplace_back(key, std::move(value));
  } else {
    entries_[place->second].second = std::move(value);
  }
}

const Value* Dict::find(const Value& key) const {
  const auto place = places_.find(hash_key(key));
  return place == places_.end() ? nullptr : &entries_[place->second].second;
}

Value make_dict(Dict dict) {
  return std::make_shared<const Dict>(std::move(dict));
}

std::string hash_key(const Value& value) {
  std::string key;
  append_hash_key(key, value);
  return key;
}

Value from_json(const OrderedJson& json, Budget& budget, const std::string& what) {
  budget.spend(1);
  if (json.is_null()) return None{};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_number()) {
    HEED_CHECK(!json.is_number_unsigned() || std::in_range<std::int64_t>(json.get<std::uint64_t>()), what, ": ",
               json.dump(), " does not fit in 64 bits");
    return json.get<std::int64_t>();
  }
  if (json.is_array()) {
    Values items;
    for (const OrderedJson& item : json) items.push_back(from_json(item, budget, what));
    return make_list(std::move(items));
  }
  if (json.is_object()) {
    Dict dict;
    for (const auto& entry : json.items()) {
      budget.spend_bytes(entry.key().size());
      HEED_CHECK(!utf8_find_invalid(entry.key()), what, ": a key that is not UTF-8");
      dict.set(entry.key(), from_json(entry.value(), budget, what));
    }
    return make_dict(std::move(dict));
  }
  HEED_CHECK(json.is_string(), what, ": binary data, expected JSON");
  const auto& text = json.get_ref<const std::string&>();
  budget.spend_bytes(text.size());
  HEED_CHECK(!utf8_find_invalid(text), what, ": text that is not UTF-8");
  return text;
}

}  // namespace heed::chat
