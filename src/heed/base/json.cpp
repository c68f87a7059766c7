#include "heed/base/json.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_set>
#include <utility>

namespace heed {
namespace {

// A pointer that tells how far the parser has read, so that errors found by the builder have a place too.
struct TrackedIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** seen;

  reference operator*() const { return *at; }
  TrackedIterator& operator++() {
    *seen = ++at;
    return *this;
  }
  bool operator==(const TrackedIterator& other) const { return at == other.at; }
  bool operator!=(const TrackedIterator& other) const { return at != other.at; }
};

// Builds the value from the parser's events. nlohmann's own builder keeps the last of two equal keys in silence.
template <class Value>
class Builder : public nlohmann::json_sax<Value> {
 public:
  Builder(std::string_view text, std::string_view name) : text_(text), name_(name), seen_(text.data()) {}

  TrackedIterator begin() { return {text_.data(), &seen_}; }
  TrackedIterator end() { return {text_.data() + text_.size(), &seen_}; }
  Value take() { return std::move(result_); }

  [[noreturn]] void refuse(const std::string& why) const {
    const std::string_view read = text_.substr(0, static_cast<std::size_t>(seen_ - text_.data()));
    const std::size_t line_start = read.rfind('\n') + 1;  // npos + 1 is 0
    const auto line = std::count(read.begin(), read.end(), '\n') + 1;
    const std::size_t column = std::max<std::size_t>(read.size() - line_start, 1);
    fail(ErrorKind::bad_format, name_, ":", line, ":", column, ": ", why);
  }

  // nlohmann takes a NUL for the end of the text and ignores what follows.
  void refuse_nul() {
    const std::size_t nul = text_.find('\0');
    if (nul == std::string_view::npos) return;
    seen_ = text_.data() + nul + 1;
    refuse("a NUL character");
  }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(typename Value::binary_t&) override {
    refuse("binary data in JSON text");
    return false;
  }
  bool start_object(std::size_t) override { return open(Value::object()); }
  bool start_array(std::size_t) override { return open(Value::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& value) override {
    auto& object = open_.back()->template get_ref<typename Value::object_t&>();
    bool fresh;
    if constexpr (std::same_as<Value, OrderedJson>) {
      fresh = keys_.back().insert(value).second;  // emplace() would compare all keys, one after the other
      slot_ = &object.emplace_back(value, nullptr).second;
    } else {
      const auto entry = object.try_emplace(value);
      fresh = entry.second;
      slot_ = &entry.first->second;
    }
    if (!fresh) refuse("the key \"" + value + "\" appears twice in one object");
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: what": the place is said by refuse.
    const std::string_view what = error.what();
    const std::size_t colon = what.find(": ");
    refuse(std::string(colon == std::string_view::npos ? what : what.substr(colon + 2)));
    return false;
  }

 private:
  bool add(Value&& value) {
    place(std::move(value));
    return true;
  }

  bool open(Value&& container) {
    if (open_.size() == static_cast<std::size_t>(kJsonDepth)) {
      refuse("nested deeper than " + std::to_string(kJsonDepth) + " levels");
    }
    open_.push_back(&place(std::move(container)));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  // Puts the value where the document is now: at the top, at the end of a list, or under the last key.
  Value& place(Value&& value) {
    if (open_.empty()) return result_ = std::move(value);
    if (open_.back()->is_array()) {
      auto& items = open_.back()->template get_ref<typename Value::array_t&>();
      return items.emplace_back(std::move(value));
    }
    return *slot_ = std::move(value);
  }

  std::string_view text_;
  std::string_view name_;
  const char* seen_;
  Value result_;
  std::vector<Value*> open_;  // containers being filled, outermost first; none of them moves meanwhile
  std::vector<std::unordered_set<std::string>> keys_;  // of each of them, if they are ordered
  Value* slot_ = nullptr;                              // the value of the last key
};

template <class Value>
Value parse(std::string_view text, std::string_view name) {
  Builder<Value> builder(text, name);
  builder.refuse_nul();
  Value::sax_parse(builder.begin(), builder.end(), &builder);
  return builder.take();
}

}  // namespace

Json parse_json(std::string_view text, std::string_view name) {
  return parse<Json>(text, name);
}

OrderedJson parse_ordered_json(std::string_view text, std::string_view name) {
  return parse<OrderedJson>(text, name);
}

std::string detail::json_kind(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::object: return "an object";
    case Json::value_t::array: return "a list";
    case Json::value_t::string: return "a string";
    default: break;
  }
  return (value.is_number() ? "the number " : "") + value.dump();
}

const Json* detail::json_find(const Json& object, const std::string& key, std::string_view context) {
  HEED_CHECK_AS(bad_format, object.is_object(), context, ": is ", json_kind(object), ", expected an object with ", key);
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::int64_t detail::json_signed(const Json& value, std::int64_t low, std::int64_t high, std::string_view field,
                                 std::string_view context) {
  const bool unsigned_fits = value.is_number_unsigned() && std::cmp_less_equal(value.get<std::uint64_t>(), high);
  const bool fits = value.is_number_unsigned() ? unsigned_fits
                                               : value.is_number_integer() && value.get<std::int64_t>() >= low &&
                                                     value.get<std::int64_t>() <= high;
  using Limits = std::numeric_limits<std::int64_t>;  // of which nobody wants to read
  HEED_CHECK_AS(bad_format, fits || low > Limits::min() || high < Limits::max(), context, ": ", field, " is ",
                json_kind(value), ", expected an integer");
  HEED_CHECK_AS(bad_format, fits, context, ": ", field, " is ", json_kind(value), ", expected an integer from ", low,
                " to ", high);
  return value.get<std::int64_t>();
}

std::uint64_t detail::json_unsigned(const Json& value, std::uint64_t high, std::string_view field,
                                    std::string_view context) {
  const bool fits = value.is_number_integer() && (value.is_number_unsigned() || value.get<std::int64_t>() >= 0) &&
                    value.get<std::uint64_t>() <= high;
  HEED_CHECK_AS(bad_format, fits, context, ": ", field, " is ", json_kind(value), ", expected an integer from 0 to ",
                high);
  return value.get<std::uint64_t>();
}

}  // namespace heed
