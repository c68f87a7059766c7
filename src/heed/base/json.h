// JSON from files: parsing that refuses what is doubtful, and typed fields whose errors say where and what.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"

namespace heed {

using Json = nlohmann::json;
// Objects keep the order of their keys, for what is written out again key by key.
using OrderedJson = nlohmann::ordered_json;

// The text as one JSON value. Throws bad_format with `name` (the file), line and column for whatever is not JSON in
// UTF-8, for a key that an object has twice, and for nesting deeper than kJsonDepth.
inline constexpr int kJsonDepth = 200;
Json parse_json(std::string_view text, std::string_view name);
OrderedJson parse_ordered_json(std::string_view text, std::string_view name);

// The value as T: bool, an integer type (no fractions, must fit), float or double (any number), std::string, Json,
// or std::vector of one of them. Throws bad_format: "<context>: <field> is a string, expected an integer".
template <class T>
T json_as(const Json& value, std::string_view field, std::string_view context);

// object[key] as T; throws bad_format when it is absent, or `object` is not an object.
template <class T>
T json_required(const Json& object, const std::string& key, std::string_view context);

// The same, or `fallback` when the key is absent or null (which HuggingFace writes for "not set").
template <class T>
T json_optional(const Json& object, const std::string& key, T fallback, std::string_view context);

namespace detail {

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

// "a string", "an object", "the number 1.5" ...
std::string json_kind(const Json& value);
// object.find(key), null when absent; throws when `object` is none.
const Json* json_find(const Json& object, const std::string& key, std::string_view context);
// The value when it is an integer that fits, else throws.
std::int64_t json_signed(const Json& value, std::int64_t low, std::int64_t high, std::string_view field,
                         std::string_view context);
std::uint64_t json_unsigned(const Json& value, std::uint64_t high, std::string_view field, std::string_view context);

}  // namespace detail

template <class T>
T json_as(const Json& value, std::string_view field, std::string_view context) {
  const auto expect = [&](bool right, std::string_view expected) {
    HEED_CHECK_AS(bad_format, right, context, ": ", field, " is ", detail::json_kind(value), ", expected ", expected);
  };
  if constexpr (std::same_as<T, Json>) {
    return value;
  } else if constexpr (std::same_as<T, bool>) {
    expect(value.is_boolean(), "true or false");
    return value.get<bool>();
  } else if constexpr (std::signed_integral<T>) {
    using Limits = std::numeric_limits<T>;
    return static_cast<T>(detail::json_signed(value, Limits::min(), Limits::max(), field, context));
  } else if constexpr (std::unsigned_integral<T>) {
    return static_cast<T>(detail::json_unsigned(value, std::numeric_limits<T>::max(), field, context));
  } else if constexpr (std::floating_point<T>) {
    expect(value.is_number(), "a number");
    return value.get<T>();
  } else if constexpr (std::same_as<T, std::string>) {
    expect(value.is_string(), "a string");
    return value.get<std::string>();
  } else {
    static_assert(detail::is_vector<T>, "json_as has no rule for this type");
    expect(value.is_array(), "a list");
    T items;
    items.reserve(value.size());
    for (const Json& item : value) {
      items.push_back(json_as<typename T::value_type>(
          item, std::string(field) + "[" + std::to_string(items.size()) + "]", context));
    }
    return items;
  }
}

template <class T>
T json_required(const Json& object, const std::string& key, std::string_view context) {
  const Json* value = detail::json_find(object, key, context);
  HEED_CHECK_AS(bad_format, value, context, ": ", key, " is missing");
  return json_as<T>(*value, key, context);
}

template <class T>
T json_optional(const Json& object, const std::string& key, T fallback, std::string_view context) {
  const Json* value = detail::json_find(object, key, context);
  return value && !value->is_null() ? json_as<T>(*value, key, context) : fallback;
}

}  // namespace heed
