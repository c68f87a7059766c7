#include <array>

#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/filters.h"
#include "heed/chat/print.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

using detail::NamedFilter;

Value force_escape(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("forceescape", arguments).done();
  return Value::markup(escaped_markup(to_text(evaluator, value)));
}

Value escape(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  return value.is_markup() ? value : force_escape(evaluator, value, arguments);
}

Value safe(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("safe", arguments).done();
  return Value::markup(to_text(evaluator, value));
}

std::string percent_encoded(std::string_view text, bool in_query) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain =
        byte < 0x80 && (std::isalnum(byte) || std::string_view("_.-~").find(c) != std::string_view::npos);
    if (is_plain || (c == '/' && !in_query)) {
      out += c;
    } else if (c == ' ' && in_query) {
      out += '+';
    } else {
      ((out += '%') += kDigits[byte >> 4]) += kDigits[byte & 15];
    }
  }
  return out;
}

Value url_encode(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("urlencode", arguments).done();
  if (value.text() || !is_iterable(value)) return percent_encoded(to_text(evaluator, value), false);
  Values pairs;
  if (value.dict()) {
    for (const auto& [key, each] : value.dict()->entries()) pairs.push_back(make_tuple({key, each}));
  } else {
    pairs = items_of(evaluator, value);
  }
  std::string out;
  for (const Value& pair : pairs) {
    const Values parts = items_of(evaluator, pair);
    HEED_CHECK(parts.size() == 2, "urlencode needs pairs, found ", parts.size(), " values");
    const std::string key = to_text(evaluator, parts[0]), text = to_text(evaluator, parts[1]);
    evaluator.budget().spend_bytes(key.size() + text.size());
    out += (out.empty() ? "" : "&") + percent_encoded(key, true) + "=" + percent_encoded(text, true);
  }
  return out;
}

Value xml_attributes(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("xmlattr", arguments);
  const bool with_space = is_true(parameters.optional("autospace", true));
  parameters.done();
  value.check_defined();
  HEED_CHECK(value.dict(), "xmlattr needs a dict, found ", value.type_name());
  std::string out;
  for (const auto& [key, each] : value.dict()->entries()) {
    if (each.is_none() || each.is_undefined()) continue;
    const std::string& name = as_text(key, "a name of xmlattr");
    HEED_CHECK(name.find_first_of(" \t\n\r\f\v/>=") == std::string::npos,
               "Invalid character in attribute name: ", quoted_text(name));
    const std::string text = to_text(evaluator, each);
    evaluator.budget().spend_bytes(text.size());
    out += (out.empty() ? "" : " ") + escaped_markup(name) + "=\"" + (each.is_markup() ? text : escaped_markup(text)) +
           "\"";
  }
  return with_space && !out.empty() ? " " + out : out;
}

constexpr std::array kFilters = {
    NamedFilter{"e", escape},  NamedFilter{"escape", escape},        NamedFilter{"forceescape", force_escape},
    NamedFilter{"safe", safe}, NamedFilter{"urlencode", url_encode}, NamedFilter{"xmlattr", xml_attributes}};

}  // namespace

std::span<const NamedFilter> detail::markup_filters() {
  return kFilters;
}

}  // namespace heed::chat
