// Texts cut at white space, as Python's split() and strip() do it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

// The words of a text; they view it.
std::vector<std::string_view> split_words(std::string_view text);

std::string_view strip(std::string_view text);
std::string_view strip_right(std::string_view text);

// With every `part`, which is not empty, replaced.
std::string replace_all(std::string_view text, std::string_view part, std::string_view by);

}  // namespace heed
