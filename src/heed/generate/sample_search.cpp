// Greedy search and sampling; several sequences of one prompt are forks after it.
#include <algorithm>

#include "heed/base/random.h"
#include "heed/generate/hypothesis.h"
#include "heed/generate/sample.h"
#include "heed/generate/selection.h"

namespace heed {
namespace {

class SampleSearch : public Search {
 public:
  explicit SampleSearch(SearchRules rules) : rules_(std::move(rules)) {
    for (std::int64_t i = 0; i < rules_.options().num_return_sequences; ++i) {
      forks_.push_back(
          {.sequence = Hypothesis(rules_.setup()), .stream = stream_id("sample", rules_.setup().sequence, i)});
    }
  }

  void finish(FinishReason reason) override {
    started_ = true;
    next_.clear();
    for (Fork& fork : forks_) {
      if (fork.reason == FinishReason::none) fork.reason = reason;
    }
  }

  void finish_one(std::int64_t generation, FinishReason reason) override {
    FinishReason& own = forks_[static_cast<std::size_t>(generation)].reason;
    if (own != FinishReason::none) return;
    own = reason;
    refill(/*same_step=*/true);
  }

  std::vector<TokenEvent> events() const override {
    std::vector<TokenEvent> list;
    for (const std::size_t i : moved_) {
      const Hypothesis& sequence = forks_[i].sequence;
      list.push_back({static_cast<std::int64_t>(i), &sequence.last(), sequence.fresh_text()});
    }
    return list;
  }

  std::vector<Generation> results() override {
    std::vector<Generation> list;
    for (Fork& fork : forks_) {
      list.push_back(fork.sequence.generation(fork.sequence.log_probability(), fork.reason));
    }
    return list;
  }

 protected:
  void step(std::span<const float> logits) override {
    const auto vocabulary = static_cast<std::size_t>(rules_.setup().vocabulary);
    moved_.clear();
    for (std::size_t i = 0; i < forks_.size(); ++i) {
      if (forks_[i].reason != FinishReason::none) continue;
      move(forks_[i], logits.subspan(forks_[i].row * vocabulary, vocabulary));
      if (forks_[i].moved) moved_.push_back(i);
    }
    refill(/*same_step=*/false);
  }

 private:
  struct Fork {
    Hypothesis sequence{};
    std::uint64_t stream = 0;
    FinishReason reason = FinishReason::none;
    std::size_t row = 0, source = 0;  // of the logits that it reads, and of those that it read before
    bool moved = false;
  };

  void move(Fork& fork, std::span<const float> logits) {
    Hypothesis& sequence = fork.sequence;
    const std::span<const float> scores = rules_.scores(sequence, logits, {.stream = fork.stream});
    const auto best = std::ranges::max_element(scores);
    fork.moved = *best != kForbidden;
    if (!fork.moved) {
      // A constraint that is complete ends a sequence even where there is no end id.
      if (!sequence.constraint() || !sequence.constraint()->can_end()) rules_.nothing_allowed(sequence);
      fork.reason = FinishReason::stop;
      return;
    }
    auto id = static_cast<TokenId>(best - scores.begin());
    if (rules_.options().do_sample) {
      id = sample(scores, uniform_double(rules_.setup().seed, fork.stream, sequence.ids().size()));
    }
    sequence.append(rules_.model_row().describe(id), rules_.is_end(id));
    fork.reason = rules_.reason(sequence);
  }

  // The rows of those that go on. Within a step, sources stay what they were.
  void refill(bool same_step) {
    next_.clear();
    for (Fork& fork : forks_) {
      if (fork.reason != FinishReason::none) continue;
      if (!same_step) fork.source = fork.row;
      fork.row = next_.size();
      next_.push_back({static_cast<std::int64_t>(fork.source), fork.sequence.last().id});
    }
  }

  SearchRules rules_;
  std::vector<Fork> forks_;
  std::vector<std::size_t> moved_;
};

}  // namespace

std::unique_ptr<Search> make_sample_search(SearchRules rules) {
  return std::make_unique<SampleSearch>(std::move(rules));
}

}  // namespace heed
