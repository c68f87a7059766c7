// What Python does with strings, by code points. All texts are valid UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/letter_case.h"

namespace heed::chat {

std::string concat(std::initializer_list<std::string_view> parts);

using text::is_cased;
using text::is_digit;
using text::is_letter;
using text::is_lower;
using text::is_printable;
using text::is_space;
using text::is_upper;

using text::capitalize;
using text::lower;
using text::swap_case;
using text::title;
using text::upper;

// With & < > " ' as HTML writes them.
std::string escaped_markup(std::string_view text);

enum class Side { kLeft, kRight, kBoth };
// Without the characters of `chars` at its ends, or without white space.
std::string_view strip(std::string_view text, Side side, const std::optional<std::string>& chars = std::nullopt);

// At white space, or at each separator; at most `most` splits, all if it is negative.
std::vector<std::string> split(std::string_view text, const std::optional<std::string>& separator, std::int64_t most);
// The same from the end of the text.
std::vector<std::string> split_from_end(std::string_view text, const std::optional<std::string>& separator,
                                        std::int64_t most);
std::vector<std::string> split_lines(std::string_view text, bool keep_ends);

// Where `part` is at or after `from`, in bytes; in time linear in the text.
std::optional<std::size_t> find_part(std::string_view text, std::string_view part, std::size_t from = 0);
std::size_t count_parts(std::string_view text, std::string_view part);
// At most `most` times; negative: all.
std::string replace_parts(std::string_view text, std::string_view part, std::string_view by, std::int64_t most);

// Byte offsets of the code points, and the size as the last.
std::vector<std::size_t> code_point_offsets(std::string_view text);
std::vector<std::string> code_points(std::string_view text);

// Which of `length` items text[start:stop:step] has, as Python has it.
struct SliceRange {
  std::int64_t start, step;
  std::size_t count;
};
SliceRange slice_range(std::int64_t length, std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                       std::int64_t step);
// text[start:stop], in code points: the part, and the byte where it begins.
std::pair<std::string_view, std::size_t> text_slice(std::string_view text, std::optional<std::int64_t> start,
                                                    std::optional<std::int64_t> stop);

}  // namespace heed::chat
