#include <algorithm>
#include <array>

#include "heed/base/utf8.h"
#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/format.h"
#include "heed/chat/methods.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

using detail::Method;

std::optional<std::string> text_or_none(const Value& value, std::string_view what) {
  return value.is_none() ? std::nullopt : std::optional(as_text(value, what));
}

std::optional<std::int64_t> whole_or_none(const Value& value) {
  return value.is_none() ? std::nullopt : std::optional(as_whole(value, "a place in a text"));
}

// What may take the product of both sizes is paid for.
void spend_search(Evaluator& evaluator, std::size_t text, std::size_t part) {
  evaluator.budget().spend_bytes(text, 1 + part / 256);
}

Value list_of(Evaluator& evaluator, std::vector<std::string> parts) {
  evaluator.budget().spend(parts.size() * 4);
  Values items;
  for (std::string& part : parts) items.emplace_back(std::move(part));
  return make_list(std::move(items));
}

// Methods without arguments.
template <std::string (*Change)(std::string_view)>
Value changed(Evaluator&, const Value& self, Arguments& arguments) {
  Parameters("method", arguments).done();
  return Change(*self.text());
}

// All characters are so, and there is one.
template <bool (*Is)(char32_t)>
Value all_are(Evaluator&, const Value& self, Arguments& arguments) {
  Parameters("method", arguments).done();
  for (const CodePoint& point : Utf8View(*self.text())) {
    if (!Is(point.value)) return false;
  }
  return !self.text()->empty();
}

bool is_letter_or_digit(char32_t point) {
  return is_letter(point) || is_digit(point);
}

// There are letters, and all of them are so.
template <bool (*Is)(char32_t)>
Value letters_are(Evaluator&, const Value& self, Arguments& arguments) {
  Parameters("method", arguments).done();
  bool found = false;
  for (const CodePoint& point : Utf8View(*self.text())) {
    if (is_cased(point.value) && !Is(point.value)) return false;
    found |= Is(point.value);
  }
  return found;
}

template <Side side>
Value stripped(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  Parameters parameters("strip", arguments);
  const auto chars = text_or_none(parameters.optional("", None{}), "strip's argument");
  parameters.done();
  spend_search(evaluator, self.text()->size(), chars ? chars->size() : 0);
  return strip(*self.text(), side, chars);
}

template <bool from_end>
Value split_text(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  Parameters parameters("split", arguments);
  const auto separator = text_or_none(parameters.optional("sep", None{}), "split's separator");
  const std::int64_t most = as_whole(parameters.optional("maxsplit", -1), "maxsplit");
  parameters.done();
  HEED_CHECK(!separator || !separator->empty(), "empty separator");
  if (!from_end) return list_of(evaluator, split(*self.text(), separator, most));
  spend_search(evaluator, self.text()->size(), separator ? separator->size() : 0);
  return list_of(evaluator, split_from_end(*self.text(), separator, most));
}

Value split_lines_of(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  Parameters parameters("splitlines", arguments);
  const bool keep = is_true(parameters.optional("keepends", false));
  parameters.done();
  return list_of(evaluator, split_lines(*self.text(), keep));
}

template <bool from_end>
Value partition(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  Parameters parameters("partition", arguments);
  const std::string separator = as_text(parameters.required(""), "partition's separator");
  parameters.done();
  HEED_CHECK(!separator.empty(), "empty separator");
  spend_search(evaluator, self.text()->size(), separator.size());
  const auto parts = from_end ? split_from_end(*self.text(), separator, 1) : split(*self.text(), separator, 1);
  if (parts.size() == 2) return make_tuple({parts[0], separator, parts[1]});
  return from_end ? make_tuple({"", "", parts[0]}) : make_tuple({parts[0], "", ""});
}

Value replaced(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  Parameters parameters("replace", arguments);
  const std::string part = as_text(parameters.required(""), "replace's text");
  const std::string by = as_text(parameters.required(""), "replace's text");
  const std::int64_t most = as_whole(parameters.optional("", -1), "replace's count");
  parameters.done();
  evaluator.budget().spend_bytes(count_parts(*self.text(), part), by.size());
  return replace_parts(*self.text(), part, by, most);
}

// The part of the text that `start` and `end` leave, and where it begins; the first argument is what to look for.
struct Search {
  Value wanted;
  std::string_view text;
  std::size_t begin;
  bool is_inside;  // start lies in the text or at its end
};
Search search_of(const Value& self, Arguments& arguments, const char* name) {
  Parameters parameters(name, arguments);
  Value wanted = parameters.required("");
  const auto start = whole_or_none(parameters.optional("", None{}));
  const auto end = whole_or_none(parameters.optional("", None{}));
  parameters.done();
  const auto [text, begin] = text_slice(*self.text(), start, end);
  const bool is_inside = !start || *start <= static_cast<std::int64_t>(utf8_length(*self.text()));
  return {wanted, text, begin, is_inside};
}

template <bool from_end, bool must>
Value found(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  const Search search = search_of(self, arguments, "find");
  const std::string& part = as_text(search.wanted, "what to find");
  std::optional<std::size_t> place;
  if (from_end) {
    spend_search(evaluator, search.text.size(), part.size());
    const std::size_t last = search.text.rfind(part);
    if (last != std::string_view::npos) place = last;
  } else {
    place = find_part(search.text, part);
  }
  if (!search.is_inside) place = std::nullopt;
  HEED_CHECK(place || !must, "substring not found");
  if (!place) return -1;
  return Value::of_size(utf8_length(std::string_view(*self.text()).substr(0, search.begin + *place)));
}

