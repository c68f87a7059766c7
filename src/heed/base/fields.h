// Named values of a struct, listed once: reading them from JSON, writing, checking, command-line flags and help all
// walk the same list.
//   Fields AnswerOptions::fields() { return {Field("top_k", top_k, "how many answers").at_least(1), ...}; }
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heed/base/json.h"

namespace heed {

class Field {
 public:
  using Value = std::variant<bool*, std::optional<bool>*, std::int64_t*, std::optional<std::int64_t>*, double*,
                             std::optional<double>*, std::string*, std::optional<std::string>*,
                             std::vector<std::int64_t>*, std::vector<std::string>*, Json*, std::vector<Json>*>;

  // The value must outlive the field.
  template <class T>
  Field(std::string field_name, T& place, std::string what) : name(std::move(field_name)), help(std::move(what)) {
    value = &place;
  }

  // What the value must be; the text says so in errors. A value that is not set is at least anything.
  Field&& where(std::function<bool()> holds, std::string expected) &&;
  Field&& at_least(double low) &&;
  Field&& one_of(std::initializer_list<std::string_view> words) &&;
  // Which users of the list it is for: bits that the owner of the list defines. Default: all.
  Field&& only_for(unsigned users) && {
    uses = users;
    return std::move(*this);
  }

  // A shorter flag of the command line for the same.
  Field&& also(std::string flag) && {
    short_flag = std::move(flag);
    return std::move(*this);
  }

  // On the command line @ and a file's name may stand for what is in the file.
  Field&& or_file() && {
    may_be_file = true;
    return std::move(*this);
  }

  // One item may stand for a list of one, and an empty text for an empty list. Throws bad_format with `context`.
  void set(const Json& json, const std::string& context) const;
  Json json() const;
  // What JSON it takes, as JSON Schema says it, with the value as the default.
  Json schema() const;
  void check(const std::string& context) const;
  bool is_flag() const {
    return std::holds_alternative<bool*>(value) || std::holds_alternative<std::optional<bool>*>(value);
  }

  std::string name, help, short_flag{};
  Value value;
  std::vector<std::string> words{};  // of which the value is one; empty: any
  unsigned uses = ~0U;
  bool may_be_file = false;

 private:
  std::function<bool()> holds_;
  std::string expected_;
};

using Fields = std::vector<Field>;

// Sets the field of that name; throws bad_format with the nearest name if there is none.
void set_field(const Fields& fields, const std::string& name, const Json& json, const std::string& context);
// Sets what the object has, and checks all fields. Unknown names are refused.
void set_fields(const Fields& fields, const Json& object, const std::string& context);
Json to_json(const Fields& fields);

// The known name that takes the fewest insertions, deletions and replacements of letters, or begins with this one; ""
// if none is near: within half of the letters, and four.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

}  // namespace heed
