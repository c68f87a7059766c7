#include "heed/constrain/number_range.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace heed::constrain {
namespace {

constexpr std::uint64_t kLimit = 1'000'000'000'000'000'000;  // 10^kMaxDigits

// Expressions for strings of digits, compared as the digits of a number are.
class Digits {
 public:
  explicit Digits(Grammar& grammar) : grammar_(grammar) {}

  ExpressionId one(char low, char high) {
    return grammar_.chars({{static_cast<unsigned char>(low), static_cast<unsigned char>(high)}});
  }
  ExpressionId any(std::size_t min, std::size_t max) {
    return grammar_.repeat(one('0', '9'), static_cast<std::uint32_t>(min), static_cast<std::uint32_t>(max));
  }

  // Integers of [low, high] without leading zeros.
  ExpressionId whole(std::uint64_t low, std::uint64_t high) {
    std::vector<ExpressionId> ways;
    while (low <= high) {
      const std::string from = std::to_string(low);
      const std::uint64_t last = std::stoull(std::string(from.size(), '9'));
      ways.push_back(same_length(from, std::to_string(std::min(last, high))));
      low = last + 1;
    }
    return grammar_.choice(ways);
  }

  // What may follow the digits before the point so that the digits after it are >= low and <= high (null: no bound),
  // each a fraction without trailing zeros.
  ExpressionId fraction(const NumberBound* low, const NumberBound* high) {
    const bool zero_fits =
        (!low || (low->fraction.empty() && !low->strict)) && !(high && high->fraction.empty() && high->strict);
    std::vector<ExpressionId> ways;
    if (zero_fits) ways.push_back(grammar_.empty());
    ways.push_back(grammar_.sequence({grammar_.literal("."), after_point(low, high, 0)}));
    return grammar_.choice(ways);
  }

 private:
  ExpressionId same_length(std::string_view low, std::string_view high) {
    if (low.empty()) return grammar_.empty();
    const auto rest = [](std::string_view digits) { return digits.substr(1); };
    if (low[0] == high[0]) {
      return grammar_.sequence({one(low[0], low[0]), same_length(rest(low), rest(high))});
    }
    std::vector<ExpressionId> ways;
    const std::string nines(low.size() - 1, '9'), zeros(low.size() - 1, '0');
    char first = low[0], last = high[0];
    if (rest(low) != zeros)
      ways.push_back(grammar_.sequence({one(first, first), same_length(rest(low), nines)})), ++first;
    if (rest(high) != nines)
      ways.push_back(grammar_.sequence({one(last, last), same_length(zeros, rest(high))})), --last;
    if (first <= last) ways.push_back(grammar_.sequence({one(first, last), any(low.size() - 1, low.size() - 1)}));
    return grammar_.choice(ways);
  }

  // The digits from place `at` on, at least one; a bound is null once the digits before have settled it.
  ExpressionId after_point(const NumberBound* low, const NumberBound* high, std::size_t at) {
    const std::size_t left = kMaxDigits - at;
    if (!low && !high) return any(1, left);
    const auto digit = [&](const NumberBound* bound) {
      return at < bound->fraction.size() ? bound->fraction[at] : '0';
    };
    std::vector<ExpressionId> ways;
    for (char next = '0'; next <= '9'; ++next) {
      if ((low && next < digit(low)) || (high && next > digit(high))) continue;
      const NumberBound* still_low = low && next == digit(low) ? low : nullptr;
      const NumberBound* still_high = high && next == digit(high) ? high : nullptr;
      // May the number end after this digit, as if zeros followed?
      const bool low_met = !still_low || (at + 1 >= low->fraction.size() && !low->strict);
      const bool high_met = !still_high || at + 1 < high->fraction.size() || !high->strict;
      std::vector<ExpressionId> tails;
      if (low_met && high_met) tails.push_back(grammar_.empty());
      if (at + 1 < kMaxDigits) {
        if (!still_low && !still_high) {
          tails.push_back(any(1, left - 1));
        } else {
          tails.push_back(after_point(still_low, still_high, at + 1));
        }
      }
      if (!tails.empty()) ways.push_back(grammar_.sequence({one(next, next), grammar_.choice(tails)}));
    }
    return grammar_.choice(ways);
  }

