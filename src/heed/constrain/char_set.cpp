#include "heed/constrain/char_set.h"

#include <algorithm>
#include <string>

#include "heed/text/unicode.h"

namespace heed::constrain {
namespace {

ByteSequence encoded(char32_t low, char32_t high) {
  std::string from, to;
  text::append_point(from, low);
  text::append_point(to, high);
  ByteSequence result;
  result.length = static_cast<int>(from.size());
  std::copy(from.begin(), from.end(), result.low.begin());
  std::copy(to.begin(), to.end(), result.high.begin());
  return result;
}

// Cuts the range until each part is a product of byte ranges: all its code points have forms of one length, and after
// the first byte in which two of them differ any continuation byte may follow.
void cut(char32_t low, char32_t high, std::vector<ByteSequence>& result) {
  for (const char32_t last : {0x7Fu, 0x7FFu, 0xFFFFu}) {
    if (low <= last && last < high) {
      cut(low, last, result);
      cut(last + 1, high, result);
      return;
    }
  }
  for (int bits = 6; bits <= 18; bits += 6) {
    const char32_t tail = (char32_t{1} << bits) - 1;
    if ((low & ~tail) == (high & ~tail)) break;
    if (low & tail) {
      cut(low, low | tail, result);
      cut((low | tail) + 1, high, result);
      return;
    }
    if ((high & tail) != tail) {
      cut(low, (high & ~tail) - 1, result);
      cut(high & ~tail, high, result);
      return;
    }
  }
  result.push_back(encoded(low, high));
}

}  // namespace

void CharSet::add(char32_t low, char32_t high) {
  // The ranges that touch the new one become part of it.
  auto first = std::lower_bound(ranges_.begin(), ranges_.end(), low,
                                [](const PointRange& range, char32_t point) { return range.high + 1 < point; });
  auto last = first;
  for (; last != ranges_.end() && last->low <= high + 1; ++last) {
    low = std::min(low, last->low);
    high = std::max(high, last->high);
  }
  ranges_.insert(ranges_.erase(first, last), {low, high});
}

void CharSet::add(const CharSet& other) {
  for (const PointRange& range : other.ranges_) add(range.low, range.high);
}

CharSet CharSet::complement() const {
  CharSet result;
  char32_t next = 0;
  for (const PointRange& range : ranges_) {
    if (range.low > next) result.ranges_.push_back({next, range.low - 1});
    next = range.high + 1;
  }
  if (next <= kLastPoint) result.ranges_.push_back({next, kLastPoint});
  return result;
}

CharSet CharSet::operator&(const CharSet& other) const {
  CharSet result;
  for (std::size_t i = 0, j = 0; i < ranges_.size() && j < other.ranges_.size();) {
    const PointRange &a = ranges_[i], &b = other.ranges_[j];
    const char32_t low = std::max(a.low, b.low), high = std::min(a.high, b.high);
    if (low <= high) result.ranges_.push_back({low, high});
    ++(a.high < b.high ? i : j);
  }
  return result;
}

bool CharSet::contains(char32_t point) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const PointRange& range) { return range.low <= point && point <= range.high; });
}

std::vector<ByteSequence> utf8_sequences(const CharSet& set) {
  std::vector<ByteSequence> result;
  const CharSet encodable = set - CharSet{{0xD800, 0xDFFF}};
  for (const PointRange& range : encodable.ranges()) cut(range.low, range.high, result);
  return result;
}

}  // namespace heed::constrain
