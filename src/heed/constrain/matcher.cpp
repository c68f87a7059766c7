#include "heed/constrain/matcher.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed::constrain {
namespace {

// More ways to read one text than any sensible grammar has.
constexpr std::size_t kMaxFrames = 1 << 15;

std::uint64_t hash_of(std::span<const Frame> frames, bool ends) {
  std::uint64_t hash = ends;
  for (const Frame& frame : frames) {
    hash = detail::mix64(hash + (std::uint64_t{frame.state} << 32 | frame.count));
    hash = detail::mix64(hash + frame.rest);
  }
  return hash;
}

}  // namespace

Matcher::Matcher(std::shared_ptr<const Automaton> automaton) : automaton_(std::move(automaton)), slots_(1024) {
  rows_.push_back(0);  // row 0 is nobody's
  intern({}, true);
  intern({}, false);
}

StackSet Matcher::start() {
  return close({{automaton_->rules[automaton_->root].start, 0, kDone}});
}

StackSet Matcher::read(StackSet set, std::string_view bytes) {
  for (const char byte : bytes) {
    if (set == kDead) break;
    set = step(set, static_cast<std::uint8_t>(byte));
  }
  return set;
}

StackSet Matcher::compute_step(StackSet set, std::uint8_t byte_class) {
  const std::uint8_t byte = automaton_->byte_of_class[byte_class];
  std::vector<Frame> work;
  for (const Frame& frame : frames(set)) {
    for (const Edge& edge : automaton_->edges_of(frame.state)) {
      if (edge.kind != Edge::Kind::byte || byte < edge.low || byte > edge.high) continue;
      work.push_back({edge.target, frame.count, frame.rest});
    }
  }
  const StackSet next = work.empty() ? kDead : close(work);
  if (info_[set].row == 0) {
    info_[set].row = static_cast<std::uint32_t>(rows_.size());
    rows_.resize(rows_.size() + automaton_->byte_of_class.size(), kUnknown);
  }
  rows_[info_[set].row + byte_class] = next;
  return next;
}

StackSet Matcher::resume(StackSet rest) {
  if (const auto known = resumed_.find(rest); known != resumed_.end()) return known->second;
  const auto returns = frames(rest);
  StackSet result = close({returns.begin(), returns.end()});
  if (ends(rest)) result = unite(result, kDone);
  resumed_[rest] = result;
  return result;
}

// Follows every edge that reads nothing, until frames are left that read.
//
// A state is passed with all that may lie below it at once, callers before those they call: the ways to come to a rule
// multiply from level to level, but the states do not.
class Matcher::Closure {
 public:
  explicit Closure(Matcher& matcher) : matcher_(matcher), automaton_(*matcher.automaton_) {}

  void add(const Frame& frame) {
    if (!fits(frame.state, frame.rest)) return;
    StackSet rest = frame.rest;
    const auto covers = [&](StackSet known) { return (rest = matcher_.unite(known, rest)) == known; };
    const auto done = done_.find({frame.state, frame.count});
    if (done != done_.end() && covers(done->second)) return;
    const Automaton::Rule& rule = automaton_.rules[automaton_.states[frame.state].rule];
    // Of rounds beyond the minimum only the least number counts: it allows all that a larger one does. Rounds that read
    // nothing come to an end by this.
    if (automaton_.states[frame.state].counts && frame.count > rule.min) {
      const auto less = done_.find({frame.state, frame.count - 1});
      if (less != done_.end() && matcher_.unite(less->second, rest) == less->second) return;
    }
    const auto [place, fresh] = pending_.try_emplace({rule.rank, frame.state, frame.count}, rest);
    if (!fresh) place->second = matcher_.unite(place->second, rest);
  }

