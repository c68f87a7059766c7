// Turns a JSON Schema into a grammar: a rule for every schema, found from the outside inwards.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/constrain/json_text.h"
#include "heed/constrain/schema_merge.h"

namespace heed::constrain {

// The value of a keyword, null when the schema has it not.
inline const OrderedJson* find_in(const OrderedJson& schema, const char* keyword) {
  const auto found = schema.find(keyword);
  return found == schema.end() ? nullptr : &*found;
}

class SchemaBuilder {
 public:
  explicit SchemaBuilder(const OrderedJson& root)
      : root_(root), merge_(root), grammar_("JSON schema", JsonText::kMaxNesting), json_(grammar_) {}
  Grammar run();

 private:
  struct Pending {
    RuleId rule;
    OrderedJson schema;
    std::string path;
  };
  struct Property {
    std::string name;
    OrderedJson schema;
    bool required;
  };

  [[noreturn]] static void refuse(const std::string& path, const std::string& why);
  // Equal schemas have one rule, which is what ends recursion.
  RuleId rule_of(const OrderedJson& schema, const std::string& path);
  ExpressionId call(const OrderedJson& schema, const std::string& path) { return grammar_.rule(rule_of(schema, path)); }

  ExpressionId build(const OrderedJson& schema, const std::string& path);
  ExpressionId build_choice(OrderedJson schema, const std::string& key, const std::string& path);
  ExpressionId build_values(const OrderedJson& schema, const std::string& path);
  ExpressionId build_types(const OrderedJson& schema, const std::string& path);
  ExpressionId build_number(const OrderedJson& schema, bool integers, const std::string& path);
  ExpressionId build_string(const OrderedJson& schema, const std::string& path);
  ExpressionId build_array(const OrderedJson& schema, const std::string& path);
  ExpressionId build_object(const OrderedJson& schema, const std::string& path);

  // As listed; without a list, the types that the keywords speak of, or else all.
  static std::vector<std::string> types_of(const OrderedJson& schema, const std::string& path);
  static std::uint32_t count_of(const OrderedJson& schema, const char* key, std::uint32_t fallback,
                                const std::string& path);
  // The members of an object, up to its }: in the order of the list, those that are not required left out or not, then
  // others.
  ExpressionId members(const std::vector<Property>& list, const std::optional<ExpressionId>& other,
                       const std::string& path);
  // One member beyond those with names: nothing when there may be none.
  std::optional<ExpressionId> other_members(const OrderedJson* patterns, const OrderedJson* additional,
                                            const std::vector<std::string>& names, const std::string& path);

  const OrderedJson& root_;
  SchemaMerge merge_;
  Grammar grammar_;
  JsonText json_;
  std::unordered_map<std::string, RuleId> rules_;  // by the text of the schema
  std::size_t text_bytes_ = 0;
  std::deque<Pending> pending_;
};

}  // namespace heed::constrain
