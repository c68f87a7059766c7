#include "heed/constrain/analysis.h"

#include <algorithm>
#include <queue>

#include "heed/base/error.h"

namespace heed::constrain {
namespace {

// Walks from the start of every rule over all that can be passed without reading, and notes which rules that calls.
class EmptyWalk {
 public:
  explicit EmptyWalk(Automaton& automaton)
      : automaton_(automaton),
        nullable_(automaton.rules.size()),
        waiting_(automaton.rules.size()),
        seen_(automaton.states.size()),
        calls_(automaton.rules.size()) {
    for (const Automaton::Rule& rule : automaton.rules) visit(rule.start);
    while (!work_.empty()) {
      const StateId state = work_.back();
      work_.pop_back();
      pass(state);
    }
  }

  // calls()[rule]: what it calls before it reads.
  const std::vector<std::vector<RuleId>>& calls() const { return calls_; }

 private:
  void visit(StateId state) {
    if (seen_[state]) return;
    seen_[state] = true;
    work_.push_back(state);
  }

  void pass(StateId id) {
    const Automaton::State& state = automaton_.states[id];
    Automaton::Rule& rule = automaton_.rules[state.rule];
    if (state.accept || (state.counts && rule.min == 0)) set_nullable(state.rule);
    for (const Edge& edge : automaton_.edges_of(id)) {
      if (edge.kind == Edge::Kind::empty) visit(edge.target);
      if (edge.kind == Edge::Kind::next) {
        rule.min = 0;
        set_nullable(state.rule);
      }
      if (edge.kind == Edge::Kind::call) {
        calls_[state.rule].push_back(edge.index);
        if (nullable_[edge.index]) {
          visit(edge.target);
        } else {
          waiting_[edge.index].push_back(edge.target);
        }
      }
    }
  }

  void set_nullable(RuleId rule) {
    if (nullable_[rule]) return;
    nullable_[rule] = true;
    for (const StateId state : waiting_[rule]) visit(state);
  }

  Automaton& automaton_;
  std::vector<bool> nullable_;
  std::vector<std::vector<StateId>> waiting_;  // where to go on once a rule is known to match nothing
  std::vector<bool> seen_;
  std::vector<std::vector<RuleId>> calls_;
  std::vector<StateId> work_;
};

[[noreturn]] void refuse_cycle(const Automaton& automaton, const std::vector<RuleId>& path, RuleId again) {
  const auto begin = std::find(path.begin(), path.end(), again);
  std::string names;
  for (auto at = begin; at != path.end() && at - begin < 20; ++at) {
    if (!automaton.rules[*at].counting) names += automaton.rules[*at].name + " -> ";
  }
  fail(ErrorKind::bad_format, automaton.what,
       ": left recursion, a rule leads back to itself before anything is read: ", names, automaton.rules[again].name);
}

// The edges that lead to each state, and the calls of the rule that starts in it.
class EdgesBefore {
 public:
  struct Before {
    StateId from;
    const Edge* edge;
  };

  explicit EdgesBefore(const Automaton& automaton) : first_(automaton.states.size() + 1) {
    each(automaton, [&](StateId to, const Before&) { ++first_[to + 1]; });
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    all_.resize(first_.back());
    std::vector<std::uint32_t> place(first_.begin(), first_.end() - 1);
    each(automaton, [&](StateId to, const Before& before) { all_[place[to]++] = before; });
  }
  std::span<const Before> of(StateId to) const { return {all_.data() + first_[to], first_[to + 1] - first_[to]}; }

 private:
  template <class Use>
  static void each(const Automaton& automaton, const Use& use) {
    for (StateId from = 0; from < automaton.states.size(); ++from) {
      for (const Edge& edge : automaton.edges_of(from)) {
        use(edge.target, {from, &edge});
        if (edge.kind == Edge::Kind::call) use(automaton.rules[edge.index].start, {from, &edge});
      }
    }
  }

