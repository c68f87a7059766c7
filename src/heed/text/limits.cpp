#include "heed/text/limits.h"

#include <algorithm>
#include <span>

#include "heed/text/fields.h"

namespace heed::text {
namespace {

constexpr std::string_view kDirections[] = {"Left", "Right"};
constexpr std::string_view kStrategies[] = {"LongestFirst", "OnlyFirst", "OnlySecond"};

Direction read_direction(Fields& fields) {
  return fields.find("direction") ? static_cast<Direction>(fields.choice("direction", kDirections)) : Direction::right;
}

template <class Enum>
std::string name_of(Enum value, std::span<const std::string_view> names) {
  return std::string(names[static_cast<std::size_t>(value)]);
}

// So that a hostile file cannot ask for gigabytes of padding.
constexpr std::size_t kMaxPaddedTokens = std::size_t{1} << 24;

// The lengths of a pair that together has max_length: the shorter one keeps all it can.
std::pair<std::size_t, std::size_t> longest_first(std::size_t first, std::size_t second, std::size_t max_length) {
  const bool swapped = first > second;
  if (swapped) std::swap(first, second);
  second = first > max_length ? first : std::max(first, max_length - first);
  if (first + second > max_length) {
    first = max_length / 2;
    second = first + max_length % 2;
  }
  if (swapped) std::swap(first, second);
  return {first, second};
}

}  // namespace

Truncation Truncation::from_json(const Json& json, const std::string& context) {
  Fields fields(json, context);
  Truncation truncation;
  truncation.direction = read_direction(fields);
  truncation.max_length = fields.required<std::uint32_t>("max_length");
  truncation.stride = fields.required<std::uint32_t>("stride");
  truncation.strategy = static_cast<Strategy>(fields.choice("strategy", kStrategies));
  fields.done();
  return truncation;
}

Json Truncation::to_json() const {
  return {{"direction", name_of(direction, kDirections)},
          {"max_length", max_length},
          {"strategy", name_of(strategy, kStrategies)},
          {"stride", stride}};
}

void Truncation::apply(std::vector<Encoding>& encodings, std::size_t added) const {
  HEED_CHECK(max_length >= added, "[truncate] max_length is ", max_length, ", expected at least the ", added,
             " special tokens");
  const std::size_t limit = max_length - added;
  std::size_t total = 0;
  for (const Encoding& encoding : encodings) total += encoding.size();
  if (total <= limit) return;
  if (limit == 0) {
    for (Encoding& encoding : encodings) encoding.truncate(0, stride, direction);
    return;
  }
  if (strategy == Strategy::longest_first) {
    if (encodings.size() == 1) {
      encodings[0].truncate(limit, stride, direction);
    } else {
      const auto lengths = longest_first(encodings[0].size(), encodings[1].size(), limit);
      encodings[0].truncate(lengths.first, stride, direction);
      encodings[1].truncate(lengths.second, stride, direction);
    }
    return;
  }
  const std::size_t index = strategy == Strategy::only_first ? 0 : 1;
  HEED_CHECK(index < encodings.size(), "[truncate] OnlySecond needs a pair, but there is one text");
  const std::size_t excess = total - limit;
  HEED_CHECK(encodings[index].size() > excess, "[truncate] the text to shorten has ", encodings[index].size(),
             " tokens, expected more than the ", excess, " that are to go");
  encodings[index].truncate(encodings[index].size() - excess, stride, direction);
}

Padding Padding::from_json(const Json& json, const std::string& context) {
  Fields fields(json, context);
  Padding padding;
  const Json& strategy = fields.at("strategy");
  if (strategy.is_object() && strategy.size() == 1 && strategy.contains("Fixed")) {
    padding.fixed = json_required<std::uint32_t>(strategy, "Fixed", context);
  } else {
    HEED_CHECK_AS(bad_format, strategy == "BatchLongest", context, ": strategy is ", strategy.dump(),
                  ", expected \"BatchLongest\" or {\"Fixed\": length}");
  }
  padding.pad.direction = read_direction(fields);
  if (fields.find("pad_to_multiple_of")) padding.multiple_of = fields.required<std::uint32_t>("pad_to_multiple_of");
  padding.pad.id = fields.required<std::int32_t>("pad_id");
  padding.pad.type_id = fields.required<std::int32_t>("pad_type_id");
  padding.pad.token = fields.required<std::string>("pad_token");
  fields.done();
  return padding;
}

Json Padding::to_json() const {
  return {{"strategy", fixed ? Json{{"Fixed", *fixed}} : Json("BatchLongest")},
          {"direction", name_of(pad.direction, kDirections)},
          {"pad_to_multiple_of", multiple_of ? Json(*multiple_of) : Json()},
          {"pad_id", pad.id},
          {"pad_type_id", pad.type_id},
          {"pad_token", pad.token}};
}

void Padding::apply(std::vector<Encoding>& batch, const TokenTexts& texts) const {
  std::size_t length = fixed.value_or(0);
  if (!fixed) {
    for (const Encoding& encoding : batch) length = std::max(length, encoding.size());
  }
  if (multiple_of && *multiple_of > 0) length = (length + *multiple_of - 1) / *multiple_of * *multiple_of;
  for (Encoding& encoding : batch) {
    const std::size_t windows = encoding.overflowing.size() + 1;
    HEED_CHECK(length <= kMaxPaddedTokens / windows, "[pad] ", windows, " windows of ", length,
               " tokens, expected at most ", kMaxPaddedTokens, " tokens together");
    encoding.pad(length, pad, texts);
  }
}

}  // namespace heed::text
