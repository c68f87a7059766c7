// Sets of Unicode code points, and the UTF-8 byte sequences that spell them.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace heed::constrain {

inline constexpr char32_t kLastPoint = 0x10FFFF;

struct PointRange {
  char32_t low, high;  // both included
  bool operator==(const PointRange&) const = default;
};

class CharSet {
 public:
  CharSet() = default;
  CharSet(std::initializer_list<PointRange> ranges) {
    for (const PointRange& range : ranges) add(range.low, range.high);
  }
  static CharSet all() { return {{0, kLastPoint}}; }

  void add(char32_t low, char32_t high);
  void add(char32_t point) { add(point, point); }
  void add(const CharSet& other);
  CharSet complement() const;
  CharSet operator&(const CharSet& other) const;
  CharSet operator-(const CharSet& other) const { return *this & other.complement(); }
  bool contains(char32_t point) const;
  bool empty() const { return ranges_.empty(); }
  // Ascending, neither touching nor overlapping.
  const std::vector<PointRange>& ranges() const { return ranges_; }

 private:
  std::vector<PointRange> ranges_;
};

// One to four ranges of bytes; every choice of one byte from each is the UTF-8 form of a code point.
struct ByteSequence {
  int length = 0;
  std::array<std::uint8_t, 4> low{}, high{};
};

// The sequences that spell the code points of the set and nothing else. Surrogates, which UTF-8 has not, are left out.
std::vector<ByteSequence> utf8_sequences(const CharSet& set);

}  // namespace heed::constrain