Value counted(Evaluator&, const Value& self, Arguments& arguments) {
  const Search search = search_of(self, arguments, "count");
  const std::string& part = as_text(search.wanted, "what to count");
  return search.is_inside ? Value::of_size(count_parts(search.text, part)) : Value(0);
}

template <bool at_end>
Value begins(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  const Search search = search_of(self, arguments, at_end ? "endswith" : "startswith");
  const auto is_there = [&](const Value& value) {
    const std::string& part = as_text(value, at_end ? "endswith's argument" : "startswith's argument");
    return search.is_inside && (at_end ? search.text.ends_with(part) : search.text.starts_with(part));
  };
  const Sequence* several = search.wanted.sequence();
  if (!several || !several->is_tuple()) return is_there(search.wanted);
  evaluator.budget().spend(several->items.size());
  return std::ranges::any_of(several->items, is_there);
}

template <bool at_end>
Value removed(Evaluator&, const Value& self, Arguments& arguments) {
  Parameters parameters(at_end ? "removesuffix" : "removeprefix", arguments);
  const std::string part = as_text(parameters.required(""), "what to remove");
  parameters.done();
  std::string_view text = *self.text();
  if (at_end ? text.ends_with(part) : text.starts_with(part)) {
    at_end ? text.remove_suffix(part.size()) : text.remove_prefix(part.size());
  }
  return text;
}

Value joined(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  Parameters parameters("join", arguments);
  const Values items = items_of(evaluator, parameters.required(""));
  parameters.done();
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string& item = as_text(items[i], "an item to join");
    evaluator.budget().spend_bytes(item.size() + self.text()->size());
    if (i > 0) out += *self.text();
    out += item;
  }
  return out;
}

Value formatted(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  return brace_format(evaluator, *self.text(), arguments);
}

template <char align>
Value justified(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  Parameters parameters("justify", arguments);
  const std::int64_t width = as_whole(parameters.required(""), "the width");
  const std::string fill = as_text(parameters.optional("", " "), "the fill character");
  parameters.done();
  HEED_CHECK(utf8_length(fill) == 1, "The fill character must be exactly one character long");
  const auto length = static_cast<std::int64_t>(utf8_length(*self.text()));
  if (width <= length) return self;
  const std::int64_t missing = width - length;
  evaluator.budget().spend_bytes(static_cast<std::size_t>(missing), fill.size());
  // Python's center puts the odd one left when the width is odd.
  const std::int64_t left = align == '>' ? missing : align == '<' ? 0 : missing / 2 + (missing & width & 1);
  std::string out;
  for (std::int64_t i = 0; i < left; ++i) out += fill;
  out += *self.text();
  for (std::int64_t i = left; i < missing; ++i) out += fill;
  return out;
}

Value zero_filled(Evaluator& evaluator, const Value& self, Arguments& arguments) {
  Parameters parameters("zfill", arguments);
  const std::int64_t width = as_whole(parameters.required(""), "the width");
  parameters.done();
  const auto length = static_cast<std::int64_t>(utf8_length(*self.text()));
  if (width <= length) return self;
  const std::int64_t missing = width - length;
  evaluator.budget().spend_bytes(static_cast<std::size_t>(missing));
  const bool has_sign = self.text()->starts_with('+') || self.text()->starts_with('-');
  std::string out = *self.text();
  return out.insert(has_sign ? 1 : 0, static_cast<std::size_t>(missing), '0');
}

constexpr std::array kMethods = {
    Method{"capitalize", changed<capitalize>},
    Method{"center", justified<'^'>},
    Method{"count", counted},
    Method{"endswith", begins<true>},
    Method{"find", found<false, false>},
    Method{"format", formatted},
    Method{"index", found<false, true>},
    Method{"isalnum", all_are<is_letter_or_digit>},
    Method{"isalpha", all_are<is_letter>},
    Method{"isdigit", all_are<is_digit>},
    Method{"islower", letters_are<is_lower>},
    Method{"isspace", all_are<is_space>},
    Method{"isupper", letters_are<is_upper>},
    Method{"join", joined},
    Method{"ljust", justified<'<'>},
    Method{"lower", changed<lower>},
    Method{"lstrip", stripped<Side::kLeft>},
    Method{"partition", partition<false>},
    Method{"removeprefix", removed<false>},
    Method{"removesuffix", removed<true>},
    Method{"replace", replaced},
    Method{"rfind", found<true, false>},
    Method{"rindex", found<true, true>},
    Method{"rjust", justified<'>'>},
    Method{"rpartition", partition<true>},
    Method{"rsplit", split_text<true>},
    Method{"rstrip", stripped<Side::kRight>},
    Method{"split", split_text<false>},
    Method{"splitlines", split_lines_of},
    Method{"startswith", begins<false>},
    Method{"strip", stripped<Side::kBoth>},
    Method{"swapcase", changed<swap_case>},
    Method{"title", changed<title>},
    Method{"upper", changed<upper>},
    Method{"zfill", zero_filled},
};

}  // namespace

const Method* detail::find_text_method(std::string_view name) {
  const auto found_method = std::ranges::find(kMethods, name, &Method::name);
  return found_method == kMethods.end() ? nullptr : &*found_method;
}

}  // namespace heed::chat
