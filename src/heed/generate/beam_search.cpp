// Beam search as HuggingFace has it since v4.51, and with several groups as the releases before had it (Vijayakumar et
// al. 2018, diverse beam search).
//
// A step scores all continuations of a group's beams and takes the K = max(2, 1 + end ids) * width best. Of the first
// `width` of these, those that end are kept with score / length ^ length_penalty, the best `width` of all steps; the
// best others run on. A group closes when no beam can come out better than the worst it keeps.
#include <algorithm>
#include <cmath>

#include "heed/base/random.h"
#include "heed/generate/hypothesis.h"
#include "heed/generate/sample.h"
#include "heed/generate/selection.h"

namespace heed {
namespace {

struct Candidate {
  double score = 0;
  std::size_t beam = 0;
  TokenId id = 0;
};
bool better(const Candidate& a, const Candidate& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.beam != b.beam ? a.beam < b.beam : a.id < b.id;
}

// The best `limit` of those offered, in a heap with the worst on top.
class BestCandidates {
 public:
  explicit BestCandidates(std::size_t limit) : limit_(limit) {}
  void offer(const Candidate& candidate) {
    if (list_.size() == limit_) {
      if (!better(candidate, list_.front())) return;
      std::ranges::pop_heap(list_, better);
      list_.pop_back();
    }
    list_.push_back(candidate);
    std::ranges::push_heap(list_, better);
  }
  std::vector<Candidate> take() {
    std::ranges::sort(list_, better);
    return std::move(list_);
  }

 private:
  std::size_t limit_;
  std::vector<Candidate> list_;
};

class BeamSearch : public Search {
 public:
  explicit BeamSearch(SearchRules rules) : rules_(std::move(rules)) {
    const GenerateOptions& options = rules_.options();
    width_ = static_cast<std::size_t>(options.num_beams / options.num_beam_groups);
    groups_.resize(static_cast<std::size_t>(options.num_beam_groups));
    for (Group& group : groups_) group.beams.push_back({.sequence = Hypothesis(rules_.setup())});
  }

  void finish(FinishReason reason) override {
    for (Group& group : groups_) {
      if (!group.closed) keep_beams(group, reason);
    }
    started_ = true;
    next_.clear();
  }
  void finish_one(std::int64_t, FinishReason reason) override { finish(reason); }

  std::vector<Generation> results() override {
    std::vector<Generation> all;
    for (Group& group : groups_) std::ranges::move(group.kept, std::back_inserter(all));
    std::ranges::stable_sort(all, std::greater<>(), &Generation::score);
    const auto wanted = static_cast<std::size_t>(rules_.options().num_return_sequences);
    if (all.size() > wanted) all.resize(wanted);
    return all;
  }

 protected:
  void step(std::span<const float> logits) override {
    std::vector<TokenId> chosen;  // by the groups so far
    for (Group& group : groups_) {
      if (group.closed) continue;
      advance_group(group, logits, chosen);
    }
    for (Group& group : groups_) {
      if (group.closed) continue;
      for (Beam& beam : group.beams) {
        next_.push_back({static_cast<std::int64_t>(beam.row), beam.sequence.last().id});
        beam.row = next_.size() - 1;
      }
    }
  }

 private:
  struct Beam {
    Hypothesis sequence{};
    double score = 0;     // the sum of its log-probabilities after the rules
    std::size_t row = 0;  // of the logits that it reads
  };
  struct Group {
    std::vector<Beam> beams{};
    std::vector<Generation> kept{};  // best first
    bool closed = false;
  };

  bool is_grouped() const { return groups_.size() > 1; }

  void advance_group(Group& group, std::span<const float> logits, std::vector<TokenId>& chosen) {
    const std::vector<Candidate> candidates = best_continuations(group, logits, chosen);
    if (candidates.empty()) {
      if (group.kept.empty()) rules_.nothing_allowed(group.beams.front().sequence);
      group.closed = true;
      return;
    }
    std::vector<Beam> beams;
    for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
      Beam beam = continued(group, candidates[rank]);
      FinishReason reason = rules_.reason(beam.sequence);
      // Groups run to the limit like any other step and are kept after it.
      if (is_grouped() && reason == FinishReason::length) reason = FinishReason::none;
      if (reason == FinishReason::none) {
        beams.push_back(std::move(beam));
      } else if (rank < width_) {
        keep(group, beam, reason);
      }
    }
    std::ranges::stable_sort(beams, std::greater<>(), &Beam::score);
    if (beams.size() > width_) beams.resize(width_);
    group.beams = std::move(beams);
    for (const Beam& beam : group.beams) chosen.push_back(beam.sequence.last().id);
    const double best = is_grouped() ? candidates.front().score : best_score(group);
    group.closed = group.beams.empty() || is_complete(group, best);
    if (!group.closed && rules_.at_limit(group.beams.front().sequence)) {
      keep_beams(group, FinishReason::length);
      group.closed = true;
    }
  }

