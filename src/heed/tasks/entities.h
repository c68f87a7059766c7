// From labels of tokens to entities with their places in the text, by the rules of HuggingFace's token-classification
// pipeline, with words as the tokenizer splits them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

// How tokens become what is reported.
enum class Aggregation {
  none,     // every token for itself
  simple,   // neighbours whose labels belong together, token by token
  first,    // words first, each with the label of its first token,
  average,  // or the best of its tokens' mean scores,
  max,      // or the label of its surest token; then neighbouring words whose labels belong together
};
// Throws invalid_argument for a name that is none of them.
Aggregation aggregation_named(std::string_view name);

struct Entity {
  std::string label;  // without B- and I-, except with Aggregation::none
  float score = 0;
  std::string word;
  std::int64_t start = 0, end = 0;     // characters (code points) of the text
  std::optional<std::size_t> index{};  // of the token, with Aggregation::none
};

struct TagToken {
  std::string text;
  std::int32_t word = 0;  // tokens of one word have the same
  std::int64_t start = 0, end = 0;
  std::size_t index = 0;
  std::vector<float> scores;  // of each label
};
using JoinTokens = std::function<std::string(std::vector<std::string>)>;
std::vector<Entity> aggregate(std::span<const TagToken> tokens, const std::vector<std::string>& labels,
                              Aggregation aggregation, const JoinTokens& join);
// Of entities that overlap, found in different windows, the longest stays, of equally long ones the surest.
std::vector<Entity> merge_windows(std::vector<Entity> entities);

}  // namespace heed
