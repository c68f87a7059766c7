// Prompts to generate from, and results as texts that differ where any bit does.
#pragma once

#include <sstream>

#include "heed/base/random.h"
#include "heed/generate/generator.h"

namespace heed::test {

using Ids = std::vector<TokenId>;

// Of the tiny decoder's vocabulary, without 0.
inline Ids prompt_of(std::int64_t length, std::uint64_t seed) {
  Ids ids;
  for (std::int64_t i = 0; i < length; ++i) {
    ids.push_back(static_cast<TokenId>(uniform_integer(seed, 7, static_cast<std::uint64_t>(i), 60) + 1));
  }
  return ids;
}

// All that a result says, to the bit.
inline std::string exact(const GenerateResult& result) {
  if (result.error) return "error";
  std::ostringstream text;
  text << std::hexfloat;
  for (const Generation& each : result.generations) {
    text << to_string(each.reason) << " " << each.score;
    for (const GeneratedToken& token : each.tokens) {
      text << " " << token.id << ":" << token.log_probability;
      for (const ScoredToken& other : token.alternatives) text << "," << other.id << ":" << other.log_probability;
    }
    text << "\n";
  }
  for (const float score : result.prompt_log_probabilities) text << score << " ";
  return text.str();
}

}  // namespace heed::test
