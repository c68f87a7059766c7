#include "heed/constrain/schema_merge.h"

#include <algorithm>
#include <array>

namespace heed::constrain {
namespace {

constexpr int kMaxDepth = 64;

OrderedJson all_of(const OrderedJson& a, const OrderedJson& b) {
  if (a == b || b == true) return a;
  if (a == true) return b;
  return {{"allOf", OrderedJson::array({a, b})}};
}

const OrderedJson* find(const OrderedJson& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

OrderedJson as_list(const OrderedJson& value) {
  return value.is_array() ? value : OrderedJson::array({value});
}

// What both lists have. A number is an integer too.
OrderedJson common_types(const OrderedJson& a, const OrderedJson& b) {
  OrderedJson result = OrderedJson::array();
  const OrderedJson left = as_list(a), right = as_list(b);
  const auto has = [](const OrderedJson& list, const OrderedJson& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  for (const OrderedJson& type : left) {
    if (has(right, type) || (type == "integer" && has(right, "number"))) result.push_back(type);
  }
  for (const OrderedJson& type : right) {
    if (type == "integer" && has(left, "number") && !has(result, type)) result.push_back(type);
  }
  return result;
}

}  // namespace

bool is_annotation(std::string_view keyword) {
  constexpr std::array<std::string_view, 12> kNames = {"title",    "description", "default",    "examples",
                                                       "$schema",  "$id",         "$comment",   "$defs",
                                                       "readOnly", "writeOnly",   "deprecated", "definitions"};
  return std::find(kNames.begin(), kNames.end(), keyword) != kNames.end();
}

const OrderedJson& SchemaMerge::resolve(const std::string& reference, const std::string& path) const {
  HEED_CHECK_AS(bad_format, reference == "#" || reference.starts_with("#/"), path, ": $ref is \"", reference,
                "\", expected a place in this schema, #/...");
  const OrderedJson* at = &root_;
  for (std::size_t begin = 1; begin < reference.size();) {
    const std::size_t end = std::min(reference.find('/', begin + 1), reference.size());
    std::string key;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const bool escaped = reference[i] == '~' && i + 1 < end;
      key += escaped ? (reference[++i] == '0' ? '~' : '/') : reference[i];
    }
    const OrderedJson* next = nullptr;
    if (at->is_object()) next = find(*at, key.c_str());
    if (at->is_array() && !key.empty() && key.size() < 7 && key.find_first_not_of("0123456789") == std::string::npos) {
      const std::size_t index = std::stoul(key);
      if (index < at->size()) next = &(*at)[index];
    }
    HEED_CHECK_AS(bad_format, next, path, ": $ref \"", reference, "\" leads nowhere, there is no ", key);
    at = next;
    begin = end;
  }
  return *at;
}

OrderedJson SchemaMerge::flatten(const OrderedJson& schema, const std::string& path, int depth) const {
  HEED_CHECK_AS(bad_format, depth < kMaxDepth, path, ": $ref and allOf lead in circles, or more than ", kMaxDepth,
                " deep");
  if (!schema.is_object()) return schema;
  const OrderedJson *reference = find(schema, "$ref"), *all = find(schema, "allOf");
  if (!reference && !all) return schema;
  OrderedJson result = schema;
  result.erase("$ref");
  result.erase("allOf");
  if (reference) {
    HEED_CHECK_AS(bad_format, reference->is_string(), path, ": $ref is ", reference->type_name(),
                  ", expected a string");
    result = merge(resolve(reference->get<std::string>(), path), result, path, depth + 1);
  }
  if (all) {
    HEED_CHECK_AS(bad_format, all->is_array() && !all->empty(), path, ": allOf is not a list of schemas");
    for (const OrderedJson& part : *all) result = merge(result, part, path, depth + 1);
  }
  return result;
}

OrderedJson SchemaMerge::merge(const OrderedJson& a, const OrderedJson& b, const std::string& path, int depth) const {
  const OrderedJson left = flatten(a, path, depth + 1), right = flatten(b, path, depth + 1);
  if (left == true || right == false) return right;
  if (right == true || left == false) return left;
  HEED_CHECK_AS(bad_format, left.is_object() && right.is_object(), path,
                ": a schema is neither an object nor a boolean");
  return merge_objects(left, right, path);
}

OrderedJson SchemaMerge::merge_objects(const OrderedJson& a, const OrderedJson& b, const std::string& path) const {
  OrderedJson result = OrderedJson::object();
  // What one side says of all others, the other side divides further.
  for (const auto& [x, y] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const auto divided = [&, x = x, y = y](const char* part, const char* others) {
      HEED_CHECK_AS(bad_format, !x->contains(part) || y->contains(part) || !y->contains(others), path,
                    ": cannot merge ", part, " and ", others);
    };
    divided("prefixItems", "items");
    divided("patternProperties", "additionalProperties");
  }
  const auto both = [&](const std::string& key, const OrderedJson& x, const OrderedJson& y) -> OrderedJson {
    if (x == y) return x;
    if (key == "type") return common_types(x, y);
    if (key == "minimum" || key == "exclusiveMinimum" || key == "minLength" || key == "minItems") return std::max(x, y);
    if (key == "maximum" || key == "exclusiveMaximum" || key == "maxLength" || key == "maxItems") return std::min(x, y);
    if (key == "items") return all_of(x, y);
    if (key == "required" || key == "enum") {
      const bool join = key == "required";
      OrderedJson list = join ? as_list(x) : OrderedJson::array();
      const OrderedJson left = as_list(x);
      for (const OrderedJson& item : as_list(y)) {
        const bool known = std::find(left.begin(), left.end(), item) != left.end();
        if (known != join) list.push_back(item);
      }
      return list;
    }
    if (key == "anyOf" || key == "oneOf") {
      HEED_CHECK_AS(bad_format, x.is_array() && y.is_array() && x.size() * y.size() <= 1000, path,
                    ": cannot merge two ", key);
      OrderedJson pairs = OrderedJson::array();
      for (const OrderedJson& first : x) {
        for (const OrderedJson& second : y) pairs.push_back(all_of(first, second));
      }
      return pairs;
    }
    fail(ErrorKind::bad_format, path, ": cannot merge two different ", key);
  };
  for (const auto& [key, value] : a.items()) {
    if (is_annotation(key) || key == "properties" || key == "additionalProperties") continue;
    const OrderedJson* other = find(b, key.c_str());
    result[key] = other ? both(key, value, *other) : value;
  }
  for (const auto& [key, value] : b.items()) {
    if (is_annotation(key) || key == "properties" || key == "additionalProperties") continue;
    if (!a.contains(key)) result[key] = value;
  }
  merge_properties(a, b, result);
  return result;
}

// A property must fit both sides: there by its name, else by what the side says of additional properties.
void SchemaMerge::merge_properties(const OrderedJson& a, const OrderedJson& b, OrderedJson& result) const {
  const auto schema_in = [](const OrderedJson& side, const std::string& name) -> OrderedJson {
    if (const OrderedJson* properties = find(side, "properties"); properties && properties->is_object()) {
      if (const OrderedJson* schema = find(*properties, name.c_str())) return *schema;
    }
    const OrderedJson* additional = find(side, "additionalProperties");
    return additional ? *additional : OrderedJson(true);
  };
  OrderedJson merged = OrderedJson::object();
  bool any = false;
  for (const OrderedJson* side : {&a, &b}) {
    const OrderedJson* properties = find(*side, "properties");
    if (!properties) continue;
    any = true;
    for (const auto& [name, schema] : properties->items()) {
      if (merged.contains(name)) continue;
      const OrderedJson left = schema_in(a, name), right = schema_in(b, name);
      merged[name] = left == false || right == false ? OrderedJson(false) : all_of(left, right);
    }
  }
  if (any) result["properties"] = merged;
  const OrderedJson *left = find(a, "additionalProperties"), *right = find(b, "additionalProperties");
  if (left && right) {
    result["additionalProperties"] = *left == false || *right == false ? OrderedJson(false) : all_of(*left, *right);
  } else if (left || right) {
    result["additionalProperties"] = left ? *left : *right;
  }
}

}  // namespace heed::constrain
