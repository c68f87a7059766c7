// How published models stretch rotary positions beyond the lengths that they were first trained on.
#pragma once

#include <cstdint>
#include <vector>

namespace heed {

struct RopeScaling {
  enum class Kind {
    none,
    linear,    // positions are divided by the factor (https://arxiv.org/abs/2306.15595)
    dynamic,   // the base grows with the sequence once it is longer than original_length
    llama3,    // slow pairs are divided by the factor, fast ones are left, those between mixed
    yarn,      // the same with a linear ramp over the pairs (https://arxiv.org/abs/2309.00071)
    longrope,  // a factor per pair, of one list up to original_length and of another beyond
  };
  Kind kind = Kind::none;
  double factor = 1;
  std::int64_t original_length = 0;                            // of the first training
  double attention_factor = 1;                                 // of cosines and sines: yarn, longrope
  double low_frequency_factor = 1, high_frequency_factor = 4;  // llama3
  double fast_turns = 32, slow_turns = 1;                      // yarn: turns within original_length that end the ramp
  bool whole_pairs = true;                                     // yarn: the ramp begins and ends at a pair
  std::vector<double> short_factors{}, long_factors{};         // longrope: per pair

  // Whether the frequencies depend on the length of the sequence. A step of decoding then turns its new tokens by the
  // length so far, as HuggingFace does, so that beyond original_length it differs from a pass over the whole sequence.
  // A decoder with longrope computes its text again when it gets there.
  bool depends_on_length() const { return kind == Kind::dynamic || kind == Kind::longrope; }
};

// Radians per position of each of width / 2 pairs, for a sequence of `length` tokens.
std::vector<double> rope_frequencies(double base, std::int64_t width, const RopeScaling& scaling, std::int64_t length);

}  // namespace heed