  std::vector<Candidate> best_continuations(const Group& group, std::span<const float> logits,
                                            std::span<const TokenId> chosen) {
    const auto vocabulary = static_cast<std::size_t>(rules_.setup().vocabulary);
    const std::size_t count = std::max<std::size_t>(2, 1 + rules_.end_count()) * width_;
    const std::uint64_t stream = stream_id("beams", rules_.setup().sequence);
    BestCandidates best(count);
    described_.clear();
    std::vector<float> totals;  // of all beams end to end, where they are drawn from
    for (std::size_t b = 0; b < group.beams.size(); ++b) {
      const Beam& beam = group.beams[b];
      const std::span<const float> row = logits.subspan(beam.row * vocabulary, vocabulary);
      const std::span<const float> scores =
          rules_.scores(beam.sequence, row, {.group_tokens = chosen, .stream = stream, .normalized = true});
      for (std::size_t i = 0; i < vocabulary; ++i) {
        const double total = beam.score + static_cast<double>(scores[i]);
        if (rules_.options().do_sample) {
          totals.push_back(static_cast<float>(total));
        } else if (scores[i] != kForbidden) {
          best.offer({total, b, static_cast<TokenId>(i)});
        }
      }
      described_.push_back(rules_.model_row());
    }
    return rules_.options().do_sample ? drawn(group, std::move(totals), count, stream) : best.take();
  }

  // Without replacement, in the order in which they are drawn.
  std::vector<Candidate> drawn(const Group& group, std::vector<float> totals, std::size_t count, std::uint64_t stream) {
    const auto vocabulary = static_cast<std::size_t>(rules_.setup().vocabulary);
    const std::size_t position = group.beams.front().sequence.ids().size();
    std::vector<Candidate> list;
    while (list.size() < count && std::ranges::any_of(totals, [](float total) { return total != kForbidden; })) {
      const double share = uniform_double(rules_.setup().seed, stream_id(stream, position), list.size());
      const auto place = static_cast<std::size_t>(sample(totals, share));
      list.push_back({totals[place], place / vocabulary, static_cast<TokenId>(place % vocabulary)});
      totals[place] = kForbidden;
    }
    return list;
  }

  Beam continued(const Group& group, const Candidate& candidate) const {
    const Beam& from = group.beams[candidate.beam];
    Beam beam{Hypothesis(from.sequence), candidate.score, from.row};
    beam.sequence.append(described_[candidate.beam].describe(candidate.id), rules_.is_end(candidate.id));
    return beam;
  }

  double ranked(double score, std::int64_t length) const {
    return score / std::pow(static_cast<double>(length), rules_.options().length_penalty);
  }

  void keep(Group& group, Beam& beam, FinishReason reason) {
    const double score = ranked(beam.score, std::max<std::int64_t>(beam.sequence.size(), 1));
    const auto place = std::ranges::upper_bound(group.kept, score, std::greater<>(), &Generation::score);
    group.kept.insert(place, beam.sequence.generation(score, reason));
    if (group.kept.size() > width_) group.kept.pop_back();
  }

  void keep_beams(Group& group, FinishReason reason) {
    for (Beam& beam : group.beams) keep(group, beam, reason);
  }

  static double best_score(const Group& group) { return group.beams.empty() ? kForbidden : group.beams.front().score; }

  bool is_complete(const Group& group, double best) const {
    if (group.kept.size() < width_) return false;
    const GenerateOptions& options = rules_.options();
    if (options.early_stopping == true) return true;
    const bool hopes = options.early_stopping == "never" && options.length_penalty > 0;
    const std::int64_t length = hopes ? rules_.limit() - rules_.prompt_length() : group.beams.front().sequence.size();
    return ranked(best, length) <= group.kept.back().score;
  }

  SearchRules rules_;
  std::size_t width_ = 1;
  std::vector<Group> groups_;
  std::vector<ModelRow> described_;  // what the model says of each beam's next token
};

}  // namespace

std::unique_ptr<Search> make_beam_search(SearchRules rules) {
  return std::make_unique<BeamSearch>(std::move(rules));
}

}  // namespace heed