  Grammar& grammar_;
};

// Numbers >= 0 between bounds >= 0.
ExpressionId add_magnitudes(Grammar& grammar, const NumberBound& low, const std::optional<NumberBound>& high,
                            bool integers) {
  Digits digits(grammar);
  if (integers) {
    const std::uint64_t from = low.whole + (low.strict || !low.fraction.empty() ? 1 : 0);
    std::uint64_t past = high ? high->whole + 1 : kLimit;
    if (high && high->strict && high->fraction.empty()) --past;
    return past == 0 ? grammar.choice({}) : digits.whole(from, std::min(past, kLimit) - 1);
  }
  const std::uint64_t last = high ? high->whole : kLimit - 1;
  if (low.whole > last) return grammar.choice({});
  const auto at = [&](std::uint64_t whole, const NumberBound* from, const NumberBound* to) {
    return grammar.sequence({grammar.literal(std::to_string(whole)), digits.fraction(from, to)});
  };
  const NumberBound* to = high ? &*high : nullptr;
  if (low.whole == last) return at(last, &low, to);
  std::vector<ExpressionId> ways{at(low.whole, &low, nullptr), at(last, nullptr, to)};
  if (low.whole + 1 < last) {
    ways.push_back(grammar.sequence({digits.whole(low.whole + 1, last - 1), digits.fraction(nullptr, nullptr)}));
  }
  return grammar.choice(ways);
}

}  // namespace

std::optional<NumberBound> number_bound(const OrderedJson& value, bool is_low, bool strict,
                                        const std::string& context) {
  HEED_CHECK_AS(bad_format, value.is_number(), context, " is ", value.type_name(), ", expected a number");
  std::string text = value.dump();
  NumberBound bound{.strict = strict};
  bound.negative = text[0] == '-';
  text.erase(0, bound.negative);
  int exponent = 0;
  if (const std::size_t e = text.find('e'); e != std::string::npos) {
    exponent = std::atoi(text.c_str() + e + 1);
    text.resize(e);
  }
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string digits = text.substr(0, point);
  if (point < text.size()) digits += text.substr(point + 1);
  const int whole_digits = static_cast<int>(point) + exponent;
  if (whole_digits <= 0) digits.insert(0, static_cast<std::size_t>(std::min(-whole_digits, 400)), '0');
  const auto whole_count = static_cast<std::size_t>(std::max(whole_digits, 0));
  if (digits.size() < whole_count) digits.resize(std::min<std::size_t>(whole_count, 400), '0');
  bound.fraction = digits.substr(std::min(whole_count, digits.size()));
  bound.fraction.erase(bound.fraction.find_last_not_of('0') + 1);
  digits.resize(std::min(whole_count, digits.size()));
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.size() > kMaxDigits) {
    HEED_CHECK_AS(bad_format, bound.negative == is_low, context, " is ", value.dump(),
                  ", beyond all numbers of at most ", kMaxDigits, " digits");
    return std::nullopt;
  }
  bound.whole = digits.empty() ? 0 : std::stoull(digits);
  HEED_CHECK_AS(bad_format, bound.fraction.size() <= kMaxDigits, context, " is ", value.dump(), ", with more than ",
                kMaxDigits, " digits after the point");
  if (bound.whole == 0 && bound.fraction.empty()) bound.negative = false;
  return bound;
}

ExpressionId add_number_range(Grammar& grammar, const std::optional<NumberBound>& low,
                              const std::optional<NumberBound>& high, bool integers) {
  std::vector<ExpressionId> ways;
  if (!high || !high->negative) {
    const NumberBound from = low && !low->negative ? *low : NumberBound{};
    ways.push_back(add_magnitudes(grammar, from, high, integers));
  }
  if (!low || low->negative) {
    // Below zero, and the bounds change places. Zero itself is not written with a minus.
    const NumberBound from = high && high->negative ? *high : NumberBound{.strict = true};
    const ExpressionId magnitudes = add_magnitudes(grammar, from, low, integers);
    ways.push_back(grammar.sequence({grammar.literal("-"), magnitudes}));
  }
  return grammar.choice(ways);
}

}  // namespace heed::constrain
