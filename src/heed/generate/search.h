// How the tokens of one prompt are found, step by step, without a model: a search says which rows it has and what each
// feeds next, is given their scores, and goes on until it is done. Greedy, sampled and beam search look alike.
//
//   search->rows() == 1 at first: the prompt itself. Then, until done():
//     logits [rows, V] of the last token of each row -> advance() -> next(): the rows of the following step
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generate/options.h"
#include "heed/generate/rule.h"
#include "heed/generate/rule_list.h"
#include "heed/generate/stop_text.h"

namespace heed {

// stop: an end id, a stop string, the caller or a constraint; length: the limit; time: max_time.
enum class FinishReason { none, stop, length, time, cancelled };
std::string_view to_string(FinishReason reason);

struct ScoredToken {
  TokenId id = 0;
  float log_probability = 0;  // by the model itself, before any rule
};
struct GeneratedToken : ScoredToken {
  std::vector<ScoredToken> alternatives{};  // the model's best, if asked for
};

struct Generation {
  std::vector<GeneratedToken> tokens{};  // without the prompt, with the end id if there is one
  std::string text{};                    // if there is a tokenizer; without end ids and stop strings
  // Beams: what they are ranked by. Else the sum of log-probabilities.
  double score = 0;
  FinishReason reason = FinishReason::none;
  bool whole = true;  // false: it ended before it followed its constraint

  std::vector<TokenId> ids() const;
};

// A token as it is found, of a search that does not take it back, and text. The texts of a generation are, end to end,
// that of its result: what waited to the end, and all of a beam's, comes without a token.
struct TokenEvent {
  std::int64_t generation = 0;  // which of num_return_sequences
  const GeneratedToken* token = nullptr;
  std::string_view text{};  // that became certain
};

struct SearchSetup {
  std::vector<TokenId> prompt{};
  GenerateOptions options{};
  std::int64_t vocabulary = 0;
  std::int64_t longest = 0;  // tokens that the model takes; 0: any number
  std::uint64_t seed = 0, sequence = 0;
  std::int64_t alternatives = 0;
  std::vector<TokenId> encoder_ids{};
  AllowedTokens allowed_tokens{};
  std::shared_ptr<const RowConstraint> constraint{};
  const text::Tokenizer* tokenizer = nullptr;
  std::string name = "[generate]";  // begins errors
};

struct Feed {
  std::int64_t source = 0;  // the row of the step before that it continues
  TokenId token = 0;
};

class Search {
 public:
  virtual ~Search() = default;
  std::int64_t rows() const { return started_ ? static_cast<std::int64_t>(next_.size()) : 1; }
  std::span<const Feed> next() const { return next_; }
  // Throws if the scores are NaN, or if no token may come next.
  void advance(std::span<const float> logits) {
    started_ = true;
    next_.clear();
    step(logits);
  }
  bool done() const { return started_ && next_.empty(); }
  // Ends it where it is.
  virtual void finish(FinishReason reason) = 0;
  // One of its generations only; the others go on.
  virtual void finish_one(std::int64_t generation, FinishReason reason) = 0;
  // Tokens of the last advance(). The text views live until the next.
  virtual std::vector<TokenEvent> events() const { return {}; }
  virtual std::vector<Generation> results() = 0;

 protected:
  virtual void step(std::span<const float> logits) = 0;
  bool started_ = false;
  std::vector<Feed> next_;
};

// By the options. Throws invalid_argument for what does not fit together: an empty prompt, ids outside the vocabulary,
// a prompt that leaves no room, stop strings without a tokenizer.
std::unique_ptr<Search> make_search(SearchSetup setup);

}  // namespace heed
