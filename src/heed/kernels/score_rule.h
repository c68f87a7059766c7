// What may happen to the scores of attention inside the kernel, tile by tile: the doors through which scores, terms and
// dropout of attention/, and of users, enter it.
#pragma once

#include <cstdint>

namespace heed::kernels {

// A tile of scores: rows are queries, columns keys; both counted from the start of their sequence. `scores` [queries,
// keys] has leading dimension ld; columns from `keys` to the end of the row of the tile are scratch.
template <class T>
struct ScoreTile {
  std::int64_t sequence, head;
  std::int64_t query_begin, queries;
  std::int64_t key_begin, keys;
  T* scores;
  std::int64_t ld;
};

// How raw scores come about, where it is not scale * q . k. Called from several threads, each with its own tile.
template <class T>
class ScoreFunction {
 public:
  virtual ~ScoreFunction() = default;
  // Fills tile.scores.
  virtual void scores(const ScoreTile<T>& tile) const = 0;
  // d_scores has the tile's place and holds d loss / d score; adds to the gradients of the function's own inputs.
  // Tiles of one (sequence, key head) come from one thread, queries ascending inside keys ascending.
  virtual void backward(const ScoreTile<T>& d_scores) = 0;
};

// What happens to scores before the softmax: biases, soft-cap, masks that are not intervals (-inf), user functions.
template <class T>
class ScoreRule {
 public:
  virtual ~ScoreRule() = default;
  virtual void apply(const ScoreTile<T>& tile) const = 0;
  // `before` are the scores that apply() was given, `after` what it made of them. Turns d_scores from d loss / d after
  // into d loss / d before, and adds to the gradients of the rule's own parameters.
  virtual void backward(const ScoreTile<T>& before, const ScoreTile<T>& after, const ScoreTile<T>& d_scores) = 0;
  // A rule with parameters that sequences share wants its backward() calls of one head in order of sequences, from one
  // thread at a time.
  virtual bool has_shared_parameters() const { return false; }
};

// What weights are multiplied by after the softmax, as dropout does it. Called from several threads.
template <class T>
class WeightFactors {
 public:
  virtual ~WeightFactors() = default;
  // Fills tile.scores with the factors of that place: the same ones in every pass.
  virtual void fill(const ScoreTile<T>& tile) const = 0;
};

}  // namespace heed::kernels
