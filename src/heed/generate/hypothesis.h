// What searches share: one sequence as far as it is known, and its scores made ready for a choice.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heed/generate/search.h"

namespace heed {

class Hypothesis {
 public:
  Hypothesis() = default;
  explicit Hypothesis(const SearchSetup& setup);
  Hypothesis(const Hypothesis& other);
  Hypothesis(Hypothesis&&) noexcept = default;
  Hypothesis& operator=(Hypothesis&&) noexcept = default;

  void append(GeneratedToken token, bool is_end);
  // Whether a stop string ended it.
  bool stopped() const { return text_ && text_->stopped(); }
  Generation generation(double score, FinishReason reason);

  std::span<const TokenId> ids() const { return ids_; }
  const RowConstraint* constraint() const { return constraint_.get(); }
  const GeneratedToken& last() const { return tokens_.back(); }
  std::string_view fresh_text() const { return fresh_; }  // what the last token made certain
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  double log_probability() const;

 private:
  std::vector<TokenId> ids_;  // with the prompt
  std::vector<GeneratedToken> tokens_;
  std::unique_ptr<RowConstraint> constraint_;
  std::unique_ptr<StopText> text_;
  std::string given_, fresh_;
};

// What the model itself says of the next token of a row, before any rule.
struct ModelRow {
  std::span<const float> logits{};
  float log_total = 0;                      // log sum exp
  std::vector<ScoredToken> alternatives{};  // the best, if asked for
  GeneratedToken describe(TokenId id) const;
};

// Rules, limits and scores of a request.
class SearchRules {
 public:
  explicit SearchRules(SearchSetup setup);

  struct Row {
    std::span<const TokenId> group_tokens{};
    std::uint64_t stream = 0;
    bool normalized = false;  // rules see log-probabilities, as beams have it
  };
  // The scores after all rules and the constraint. They last until the next call; the logits are the caller's.
  std::span<const float> scores(const Hypothesis& hypothesis, std::span<const float> logits, const Row& row);
  // Of the row that scores() was last given.
  const ModelRow& model_row() const { return model_row_; }

  bool is_end(TokenId id) const;
  bool at_limit(const Hypothesis& hypothesis) const { return std::ssize(hypothesis.ids()) >= limit_; }
  FinishReason reason(const Hypothesis& hypothesis) const;
  [[noreturn]] void nothing_allowed(const Hypothesis& hypothesis) const;
  const SearchSetup& setup() const { return setup_; }
  const GenerateOptions& options() const { return setup_.options; }
  std::int64_t limit() const { return limit_; }
  std::int64_t prompt_length() const { return static_cast<std::int64_t>(setup_.prompt.size()); }
  std::size_t end_count() const { return ends_.size(); }

 private:
  void constrain(const RowConstraint& constraint, std::int64_t left);

  SearchSetup setup_;
  std::int64_t limit_;
  std::vector<TokenId> ends_;
  RuleList rules_;
  std::vector<float> scores_;
  ModelRow model_row_;
};

std::unique_ptr<Search> make_sample_search(SearchRules rules);
std::unique_ptr<Search> make_beam_search(SearchRules rules);

}  // namespace heed
