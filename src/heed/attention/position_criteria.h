// What a position encoding should do, as a check that any encoding can be put to.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heed {

// The code of a position in a text of a length; always of the same width. An empty vector says: not defined there.
using PositionEncoding = std::function<std::vector<double>(std::int64_t position, std::int64_t length)>;

struct PositionVerdict {
  const char* criterion;
  bool passed;
  double evidence;   // the number the verdict rests on; what it is, `text` says
  std::string text;  // one sentence
};

// `length` (at least 2) is the longest text of training. The verdicts, in this order:
//   unique               no two positions of a text share a code; evidence: the smallest distance of two codes
//   consistent distance  positions k apart are equally far apart wherever they stand and however long the text is (k =
//   1,
//                        2, 4 ... below the length, in texts of the length and of twice the length); evidence: the
//                        largest spread of such distances relative to the largest of them; passes up to 1e-6
//   bounded              up to 8 times the length codes are defined and not larger than in training; evidence: the
//                        largest absolute value there over the largest in training, infinite where not defined;
//                        passes up to 1.05, for the peak of a wave may lie between two positions
//   deterministic        asked twice, the same bits; evidence: how many positions answered differently
std::array<PositionVerdict, 4> check_positions(const PositionEncoding& encoding, std::int64_t length);

}  // namespace heed
