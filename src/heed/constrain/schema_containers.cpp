// Arrays and objects of JSON Schema.
#include <algorithm>
#include <memory>
#include <unordered_set>

#include "heed/constrain/automaton.h"
#include "heed/constrain/constraint.h"
#include "heed/constrain/regex.h"
#include "heed/constrain/schema_builder.h"

namespace heed::constrain {
namespace {

bool finds(const std::string& pattern, const std::string& text, const std::string& context) {
  Grammar grammar(context, 1000);
  const RuleId rule = grammar.add_rule("pattern", 0);
  const Spelling plain = [&](const CharSet& set) { return grammar.chars(set); };
  grammar.define(rule, add_regex(grammar, pattern, RegexUse::search, plain, context));
  return Constraint(std::make_shared<const Automaton>(compile(grammar))).matches(text);
}

}  // namespace

// "[", the items that have a place of their own, one rule each, then items that are all alike, "]".
ExpressionId SchemaBuilder::build_array(const OrderedJson& schema, const std::string& path) {
  const OrderedJson *places = find_in(schema, "prefixItems"), *items = find_in(schema, "items");
  if (places && !places->is_array()) refuse(path, "prefixItems is not a list of schemas");
  if (items && items->is_array()) refuse(path, "items is a list; since draft 2020-12 that is prefixItems");
  const std::uint32_t min = count_of(schema, "minItems", 0, path);
  const std::uint32_t max = count_of(schema, "maxItems", kUnbounded, path);
  if (min > max) refuse(path, "minItems is above maxItems");
  const auto placed = static_cast<std::uint32_t>(places ? places->size() : 0);
  const bool more = items ? *items != false : placed == 0;
  if (!more && min > placed) refuse(path, "minItems is above the number of prefixItems, and items allows no more");
  const ExpressionId close = grammar_.literal("]");
  const auto item = [&] { return items ? call(*items, path + "/items") : json_.any_value(); };

  ExpressionId rest = close;  // what follows all placed items
  if (more && max > placed) {
    const std::uint32_t low = std::max(min, placed) - placed, high = max == kUnbounded ? max : max - placed;
    if (placed > 0) {
      rest = grammar_.sequence({grammar_.repeat(grammar_.sequence({json_.comma(), item()}), low, high), close});
    } else {
      const ExpressionId others = grammar_.repeat(grammar_.sequence({json_.comma(), item()}), low - (low > 0),
                                                  high == kUnbounded ? high : high - 1);
      rest = grammar_.sequence({item(), others, close});
      if (low == 0) rest = grammar_.choice({rest, close});
    }
  }
  for (std::uint32_t i = placed; i-- > 0;) {
    const RuleId rule = grammar_.add_rule(path, 1);
    grammar_.define(rule, rest);
    std::vector<ExpressionId> ways;
    if (min <= i) ways.push_back(close);
    if (i < max) {
      const ExpressionId value = call((*places)[i], path + "/prefixItems/" + std::to_string(i));
      const ExpressionId before = i > 0 ? json_.comma() : grammar_.empty();
      ways.push_back(grammar_.sequence({before, value, grammar_.rule(rule)}));
    }
    rest = grammar_.choice(ways);
  }
  return grammar_.sequence({grammar_.literal("["), rest});
}

ExpressionId SchemaBuilder::build_object(const OrderedJson& schema, const std::string& path) {
  const OrderedJson *properties = find_in(schema, "properties"), *additional = find_in(schema, "additionalProperties"),
                    *patterns = find_in(schema, "patternProperties"), *required = find_in(schema, "required");
  if (!properties && !patterns && !additional && !required) return json_.any_object();
  if (properties && !properties->is_object()) refuse(path, "properties is not an object");
  std::unordered_set<std::string> needed;
  std::vector<std::string> in_order;
  const OrderedJson required_names = required ? *required : OrderedJson::array();
  for (const OrderedJson& name : required_names) {
    if (!name.is_string()) refuse(path, "required is not a list of names");
    if (needed.insert(name.get<std::string>()).second) in_order.push_back(name.get<std::string>());
  }
  std::vector<Property> list;
  std::vector<std::string> names;
  const OrderedJson named = properties ? *properties : OrderedJson::object();
  for (const auto& [name, value] : named.items()) {
    list.push_back({name, value, needed.erase(name) > 0});
    names.push_back(name);
  }
  for (const std::string& name : in_order) {
    if (!needed.contains(name)) continue;
    if (additional && *additional == false) refuse(path, "required names " + name + ", which properties do not allow");
    list.push_back({name, additional ? *additional : OrderedJson(true), true});
    names.push_back(name);
  }
  return members(list, other_members(patterns, additional, names, path), path);
}

std::optional<ExpressionId> SchemaBuilder::other_members(const OrderedJson* patterns, const OrderedJson* additional,
                                                         const std::vector<std::string>& names,
                                                         const std::string& path) {
  if (patterns) {
    if (!patterns->is_object() || patterns->size() != 1) refuse(path, "patternProperties with other than one pattern");
    if (additional && *additional != false) refuse(path, "patternProperties together with additionalProperties");
    const std::string pattern = patterns->begin().key();
    const OrderedJson& schema = patterns->front();
    const std::string context = "JSON schema: " + path + ": patternProperties";
    for (const std::string& name : names) {
      if (finds(pattern, name, context)) refuse(path, "the property " + name + " matches patternProperties too");
    }
    const Spelling spelling = [&](const CharSet& set) { return json_.chars(set); };
    const ExpressionId key = json_.quoted(add_regex(grammar_, pattern, RegexUse::search, spelling, context));
    return grammar_.sequence({key, json_.colon(), call(schema, path + "/patternProperties")});
  }
  if (!additional || *additional == false) return std::nullopt;
  const ExpressionId key = names.empty() ? json_.any_string() : json_.string_except(names);
  return grammar_.sequence({key, json_.colon(), call(*additional, path + "/additionalProperties")});
}

// Two rules for each place: `at` begins with the member of that place or a later one, `after` comes after a member and
// before that place.
ExpressionId SchemaBuilder::members(const std::vector<Property>& list, const std::optional<ExpressionId>& other,
                                    const std::string& path) {
  const std::size_t count = list.size();
  std::vector<RuleId> at, after;
  for (std::size_t i = 0; i <= count; ++i) {
    at.push_back(grammar_.add_rule(path, 1));
    after.push_back(grammar_.add_rule(path, 1));
  }
  bool may_end = true;  // nothing from here on is required
  for (std::size_t i = count + 1; i-- > 0;) {
    std::vector<ExpressionId> ways;
    if (i < count) {
      const Property& property = list[i];
      may_end &= !property.required;
      ways.push_back(grammar_.sequence({grammar_.literal(OrderedJson(property.name).dump()), json_.colon(),
                                        call(property.schema, path + "/properties/" + property.name),
                                        grammar_.rule(after[i + 1])}));
      if (!property.required) ways.push_back(grammar_.rule(at[i + 1]));
    } else if (other) {
      ways.push_back(grammar_.sequence({*other, grammar_.rule(after[count])}));
    }
    grammar_.define(at[i], grammar_.choice(ways));
    ways.assign(1, grammar_.sequence({json_.comma(), grammar_.rule(at[i])}));
    if (may_end) ways.push_back(grammar_.literal("}"));
    grammar_.define(after[i], grammar_.choice(ways));
  }
  std::vector<ExpressionId> ways{grammar_.rule(at[0])};
  if (may_end) ways.push_back(grammar_.literal("}"));
  return grammar_.sequence({grammar_.literal("{"), grammar_.choice(ways)});
}

}  // namespace heed::constrain
