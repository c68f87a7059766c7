// The fields of one object of tokenizer.json. Whatever is not asked for is refused by name, except fields that mean
// something to a stage of another type: files carry them along, and HuggingFace does not read them there either.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/join.h"
#include "heed/base/json.h"

namespace heed::text {

class Fields {
 public:
  // `context` starts the messages: "tokenizer.json: normalizer".
  Fields(const Json& object, std::string context) : object_(object), context_(std::move(context)) {
    HEED_CHECK_AS(bad_format, object.is_object(), context_, " is ", heed::detail::json_kind(object),
                  ", expected an object");
  }

  template <class T>
  T required(const std::string& key) {
    known_.push_back(key);
    return json_required<T>(object_, key, context_);
  }
  template <class T>
  T optional(const std::string& key, T fallback) {
    known_.push_back(key);
    return json_optional<T>(object_, key, std::move(fallback), context_);
  }
  // The value, null when it is absent or null.
  const Json* find(const std::string& key) {
    known_.push_back(key);
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  const Json& at(const std::string& key) {
    const Json* found = find(key);
    HEED_CHECK_AS(bad_format, found, context_, ": ", key, " is missing");
    return *found;
  }
  // One of the names, as its index.
  std::size_t choice(const std::string& key, std::initializer_list<std::string_view> names) {
    return choice(key, std::span(names.begin(), names.size()));
  }
  std::size_t choice(const std::string& key, std::span<const std::string_view> names) {
    const auto name = required<std::string>(key);
    std::size_t index = 0;
    for (const std::string_view candidate : names) {
      if (candidate == name) return index;
      ++index;
    }
    fail(ErrorKind::bad_format, context_, ": ", key, " is \"", name, "\", expected one of ", join(names, ", "));
  }

  // Throws when the object has a field that was not asked for.
  void done() const {
    for (const auto& item : object_.items()) {
      bool found = std::ranges::find(kFieldsOfStages, item.key()) != kFieldsOfStages.end();
      for (const std::string& key : known_) found |= key == item.key();
      HEED_CHECK_AS(bad_format, found, context_, ": unknown field \"", item.key(), "\"");
    }
  }

  const std::string& context() const { return context_; }

 private:
  static constexpr std::array<std::string_view, 30> kFieldsOfStages = {"add_prefix_space",
                                                                       "behavior",
                                                                       "clean_text",
                                                                       "cleanup",
                                                                       "cls",
                                                                       "content",
                                                                       "delimiter",
                                                                       "handle_chinese_chars",
                                                                       "individual_digits",
                                                                       "invert",
                                                                       "lowercase",
                                                                       "pad_token",
                                                                       "pair",
                                                                       "pattern",
                                                                       "prefix",
                                                                       "prepend",
                                                                       "prepend_scheme",
                                                                       "replacement",
                                                                       "sep",
                                                                       "single",
                                                                       "special_tokens",
                                                                       "split",
                                                                       "str_rep",
                                                                       "strip_accents",
                                                                       "strip_left",
                                                                       "strip_right",
                                                                       "suffix",
                                                                       "trim_offsets",
                                                                       "use_regex",
                                                                       "word_delimiter_token"};

  const Json& object_;
  std::string context_;
  std::vector<std::string> known_;
};

}  // namespace heed::text
