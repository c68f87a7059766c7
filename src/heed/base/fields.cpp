#include "heed/base/fields.h"
#include "heed/base/did_you_mean.h"
#include "heed/base/join.h"

#include <algorithm>
#include <numeric>

namespace heed {
namespace {

template <class T>
void assign(T& place, const Json& json, const std::string& name, const std::string& context) {
  if constexpr (detail::is_vector<T>) {
    if (json.is_string() && json.get_ref<const std::string&>().empty()) {
      place.clear();
    } else if (!json.is_array()) {
      place = {json_as<typename T::value_type>(json, name, context)};
    } else {
      place = json_as<T>(json, name, context);
    }
  } else {
    place = json_as<T>(json, name, context);
  }
}

template <class T>
void assign(std::optional<T>& place, const Json& json, const std::string& name, const std::string& context) {
  place = json.is_null() ? std::nullopt : std::optional(json_as<T>(json, name, context));
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

// Of a value that takes any JSON, by its default: a word or a switch may be more than that.
Json open_schema(const Json& fallback) {
  if (fallback.is_string()) return {{"type", {"string", "object"}}};
  if (fallback.is_boolean()) return {{"type", {"boolean", "string"}}};
  return {{"type", fallback.is_array() ? "array" : "object"}};
}

std::string listed(std::vector<std::string> words) {
  std::erase(words, "");
  return join(words, ", ");
}

}  // namespace

Field&& Field::where(std::function<bool()> holds, std::string expected) && {
  holds_ = std::move(holds);
  expected_ = std::move(expected);
  return std::move(*this);
}

Field&& Field::at_least(double low) && {
  const auto at_least_low = [place = value, low] {
    if (const auto* whole = std::get_if<std::int64_t*>(&place)) return static_cast<double>(**whole) >= low;
    if (const auto* whole = std::get_if<std::optional<std::int64_t>*>(&place)) {
      return !**whole || static_cast<double>(***whole) >= low;
    }
    if (const auto* number = std::get_if<std::optional<double>*>(&place)) return !**number || ***number >= low;
    return *std::get<double*>(place) >= low;
  };
  return std::move(*this).where(at_least_low, low == 0 ? "0 or more" : "at least " + Json(low).dump());
}

Field&& Field::one_of(std::initializer_list<std::string_view> list) && {
  words.assign(list.begin(), list.end());
  const auto known = [place = std::get<std::string*>(value), choices = words] {
    return std::ranges::find(choices, *place) != choices.end();
  };
  return std::move(*this).where(known, listed(words));
}

void Field::set(const Json& json, const std::string& context) const {
  std::visit([&](auto* place) { assign(*place, json, name, context); }, value);
}

Json Field::json() const {
  return std::visit(
      [](auto* place) -> Json {
        using T = std::remove_pointer_t<decltype(place)>;
        if constexpr (is_optional<T>) {
          return *place ? Json(**place) : Json();
        } else {
          return *place;
        }
      },
      value);
}

Json Field::schema() const {
  const auto list_of = [](const Json& item) -> Json {
    return {{"anyOf", {item, {{"type", "array"}, {"items", item}}}}};
  };
  Json schema = std::visit(
      [&](auto* place) -> Json {
        using T = std::remove_pointer_t<decltype(place)>;
        if constexpr (std::same_as<T, bool>) return {{"type", "boolean"}};
        if constexpr (std::same_as<T, std::optional<bool>>) return {{"type", {"boolean", "null"}}};
        if constexpr (std::same_as<T, std::int64_t>) return {{"type", "integer"}};
        if constexpr (std::same_as<T, std::optional<std::int64_t>>) return {{"type", {"integer", "null"}}};
        if constexpr (std::same_as<T, double>) return {{"type", "number"}};
        if constexpr (std::same_as<T, std::optional<double>>) return {{"type", {"number", "null"}}};
        if constexpr (std::same_as<T, std::string>) return {{"type", "string"}};
        if constexpr (std::same_as<T, std::optional<std::string>>) return {{"type", {"string", "null"}}};
        if constexpr (std::same_as<T, std::vector<std::int64_t>>) return list_of({{"type", "integer"}});
        if constexpr (std::same_as<T, std::vector<std::string>>) return list_of({{"type", "string"}});
        if constexpr (std::same_as<T, std::vector<Json>>) return list_of({{"type", "object"}});
        if constexpr (std::same_as<T, Json>) return open_schema(*place);
      },
      value);
  if (!words.empty()) schema["enum"] = words;
  schema["default"] = json();
  schema["description"] = help;
  return schema;
}

void Field::check(const std::string& context) const {
  HEED_CHECK_AS(bad_format, !holds_ || holds_(), context, ": ", name, " is ", json().dump(), ", expected ", expected_);
}

void set_field(const Fields& fields, const std::string& name, const Json& json, const std::string& context) {
  const auto found = std::ranges::find(fields, name, &Field::name);
  if (found != fields.end()) return found->set(json, context);
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  fail(ErrorKind::bad_format, context, ": there is no field ", name, did_you_mean(name, names));
}

void set_fields(const Fields& fields, const Json& object, const std::string& context) {
  HEED_CHECK_AS(bad_format, object.is_object(), context, ": is ", detail::json_kind(object), ", expected an object");
  for (const auto& [name, json] : object.items()) set_field(fields, name, json, context);
  for (const Field& field : fields) field.check(context);
}

Json to_json(const Fields& fields) {
  Json object = Json::object();
  for (const Field& field : fields) object[field.name] = field.json();
  return object;
}

std::string nearest_name(std::string_view name, std::span<const std::string> known) {
  const auto distance = [&](std::string_view other) {
    std::vector<std::size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < other.size(); ++j) {
        const std::size_t replaced = diagonal + (name[i] != other[j]);
        diagonal = row[j + 1];
        row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
      }
    }
    // Who writes acc means accuracy, however many letters are missing.
    return name.size() > 1 && other.starts_with(name) ? std::min(row.back(), std::size_t{1}) : row.back();
  };
  // A name without its group counts as well: learning_rate is optimizer.learning_rate.
  const auto cost = [&](const std::string& each) {
    const std::size_t dot = each.rfind('.');
    const std::size_t whole = distance(each);
    return dot == std::string::npos ? whole : std::min(whole, distance(std::string_view(each).substr(dot + 1)) + 1);
  };
  const std::size_t most = std::min(name.size() / 2, std::size_t{4});  // beyond that nothing was meant
  const auto best = std::ranges::min_element(known, {}, cost);
  return best == known.end() || cost(*best) > most ? "" : *best;
}

}  // namespace heed
