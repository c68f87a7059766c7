// One schema for what two schemas allow together: allOf, and keywords beside $ref, anyOf or oneOf.
#pragma once

#include <string>
#include <string_view>

#include "heed/base/json.h"

namespace heed::constrain {

class SchemaMerge {
 public:
  // `root` is the document that $ref points into.
  explicit SchemaMerge(const OrderedJson& root) : root_(root) {}

  // The schema without $ref and allOf at its top: what they stand for is merged in. Throws bad_format, starting with
  // `path`, for $ref that lead nowhere or in circles and for keywords that cannot be merged.
  OrderedJson flatten(const OrderedJson& schema, const std::string& path, int depth = 0) const;
  OrderedJson merge(const OrderedJson& a, const OrderedJson& b, const std::string& path, int depth = 0) const;
  // What "#/..." points to.
  const OrderedJson& resolve(const std::string& reference, const std::string& path) const;

 private:
  OrderedJson merge_objects(const OrderedJson& a, const OrderedJson& b, const std::string& path) const;
  void merge_properties(const OrderedJson& a, const OrderedJson& b, OrderedJson& result) const;

  const OrderedJson& root_;
};

// Title, description and other keywords that allow and forbid nothing.
bool is_annotation(std::string_view keyword);

}  // namespace heed::constrain