  StackSet run() {
    for (std::size_t passed = 0; !pending_.empty(); ++passed) {
      HEED_CHECK(passed <= 16 * kMaxFrames, automaton_.what, ": the text so far can be read in too many ways");
      const auto first = pending_.begin();
      const Frame frame{std::get<1>(first->first), std::get<2>(first->first), first->second};
      pending_.erase(first);
      done_[{frame.state, frame.count}] = frame.rest;
      pass(frame);
    }
    std::vector<Frame> found;
    for (const auto& [key, rest] : done_) {
      if (automaton_.states[key.first].reads) found.push_back({key.first, key.second, rest});
    }
    matcher_.normalize(found);
    const StackSet result = matcher_.intern(found, whole_);
    matcher_.info_[result].reach = std::max(matcher_.info_[result].reach, reach_);
    return result;
  }

 private:
  bool fits(StateId state, StackSet rest) {
    const std::uint32_t need = automaton_.states[state].need;
    if (need == Automaton::kNever) return false;
    const std::uint32_t depth = need + matcher_.info_[rest].depth;
    reach_ = std::max(reach_, depth);
    return depth <= automaton_.max_depth;
  }

  void end_rule(StackSet rest) {
    whole_ |= matcher_.ends(rest);
    const std::vector<Frame> returns(matcher_.frames(rest).begin(), matcher_.frames(rest).end());
    for (const Frame& frame : returns) add(frame);
  }

  void pass(const Frame& frame) {
    const Automaton::State& state = automaton_.states[frame.state];
    const Automaton::Rule& rule = automaton_.rules[state.rule];
    if (state.accept || (state.counts && frame.count >= rule.min)) end_rule(frame.rest);
    if (state.counts && frame.count >= rule.max) return;
    for (const Edge& edge : automaton_.edges_of(frame.state)) {
      if (edge.kind == Edge::Kind::empty) add({edge.target, frame.count, frame.rest});
      if (edge.kind == Edge::Kind::next) {
        // Without a maximum, rounds beyond the minimum need not be told apart.
        const bool counted = rule.max != kUnbounded || frame.count < rule.min;
        add({edge.target, counted ? frame.count + 1 : frame.count, frame.rest});
      }
      if (edge.kind == Edge::Kind::call) {
        StackSet rest = frame.rest;
        if (!automaton_.states[edge.target].tail) {
          if (!fits(edge.target, frame.rest)) continue;
          rest = matcher_.only({edge.target, frame.count, frame.rest});
        }
        add({automaton_.rules[edge.index].start, 0, rest});
      }
    }
  }

  Matcher& matcher_;
  const Automaton& automaton_;
  std::map<std::tuple<std::uint32_t, StateId, std::uint32_t>, StackSet> pending_;  // by rank, state and count
  std::map<std::pair<StateId, std::uint32_t>, StackSet> done_;
  bool whole_ = false;
  std::uint32_t reach_ = 0;
};

StackSet Matcher::close(const std::vector<Frame>& frames_to_close) {
  Closure closure(*this);
  for (const Frame& frame : frames_to_close) closure.add(frame);
  return closure.run();
}

// Sorted; of frames that differ in what lies below, one with all of that.
void Matcher::normalize(std::vector<Frame>& frames) {
  std::sort(frames.begin(), frames.end(), [](const Frame& a, const Frame& b) {
    return std::tie(a.state, a.rest, a.count) < std::tie(b.state, b.rest, b.count);
  });
  const auto covered = [&](const Frame& before, const Frame& frame) {
    return before == frame || (before.state == frame.state && before.rest == frame.rest &&
                               before.count >= automaton_->rules[automaton_->states[frame.state].rule].min);
  };
  frames.erase(std::unique(frames.begin(), frames.end(), covered), frames.end());
  std::sort(frames.begin(), frames.end());
  std::size_t kept = 0;
  for (const Frame& frame : frames) {
    if (kept > 0 && frames[kept - 1].state == frame.state && frames[kept - 1].count == frame.count) {
      frames[kept - 1].rest = unite(frames[kept - 1].rest, frame.rest);
    } else {
      frames[kept++] = frame;
    }
  }
  frames.resize(kept);
  HEED_CHECK(kept <= kMaxFrames, automaton_->what, ": the text so far can be read in more than ", kMaxFrames, " ways");
}

