#include <algorithm>
#include <array>
#include <memory>

#include "heed/constrain/automaton.h"
#include "heed/constrain/constraint.h"
#include "heed/constrain/number_range.h"
#include "heed/constrain/regex.h"
#include "heed/constrain/schema_builder.h"
#include "heed/constrain/schema_formats.h"

namespace heed::constrain {
namespace {

constexpr std::size_t kMaxSchemas = 20000;
constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;  // of all schemas, each with those inside it
constexpr std::uint32_t kMaxCount = 1000000;

// The keywords that are understood, with the type that they speak of ("": any).
struct Keyword {
  std::string_view name, type;
};
constexpr std::array kKeywords = {
    Keyword{"type", ""},
    Keyword{"enum", ""},
    Keyword{"const", ""},
    Keyword{"anyOf", ""},
    Keyword{"oneOf", ""},
    Keyword{"allOf", ""},
    Keyword{"$ref", ""},
    Keyword{"properties", "object"},
    Keyword{"required", "object"},
    Keyword{"additionalProperties", "object"},
    Keyword{"patternProperties", "object"},
    Keyword{"items", "array"},
    Keyword{"prefixItems", "array"},
    Keyword{"minItems", "array"},
    Keyword{"maxItems", "array"},
    Keyword{"minLength", "string"},
    Keyword{"maxLength", "string"},
    Keyword{"pattern", "string"},
    Keyword{"format", "string"},
    Keyword{"minimum", "number"},
    Keyword{"maximum", "number"},
    Keyword{"exclusiveMinimum", "number"},
    Keyword{"exclusiveMaximum", "number"},
};
constexpr std::array<std::string_view, 7> kTypes = {"null",   "boolean", "integer", "number",
                                                    "string", "array",   "object"};

const Keyword* find_keyword(std::string_view name) {
  const auto found = std::find_if(kKeywords.begin(), kKeywords.end(), [&](const Keyword& k) { return k.name == name; });
  return found == kKeywords.end() ? nullptr : &*found;
}

bool has_type(const OrderedJson& value, std::string_view type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  return type == "array" ? value.is_array() : value.is_object();
}

// Copying, comparing and writing a value go as deep in calls as it is.
void check_depth(const OrderedJson& schema) {
  std::vector<std::pair<const OrderedJson*, int>> work{{&schema, 1}};
  while (!work.empty()) {
    const auto [value, depth] = work.back();
    work.pop_back();
    HEED_CHECK_AS(bad_format, depth <= kJsonDepth + 1, "JSON schema: nested deeper than ", kJsonDepth, " levels");
    for (const OrderedJson& part : *value) {
      if (value->is_structured()) work.emplace_back(&part, depth + 1);
    }
  }
}

}  // namespace

Grammar SchemaBuilder::run() {
  grammar_.set_root(rule_of(root_, "#"));
  // Schemas inside others are noted and wait here, so that depth costs no stack.
  for (; !pending_.empty(); pending_.pop_front()) {
    const Pending next = pending_.front();
    grammar_.define(next.rule, build(next.schema, next.path));
  }
  return std::move(grammar_);
}

void SchemaBuilder::refuse(const std::string& path, const std::string& why) {
  fail(ErrorKind::bad_format, "JSON schema: ", path, ": ", why);
}

RuleId SchemaBuilder::rule_of(const OrderedJson& schema, const std::string& path) {
  std::string text = schema.dump();
  if (const auto known = rules_.find(text); known != rules_.end()) return known->second;
  if (rules_.size() >= kMaxSchemas) refuse(path, "more than " + std::to_string(kMaxSchemas) + " different schemas");
  text_bytes_ += text.size();
  if (text_bytes_ > kMaxTextBytes) refuse(path, "too large");
  const RuleId rule = grammar_.add_rule(path, 1);
  rules_.emplace(std::move(text), rule);
  pending_.push_back({rule, schema, path});
  return rule;
}
ExpressionId SchemaBuilder::build(const OrderedJson& schema, const std::string& path) {
  if (schema.is_boolean()) return schema.get<bool>() ? json_.any_value() : grammar_.choice({});
  if (!schema.is_object()) refuse(path, "a schema is an object or a boolean, found " + std::string(schema.type_name()));
  OrderedJson assertions = OrderedJson::object();
  for (const auto& [key, value] : schema.items()) {
    if (is_annotation(key) || (key == "uniqueItems" && value == false)) continue;
    if (!find_keyword(key)) refuse(path, "the keyword " + key + " is not supported");
    assertions[key] = value;
  }
  if (const OrderedJson* reference = find_in(assertions, "$ref"); reference && assertions.size() == 1) {
    if (!reference->is_string()) refuse(path, "$ref is not a string");
    const auto target = reference->get<std::string>();
    return call(merge_.resolve(target, "JSON schema: " + path), target);
  }
  if (assertions.contains("$ref") || assertions.contains("allOf")) {
    return call(merge_.flatten(assertions, "JSON schema: " + path), path);
  }
  for (const char* key : {"anyOf", "oneOf"}) {
    if (assertions.contains(key)) return build_choice(assertions, key, path);
  }
  if (assertions.contains("enum") || assertions.contains("const")) return build_values(assertions, path);
  return build_types(assertions, path);
}

ExpressionId SchemaBuilder::build_choice(OrderedJson schema, const std::string& key, const std::string& path) {
  const OrderedJson ways = schema[key];
  schema.erase(key);
  if (!ways.is_array() || ways.empty()) refuse(path, key + " is not a list of schemas");
  std::vector<ExpressionId> parts;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const std::string place = path + "/" + key + "/" + std::to_string(i);
    parts.push_back(call(schema.empty() ? ways[i] : merge_.merge(schema, ways[i], "JSON schema: " + place), place));
  }
  return grammar_.choice(parts);
}