  std::vector<std::uint32_t> first_;
  std::vector<Before> all_;
};

// The least value of each state, 0 where a rule or a round of one ends, by Knuth's form of Dijkstra's algorithm: values
// are found in ascending order, each from those that are known. `value(from, edge, inside, after)` is that of a way by
// an edge, from that of the rule that it calls and that of its target, and below neither.
template <class Value>
void find_least(Automaton& automaton, std::uint32_t Automaton::State::*least, const Value& value) {
  const EdgesBefore before(automaton);
  using Found = std::pair<std::uint32_t, StateId>;
  std::priority_queue<Found, std::vector<Found>, std::greater<>> queue;
  for (StateId id = 0; id < automaton.states.size(); ++id) {
    Automaton::State& state = automaton.states[id];
    state.*least = Automaton::kNever;
    const bool free_end = state.counts && automaton.rules[state.rule].min == 0;
    const auto edges = automaton.edges_of(id);
    const bool round_ends = edges.size() == 1 && edges[0].kind == Edge::Kind::next;
    if (state.accept || free_end || round_ends) queue.emplace(0, id);
  }
  while (!queue.empty()) {
    const auto [found, id] = queue.top();
    queue.pop();
    if (automaton.states[id].*least != Automaton::kNever) continue;
    automaton.states[id].*least = found;
    for (const auto& [from, edge] : before.of(id)) {
      if (edge->kind == Edge::Kind::next) continue;  // counted above
      const bool calls = edge->kind == Edge::Kind::call;
      const std::uint32_t inside = calls ? automaton.states[automaton.rules[edge->index].start].*least : 0;
      const std::uint32_t after = automaton.states[edge->target].*least;
      if (inside == Automaton::kNever || after == Automaton::kNever) continue;
      queue.emplace(value(automaton.states[from], *edge, inside, after), from);
    }
  }
}

}  // namespace

void check_left_recursion(Automaton& automaton) {
  const EmptyWalk walk(automaton);
  enum : char { kNew, kOpen, kDone };
  std::vector<char> mark(automaton.rules.size(), kNew);
  std::vector<RuleId> path;
  auto rank = static_cast<std::uint32_t>(automaton.rules.size());
  std::vector<std::size_t> next;  // of the calls of each rule of the path
  for (RuleId root = 0; root < automaton.rules.size(); ++root) {
    if (mark[root] != kNew) continue;
    path.assign(1, root);
    next.assign(1, 0);
    mark[root] = kOpen;
    while (!path.empty()) {
      const auto& calls = walk.calls()[path.back()];
      if (next.back() == calls.size()) {
        mark[path.back()] = kDone;
        automaton.rules[path.back()].rank = rank--;
        path.pop_back();
        next.pop_back();
        continue;
      }
      const RuleId called = calls[next.back()++];
      if (mark[called] == kOpen) refuse_cycle(automaton, path, called);
      if (mark[called] != kNew) continue;
      mark[called] = kOpen;
      path.push_back(called);
      next.push_back(0);
    }
  }
}

void find_shortest(Automaton& automaton) {
  const auto length = [&](const Automaton::State& from, const Edge& edge, std::uint64_t inside, std::uint64_t after) {
    const bool reads = edge.kind == Edge::Kind::byte || edge.kind == Edge::Kind::token;
    const std::uint64_t rounds = from.counts ? automaton.rules[from.rule].min : 1;
    const std::uint64_t total = ((reads ? 1 : 0) + inside + after) * rounds;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(total, Automaton::kNever - 1));
  };
  find_least(automaton, &Automaton::State::shortest, length);
}

void find_needs(Automaton& automaton) {
  // Another round needs what the first did.
  const auto depth = [&](const Automaton::State&, const Edge& edge, std::uint32_t inside, std::uint32_t after) {
    const Automaton::State& target = automaton.states[edge.target];
    const bool returns = edge.kind == Edge::Kind::call && !target.tail;
    return std::max(inside + (returns ? automaton.rules[target.rule].weight : 0), after);
  };
  find_least(automaton, &Automaton::State::need, depth);
  const std::uint32_t need = automaton.states[automaton.rules[automaton.root].start].need;
  HEED_CHECK_AS(bad_format, need != Automaton::kNever, automaton.what, ": no text fits, ",
                automaton.rules[automaton.root].name, " can never end");
  HEED_CHECK_AS(bad_format, need <= automaton.max_depth, automaton.what, ": every text is nested ", need,
                " levels deep, more than ", automaton.max_depth);
}

}  // namespace heed::constrain
