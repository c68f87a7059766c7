// Structs of options with a member fields() (base/fields.h), for code that knows them by their JSON alone: tables of
// tasks and metrics.
#pragma once

#include <string>
#include <vector>

#include "heed/base/fields.h"

namespace heed {

// An option, for code that makes flags, configs and help of it.
struct OptionInfo {
  std::string name, help;
  Json value;         // by default; null for what is decided later
  bool flag = false;  // true or false
  std::vector<std::string> words{};
  unsigned uses = ~0U;
  Json schema = Json::object();  // Field::schema()
  std::string short_flag{};      // "": none
  bool or_file = false;          // on the command line @ and a file's name stand for what is in it
};

// A struct of options with a member fields(), known by its JSON alone.
struct OptionList {
  std::vector<OptionInfo> (*list)();
  // The given ones over the defaults, checked; errors name prefix + field.
  Json (*complete)(const Json& given, const std::string& where, const std::string& prefix);
};

template <class Options>
Options options_from(const Json& given, const std::string& where = "options", const std::string& prefix = "") {
  Options options;
  Fields fields = options.fields();
  for (const auto& [name, value] : given.items()) set_field(fields, name, value, where);
  for (Field& field : fields) {
    field.name = prefix + field.name;
    field.check(where);
  }
  return options;
}

template <class Options>
OptionList option_list() {
  return {[] {
            std::vector<OptionInfo> list;
            Options options;
            for (const Field& field : options.fields()) {
              list.push_back({field.name, field.help, field.json(), field.is_flag(), field.words, field.uses,
                              field.schema(), field.short_flag, field.may_be_file});
            }
            return list;
          },
          [](const Json& given, const std::string& where, const std::string& prefix) {
            Options options = options_from<Options>(given, where, prefix);
            return to_json(options.fields());
          }};
}

}  // namespace heed