ExpressionId SchemaBuilder::build_values(const OrderedJson& schema, const std::string& path) {
  for (const auto& [key, value] : schema.items()) {
    if (key != "enum" && key != "const" && key != "type") refuse(path, "enum or const together with " + key);
  }
  const OrderedJson *list = find_in(schema, "enum"), *only = find_in(schema, "const");
  if (list && !list->is_array()) refuse(path, "enum is not a list");
  const OrderedJson values = list ? *list : OrderedJson::array({*only});
  const std::vector<std::string> types = types_of(schema, path);
  std::vector<ExpressionId> ways;
  for (const OrderedJson& value : values) {
    const bool typed =
        !schema.contains("type") ||
        std::any_of(types.begin(), types.end(), [&](const std::string& type) { return has_type(value, type); });
    if (typed && (!only || *only == value)) ways.push_back(json_.value(value));
  }
  if (ways.empty()) refuse(path, "enum and const leave no value");
  return grammar_.choice(ways);
}

std::vector<std::string> SchemaBuilder::types_of(const OrderedJson& schema, const std::string& path) {
  std::vector<std::string> types;
  if (const OrderedJson* listed = find_in(schema, "type")) {
    const OrderedJson list = listed->is_array() ? *listed : OrderedJson::array({*listed});
    for (const OrderedJson& type : list) {
      const auto* text = type.get_ptr<const std::string*>();
      if (!text || std::find(kTypes.begin(), kTypes.end(), *text) == kTypes.end()) {
        refuse(path, "unknown type " + type.dump());
      }
      types.push_back(*text);
    }
    return types;
  }
  for (const auto& [key, value] : schema.items()) {
    const Keyword* keyword = find_keyword(key);
    if (!keyword || keyword->type.empty()) continue;
    if (std::find(types.begin(), types.end(), keyword->type) == types.end()) types.emplace_back(keyword->type);
  }
  if (types.empty()) types = {"null", "boolean", "number", "string", "array", "object"};
  return types;
}

