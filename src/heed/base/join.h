// Lists as text: join(names, ", ") is "a, b, c", join_or(names) "a, b or c".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

// `projection` makes a text of an item: join(tasks(), ", ", &Task::name).
template <class Range, class Projection = std::identity>
std::string join(Range&& items, std::string_view separator, const Projection& projection = {}) {
  std::string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first) text += separator;
    first = false;
    text += std::invoke(projection, item);
  }
  return text;
}

template <class Range, class Projection = std::identity>
std::string join_or(Range&& items, const Projection& projection = {}) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.emplace_back(std::invoke(projection, item));
  if (texts.empty()) return "";
  const std::string last = std::move(texts.back());
  texts.pop_back();
  return texts.empty() ? last : join(texts, ", ") + " or " + last;
}

}  // namespace heed