StackSet Matcher::unite(StackSet a, StackSet b) {
  if (a == b || b == kDead) return a;
  if (a == kDead) return b;
  if (a > b) std::swap(a, b);
  const std::uint64_t key = std::uint64_t{a} << 32 | b;
  if (const auto known = unions_.find(key); known != unions_.end()) return known->second;
  std::vector<Frame> all;
  for (const StackSet set : {a, b}) all.insert(all.end(), frames(set).begin(), frames(set).end());
  const std::uint32_t reach = std::max(info_[a].reach, info_[b].reach);
  const bool whole = ends(a) || ends(b);
  normalize(all);  // as deep in calls as the stacks are, which max_depth bounds
  const StackSet result = intern(all, whole);
  info_[result].reach = std::max(info_[result].reach, reach);
  unions_[key] = result;
  return result;
}

StackSet Matcher::intern(const std::vector<Frame>& frames_of_set, bool whole) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_of(frames_of_set, whole) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const StackSet known = slots_[slot] - 1;
    if (info_[known].ends == whole && std::ranges::equal(frames(known), frames_of_set)) return known;
  }
  Info info{.first = static_cast<std::uint32_t>(frames_.size()),
            .count = static_cast<std::uint32_t>(frames_of_set.size()),
            .shortest = whole ? 0 : Automaton::kNever,
            .ends = whole};
  for (const Frame& frame : frames_of_set) {
    const std::uint32_t weight = automaton_->rules[automaton_->states[frame.state].rule].weight;
    info.depth = std::max(info.depth, info_[frame.rest].depth + weight);
    info.shortest = std::min(info.shortest, shortest(frame));
  }
  frames_.insert(frames_.end(), frames_of_set.begin(), frames_of_set.end());
  info_.push_back(info);
  slots_[slot] = static_cast<StackSet>(info_.size());
  if (info_.size() * 2 > slots_.size()) grow();
  return static_cast<StackSet>(info_.size() - 1);
}

std::uint32_t Matcher::shortest(const Frame& frame) const {
  const Automaton::State& state = automaton_->states[frame.state];
  const Automaton::Rule& rule = automaton_->rules[state.rule];
  std::uint64_t length = state.shortest;
  if (rule.counting && rule.min > 0) {
    // The first state has all rounds that must be, the others have what is left of one.
    const std::uint64_t round = automaton_->states[rule.start].shortest / rule.min;
    const std::uint32_t begun = frame.count + (state.counts ? 0 : 1);
    const std::uint64_t more = rule.min > begun ? rule.min - begun : 0;
    length = (state.counts ? 0 : length) + more * round;
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(length + shortest(frame.rest), Automaton::kNever - 1));
}

void Matcher::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const std::size_t mask = slots_.size() - 1;
  for (StackSet set = 0; set < info_.size(); ++set) {
    std::size_t slot = hash_of(frames(set), info_[set].ends) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = set + 1;
  }
}

std::size_t Matcher::bytes() const {
  return info_.size() * sizeof(Info) + frames_.size() * sizeof(Frame) + (slots_.size() + rows_.size()) * 4 +
         (unions_.size() + resumed_.size()) * 48;
}

StackSet Matcher::import(const Matcher& other, StackSet set) {
  std::unordered_map<StackSet, StackSet> known{{kDone, kDone}, {kDead, kDead}};
  return import(other, set, known);
}

StackSet Matcher::import(const Matcher& other, StackSet set, std::unordered_map<StackSet, StackSet>& known) {
  if (const auto found = known.find(set); found != known.end()) return found->second;
  std::vector<Frame> copy(other.frames(set).begin(), other.frames(set).end());
  for (Frame& frame : copy) frame.rest = import(other, frame.rest, known);
  std::sort(copy.begin(), copy.end());
  const StackSet result = intern(copy, other.ends(set));
  info_[result].reach = std::max(info_[result].reach, other.reach(set));
  return known[set] = result;
}

}  // namespace heed::constrain