ExpressionId SchemaBuilder::build_types(const OrderedJson& schema, const std::string& path) {
  if (schema.empty()) return json_.any_value();
  std::vector<ExpressionId> ways;
  for (const std::string& type : types_of(schema, path)) {
    if (type == "null") ways.push_back(grammar_.literal("null"));
    if (type == "boolean") ways.push_back(grammar_.choice({grammar_.literal("true"), grammar_.literal("false")}));
    if (type == "integer" || type == "number") ways.push_back(build_number(schema, type == "integer", path));
    if (type == "string") ways.push_back(build_string(schema, path));
    if (type == "array") ways.push_back(build_array(schema, path));
    if (type == "object") ways.push_back(build_object(schema, path));
  }
  return grammar_.choice(ways);
}

ExpressionId SchemaBuilder::build_number(const OrderedJson& schema, bool integers, const std::string& path) {
  std::optional<NumberBound> low, high;
  bool bounded = false;
  const auto bound = [&](const char* key, bool is_low, bool strict) {
    const OrderedJson* value = find_in(schema, key);
    if (!value) return;
    bounded = true;
    auto& place = is_low ? low : high;
    if (place) refuse(path, "both a bound and an exclusive bound on one side");
    place = number_bound(*value, is_low, strict, "JSON schema: " + path + ": " + key);
  };
  bound("minimum", true, false);
  bound("exclusiveMinimum", true, true);
  bound("maximum", false, false);
  bound("exclusiveMaximum", false, true);
  return integers || bounded ? add_number_range(grammar_, low, high, integers) : json_.any_number();
}

std::uint32_t SchemaBuilder::count_of(const OrderedJson& schema, const char* key, std::uint32_t fallback,
                                      const std::string& path) {
  const OrderedJson* value = find_in(schema, key);
  if (!value) return fallback;
  const bool good = value->is_number_unsigned() && value->get<std::uint64_t>() <= kMaxCount;
  if (!good)
    refuse(path, key + (" is " + value->dump()) + ", expected an integer from 0 to " + std::to_string(kMaxCount));
  return value->get<std::uint32_t>();
}

ExpressionId SchemaBuilder::build_string(const OrderedJson& schema, const std::string& path) {
  const OrderedJson *pattern = find_in(schema, "pattern"), *format = find_in(schema, "format");
  const bool sized = schema.contains("minLength") || schema.contains("maxLength");
  if ((pattern != nullptr) + (format != nullptr) + sized > 1) {
    refuse(path, "pattern, format and minLength or maxLength are supported one at a time");
  }
  const Spelling spelling = [&](const CharSet& set) { return json_.chars(set); };
  if (pattern) {
    if (!pattern->is_string()) refuse(path, "pattern is not a string");
    const std::string context = "JSON schema: " + path + ": pattern";
    return json_.quoted(add_regex(grammar_, pattern->get<std::string>(), RegexUse::search, spelling, context));
  }
  if (format) {
    for (const SchemaFormat& known : kSchemaFormats) {
      if (*format != known.name) continue;
      return json_.quoted(add_regex(grammar_, known.pattern, RegexUse::whole, spelling, std::string(known.name)));
    }
    refuse(path, "the format " + format->dump() + " is not supported");
  }
  if (!sized) return json_.any_string();
  const std::uint32_t min = count_of(schema, "minLength", 0, path);
  const std::uint32_t max = count_of(schema, "maxLength", kUnbounded, path);
  if (min > max) refuse(path, "minLength is above maxLength");
  return json_.quoted(grammar_.repeat(json_.chars(CharSet::all()), min, max));
}

Constraint json_schema_constraint(const OrderedJson& schema) {
  check_depth(schema);
  return Constraint(std::make_shared<const Automaton>(compile(SchemaBuilder(schema).run())));
}

Constraint json_schema_constraint(std::string_view schema_text) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
  HEED_CHECK_AS(bad_format, schema_text.size() <= kMaxBytes, "JSON schema: ", schema_text.size(), " bytes, more than ",
                kMaxBytes);
  return json_schema_constraint(parse_ordered_json(schema_text, "JSON schema"));
}

}  // namespace heed::constrain
