// Which keys a query may see. At this door, and everywhere in heed: TRUE / 1 MEANS ATTEND, FALSE / 0 MEANS IGNORE
// (HuggingFace's convention; PyTorch's key_padding_mask has it the other way round).
//
// A Mask is a set of rules that all must allow a key: Mask::causal() & Mask::window(128, 0). Each of these rules lets a
// query see one unbroken run of keys, so a combination does too, costs two numbers per query, and lets the kernel skip
// what nobody sees. A mask that is any tensor of booleans is mask_term() (attention/terms.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/base/memory.h"
#include "heed/tensor/packed.h"

namespace heed {

// Where queries and keys of a batch stand. Sequence b has query_offsets.length(b) queries; the first of them stands at
// key position query_start[b] (so that a step of decoding, whose earlier keys are cached, is placed right).
struct AttentionLayout {
  Offsets queries, keys;
  PoolVector<std::int64_t> query_start;  // [B]
  std::int64_t position(std::int64_t sequence, std::int64_t query) const {
    return query_start[static_cast<std::size_t>(sequence)] + query;
  }
};

class Mask {
 public:
  Mask() = default;  // everything is seen

  // Keys at or before the query's own position.
  static Mask causal();
  // Keys from `left` places before the query's position to `right` places after it.
  static Mask window(std::int64_t left, std::int64_t right);
  // Causal, but all queries see the first `length` keys (prefix language model).
  static Mask prefix(std::int64_t length);
  // Sequence b has only the first lengths[b] keys; what follows is padding.
  static Mask lengths(std::vector<std::int64_t> lengths);
  // Several sentences packed in one sequence: a query sees the keys of its own segment. query_segments [Nq] and
  // key_segments [Nk] number them; the keys of one segment are neighbours.
  static Mask segments(std::vector<std::int64_t> query_segments, std::vector<std::int64_t> key_segments);
  static Mask segments(const std::vector<std::int64_t>& of_tokens) { return segments(of_tokens, of_tokens); }

  // Both must allow a key.
  friend Mask operator&(Mask a, const Mask& b);

  bool allows_all() const { return rules_.empty(); }
  // For each query token of the batch the first key it sees and the one after the last, counted from its sequence's
  // first key; end <= begin: none. Both spans have one element per query token.
  void intervals(const AttentionLayout& layout, std::span<std::int64_t> begin, std::span<std::int64_t> end) const;

 private:
  enum class Kind { causal, window, prefix, lengths, segments };
  struct Rule {
    Kind kind;
    std::int64_t left = 0, right = 0;
    std::vector<std::int64_t> query_values{}, key_values{};
  };
  explicit Mask(Rule rule) : rules_{std::move(rule)} {}
  static void check_rule(const Rule& rule, const AttentionLayout& layout);

  std::vector<Rule> rules_;
};

}  // namespace heed
