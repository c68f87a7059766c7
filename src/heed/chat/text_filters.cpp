#include <array>

#include "heed/base/utf8.h"
#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/filters.h"
#include "heed/chat/format.h"
#include "heed/chat/print.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

using detail::NamedFilter;

template <std::string (*Change)(std::string_view)>
Value changed(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("filter", arguments).done();
  return value.made(Change(to_text(evaluator, value)));
}

Value string(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("string", arguments).done();
  return value.made(to_text(evaluator, value));
}

bool is_word_gap(char32_t point) {
  return is_space(point) || point == '-' || point == '(' || point == '{' || point == '[' || point == '<';
}

// Each word large at its start; words begin after spaces and some brackets.
std::string title_words(std::string_view text) {
  std::string out, word;
  const auto flush = [&] {
    if (word.empty()) return;
    const std::size_t first = utf8_decode(word, 0).length;
    out += upper(std::string_view(word).substr(0, first)) + lower(std::string_view(word).substr(first));
    word.clear();
  };
  for (const CodePoint& point : Utf8View(text)) {
    if (!is_word_gap(point.value)) {
      word += text.substr(point.offset, point.length);
      continue;
    }
    flush();
    out += text.substr(point.offset, point.length);
  }
  flush();
  return out;
}

// Never markup: jinja2 joins the words by a plain text.
Value title(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("title", arguments).done();
  return title_words(to_text(evaluator, value));
}

Value trim(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("trim", arguments);
  const Value chars = parameters.optional("chars", None{});
  parameters.done();
  const std::string text = to_text(evaluator, value);
  if (chars.is_none()) return value.made(std::string(strip(text, Side::kBoth)));
  evaluator.budget().spend_bytes(text.size(), 1 + as_text(chars, "chars").size() / 256);
  return value.made(std::string(strip(text, Side::kBoth, as_text(chars, "chars"))));
}

Value replace(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("replace", arguments);
  const std::string old = to_text(evaluator, parameters.required("old"));
  const std::string by = to_text(evaluator, parameters.required("new"));
  const Value count = parameters.optional("count", None{});
  parameters.done();
  const std::string text = to_text(evaluator, value);
  evaluator.budget().spend_bytes(count_parts(text, old), by.size());
  return replace_parts(text, old, by, count.is_none() ? -1 : as_whole(count, "replace's count"));
}

Value indent(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("indent", arguments);
  const Value width = parameters.optional("width", 4);
  const bool first = is_true(parameters.optional("first", false));
  const bool blank = is_true(parameters.optional("blank", false));
  parameters.done();
  const std::string& text = as_text(value, "what indent is given");
  std::string gap;
  if (width.text()) {
    gap = *width.text();
  } else {
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(as_whole(width, "indent's width"), 0));
    evaluator.budget().spend_bytes(count);
    gap.assign(count, ' ');
  }
  const auto lines = split_lines(text + "\n", false);
  evaluator.budget().spend_bytes(lines.size(), gap.size());
  std::string out = first ? gap : "";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += "\n" + (blank || !lines[i].empty() ? gap : "");
    out += lines[i];
  }
  return out;
}

Value truncate(Evaluator&, const Value& value, Arguments& arguments) {
  Parameters parameters("truncate", arguments);
  const std::int64_t length = as_whole(parameters.optional("length", 255), "truncate's length");
  const bool kill_words = is_true(parameters.optional("killwords", false));
  const std::string end = as_text(parameters.optional("end", "..."), "truncate's end");
  const Value given_leeway = parameters.optional("leeway", None{});
  parameters.done();
  const std::int64_t leeway = given_leeway.is_none() ? 5 : as_whole(given_leeway, "truncate's leeway");
  const auto end_length = static_cast<std::int64_t>(utf8_length(end));
  HEED_CHECK(length >= end_length, "expected length >= ", end_length, ", got ", length);
  HEED_CHECK(leeway >= 0, "expected leeway >= 0, got ", leeway);
  const auto count = length_of(value);
  HEED_CHECK(count, "object of type '", value.type_name(), "' has no len()");
  const auto size = static_cast<std::int64_t>(*count);
  if (size <= length || size - length <= leeway) return value;
  const std::string& text = as_text(value, "what truncate is given");
  const std::string_view kept = text_slice(text, 0, length - end_length).first;
  if (kill_words) return std::string(kept) + end;
  return std::string(kept.substr(0, kept.rfind(' '))) + end;
}

Value center(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("center", arguments);
  const Value width = parameters.optional("width", 80);
  parameters.done();
  const Value method = evaluator.attribute(to_text(evaluator, value), "center");
  return evaluator.call(method, {{width}, {}});
}

Value word_count(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("wordcount", arguments).done();
  std::int64_t count = 0;
  bool in_word = false;
  const std::string text = to_text(evaluator, value);
  for (const CodePoint& point : Utf8View(text)) {
    const bool is_word = is_letter(point.value) || is_digit(point.value) || point.value == '_';
    count += is_word && !in_word ? 1 : 0;
    in_word = is_word;
  }
  return count;
}

Value format(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  HEED_CHECK(arguments.positional.empty() || arguments.named.empty(),
             "can't handle positional and keyword arguments at the same time");
  const std::string text = to_text(evaluator, value);
  if (arguments.named.empty()) return percent_format(evaluator, text, make_tuple(std::move(arguments.positional)));
  Dict dict;
  for (auto& [name, each] : arguments.named) dict.set(name, each);
  return percent_format(evaluator, text, make_dict(std::move(dict)));
}

Value to_json_text(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("tojson", arguments);
  JsonStyle style;
  style.ascii = is_true(parameters.optional("ensure_ascii", false));
  const Value gap = parameters.optional("indent", None{});
  const Value separators = parameters.optional("separators", None{});
  style.sort_keys = is_true(parameters.optional("sort_keys", false));
  parameters.done();
  if (!gap.is_none()) {
    style.item_separator = ",";
    if (gap.text()) {
      style.indent = *gap.text();
    } else {
      const auto count = static_cast<std::size_t>(std::max<std::int64_t>(as_whole(gap, "tojson's indent"), 0));
      evaluator.budget().spend_bytes(count);
      style.indent = std::string(count, ' ');
    }
  }
  if (!separators.is_none()) {
    const Values pair = items_of(evaluator, separators);
    HEED_CHECK(pair.size() == 2, "tojson's separators are ", pair.size(), " texts, expected 2");
    style.item_separator = as_text(pair[0], "tojson's separator");
    style.key_separator = as_text(pair[1], "tojson's separator");
  }
  return to_json(evaluator, value, style);
}

constexpr std::array kFilters = {
    NamedFilter{"capitalize", changed<capitalize>},
    NamedFilter{"center", center},
    NamedFilter{"format", format},
    NamedFilter{"indent", indent},
    NamedFilter{"lower", changed<lower>},
    NamedFilter{"replace", replace},
    NamedFilter{"string", string},
    NamedFilter{"title", title},
    NamedFilter{"tojson", to_json_text},
    NamedFilter{"trim", trim},
    NamedFilter{"truncate", truncate},
    NamedFilter{"upper", changed<upper>},
    NamedFilter{"wordcount", word_count},
};

}  // namespace

std::span<const NamedFilter> detail::text_filters() {
  return kFilters;
}

}  // namespace heed::chat
