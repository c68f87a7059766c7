// How much a template may do. A step is a node evaluated, an item looked at or made, or 16 bytes of text read or
// written; whatever needs more than it may is refused with an error, so no template hangs or fills the memory.
#pragma once

#include <cstddef>

#include "heed/base/error.h"

namespace heed::chat {

inline constexpr std::size_t kMostSteps = 10'000'000;
inline constexpr std::size_t kMostOutputBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMostTemplateBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMostRange = 100'000;  // items of range(), as in jinja2's sandbox
inline constexpr int kMostTreeDepth = 200;          // of expressions and blocks in a template
inline constexpr int kMostCallDepth = 800;          // nodes being evaluated at a time, over all macros called
inline constexpr int kMostValueDepth = 300;         // lists in lists

class Budget {
 public:
  void spend(std::size_t steps) {
    HEED_CHECK(steps <= left_, "the template does too much: over ", kMostSteps, " steps");
    left_ -= steps;
  }
  void spend_bytes(std::size_t bytes) { spend(bytes / 16 + 1); }
  // For `count` pieces of `bytes` each; the product may be too large for a number.
  void spend_bytes(std::size_t count, std::size_t bytes) {
    HEED_CHECK(bytes == 0 || count / 16 <= left_ / bytes, "the template does too much: over ", kMostSteps, " steps");
    spend_bytes(count * bytes);
  }

 private:
  std::size_t left_ = kMostSteps;
};

// One more level for as long as it lives.
class Level {
 public:
  Level(int& depth, int most, const char* what) : depth_(depth) {
    HEED_CHECK(depth < most, what, " deeper than ", most, " levels");
    ++depth_;
  }
  ~Level() { --depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  int& depth_;
};

}  // namespace heed::chat
