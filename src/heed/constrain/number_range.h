// The decimal numbers between two bounds, exactly: by their digits.
#pragma once

#include <optional>
#include <string>

#include "heed/base/json.h"
#include "heed/constrain/grammar.h"

namespace heed::constrain {

// Numbers are written with at most this many digits before the point and as many after it.
inline constexpr std::uint32_t kMaxDigits = 18;

struct NumberBound {
  bool negative = false;
  std::uint64_t whole = 0;  // of the absolute value, below 10^kMaxDigits
  std::string fraction{};   // digits after the point, none at the end are 0
  bool strict = false;      // the bound itself is left out
};

// Nothing when the bound is beyond all numbers we write and so bounds nothing. Throws bad_format, starting with
// `context`, for what is not a number, has too many digits, or is beyond all numbers on the other side.
std::optional<NumberBound> number_bound(const OrderedJson& value, bool is_low, bool strict, const std::string& context);

// Integers, or numbers without exponents. Matches nothing when there is none.
ExpressionId add_number_range(Grammar& grammar, const std::optional<NumberBound>& low,
                              const std::optional<NumberBound>& high, bool integers);

}  // namespace heed::constrain
