#include "heed/attention/position_criteria.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "heed/base/error.h"

namespace heed {
namespace {

using Code = std::vector<double>;
using Codes = std::vector<Code>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Codes codes_of(const PositionEncoding& encoding, std::int64_t length) {
  Codes codes;
  for (std::int64_t p = 0; p < length; ++p) codes.push_back(encoding(p, length));
  return codes;
}

// Euclidean; NaN if one of them is not defined.
double distance(const Code& a, const Code& b) {
  if (a.empty() || a.size() != b.size()) return std::numeric_limits<double>::quiet_NaN();
  double square = 0;
  for (std::size_t i = 0; i < a.size(); ++i) square += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(square);
}

template <class... Parts>
std::string sentence(const Parts&... parts) {
  std::ostringstream text;
  text.precision(4);
  (text << ... << parts);
  return text.str();
}

PositionVerdict check_unique(const Codes& codes) {
  double least = kInfinity;
  std::size_t first = 0, second = 0;
  for (std::size_t a = 0; a < codes.size(); ++a) {
    for (std::size_t b = a + 1; b < codes.size(); ++b) {
      const double apart = distance(codes[a], codes[b]);
      if (!(apart >= least)) least = apart, first = a, second = b;
    }
  }
  return {"unique", least > 0, least,
          sentence("The closest two, ", first, " and ", second, ", are ", least, " apart.")};
}

PositionVerdict check_distance(const Codes& codes, const Codes& longer) {
  double worst = 0;
  std::size_t worst_step = 1;
  for (std::size_t step = 1; step < codes.size(); step *= 2) {
    double least = kInfinity, most = 0;
    for (const Codes* text : {&codes, &longer}) {
      for (std::size_t p = 0; p + step < text->size(); ++p) {
        const double apart = distance((*text)[p], (*text)[p + step]);
        if (std::isnan(apart)) continue;  // a matter of the third criterion
        least = std::min(least, apart);
        most = std::max(most, apart);
      }
    }
    const double spread = most > 0 ? (most - least) / most : 0;
    if (spread > worst) worst = spread, worst_step = step;
  }
  return {"consistent distance", worst <= 1e-6, worst,
          sentence("The distance of codes ", worst_step, " apart varies by ", 100 * worst, " %.")};
}

double largest(const Codes& codes) {
  double most = 0;
  for (const Code& code : codes) {
    if (code.empty()) return kInfinity;
    for (double value : code) most = std::isnan(value) ? kInfinity : std::max(most, std::abs(value));
  }
  return most;
}

PositionVerdict check_bounded(const Codes& codes, const Codes& longest) {
  const double trained = largest(codes), beyond = largest(longest);
  const double growth = std::isinf(beyond) ? kInfinity : beyond / std::max(trained, std::numeric_limits<double>::min());
  const std::string text =
      std::isinf(growth) ? sentence("Beyond the ", codes.size(), " positions of training some have no code.")
                         : sentence("Values reach ", trained, " in training and ", beyond, " at 8 times its length.");
  return {"bounded", growth <= 1.05, growth, text};
}

PositionVerdict check_deterministic(const Codes& once, const Codes& again) {
  std::size_t different = 0;
  for (std::size_t p = 0; p < once.size(); ++p) {
    const bool same =
        once[p].size() == again[p].size() &&
        (once[p].empty() || std::memcmp(once[p].data(), again[p].data(), once[p].size() * sizeof(double)) == 0);
    different += same ? 0 : 1;
  }
  return {"deterministic", different == 0, static_cast<double>(different),
          sentence("Asked twice, ", different, " of ", once.size(), " gave another code.")};
}

}  // namespace

std::array<PositionVerdict, 4> check_positions(const PositionEncoding& encoding, std::int64_t length) {
  HEED_CHECK(length >= 2, "[check_positions] length ", length, ", expected at least 2");
  const Codes codes = codes_of(encoding, length);
  return {check_unique(codes), check_distance(codes, codes_of(encoding, 2 * length)),
          check_bounded(codes, codes_of(encoding, 8 * length)), check_deterministic(codes, codes_of(encoding, length))};
}

}  // namespace heed
