// Python's int() and float() of a text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heed::chat {

// Nothing where the text is no such number. An integer that does not fit in 64 bits throws.
std::optional<std::int64_t> parse_int(std::string_view text, std::int64_t base);
std::optional<double> parse_float(std::string_view text);
// int() of a float; throws where it does not fit in 64 bits.
std::int64_t truncated(double value);

}  // namespace heed::chat
