#include "heed/text/pattern.h"

#include <algorithm>

#include "heed/text/unicode.h"

namespace heed::text {
namespace {

std::uint32_t narrow(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

}  // namespace

Pattern::Pattern(const Json& json, const std::string& context) {
  HEED_CHECK_AS(bad_format, json.is_object() && json.size() == 1 && (json.contains("String") || json.contains("Regex")),
                context, ": pattern is ", json.dump(), ", expected {\"String\": ...} or {\"Regex\": ...}");
  if (json.contains("Regex")) {
    regex_.emplace(json_required<std::string>(json, "Regex", context), context);
  } else {
    literal_ = json_required<std::string>(json, "String", context);
  }
}

void Pattern::find_all(std::string_view text, std::vector<Span>& matches) const {
  if (regex_) {
    regex_->find_all(text, matches);
    return;
  }
  if (literal_.empty()) {
    for_each_point(text, [&](char32_t, std::size_t at) { matches.push_back({narrow(at), narrow(at)}); });
    matches.push_back({narrow(text.size()), narrow(text.size())});
    return;
  }
  for (std::size_t at = 0; (at = text.find(literal_, at)) != std::string_view::npos; at += literal_.size()) {
    matches.push_back({narrow(at), narrow(at + literal_.size())});
  }
}

SplitBehavior split_behavior(Fields& fields, const std::string& key) {
  return static_cast<SplitBehavior>(
      fields.choice(key, {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"}));
}

void stretches_of(const std::vector<Span>& matches, std::size_t size, bool invert, std::vector<Stretch>& stretches) {
  std::uint32_t covered = 0;
  for (const Span& match : matches) {
    if (match.begin > covered) stretches.push_back({{covered, match.begin}, invert});
    stretches.push_back({match, !invert});
    covered = match.end;
  }
  if (covered < size) stretches.push_back({{covered, narrow(size)}, invert});
}

void split_stretches(const std::vector<Stretch>& stretches, SplitBehavior behavior, std::vector<Span>& parts) {
  const std::size_t first = parts.size();
  bool previous = false;
  const auto extend = [&](const Stretch& stretch, bool joins) {
    if (joins && parts.size() > first) {
      parts.back().begin = std::min(parts.back().begin, stretch.span.begin);
      parts.back().end = std::max(parts.back().end, stretch.span.end);
    } else {
      parts.push_back(stretch.span);
    }
    previous = stretch.match;
  };
  switch (behavior) {
    case SplitBehavior::removed:
      for (const Stretch& stretch : stretches) {
        if (!stretch.match) parts.push_back(stretch.span);
      }
      break;
    case SplitBehavior::isolated:
      for (const Stretch& stretch : stretches) parts.push_back(stretch.span);
      break;
    case SplitBehavior::merged_with_previous:
      for (const Stretch& stretch : stretches) extend(stretch, stretch.match && !previous);
      break;
    case SplitBehavior::merged_with_next:
      for (auto stretch = stretches.rbegin(); stretch != stretches.rend(); ++stretch) {
        extend(*stretch, stretch->match && !previous);
      }
      std::reverse(parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end());
      break;
    case SplitBehavior::contiguous:
      for (const Stretch& stretch : stretches) extend(stretch, stretch.match == previous);
      break;
  }
}

}  // namespace heed::text
