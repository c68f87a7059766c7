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

// Knuth's form of Dijkstra's algorithm: needs are found in ascending order, each from those that are known.
void find_needs(Automaton& automaton) {
  struct Before {
    StateId from;
    const Edge* edge;
  };
  const std::size_t count = automaton.states.size();
  std::vector<std::uint32_t> first(count + 1);
  const auto call_of = [](const Edge& edge) { return edge.kind == Edge::Kind::call; };
  const auto start_of = [&](const Edge& edge) { return automaton.rules[edge.index].start; };
  for (const Edge& edge : automaton.edges) {
    ++first[edge.target + 1];
    if (call_of(edge)) ++first[start_of(edge) + 1];
  }
  for (std::size_t i = 0; i < count; ++i) first[i + 1] += first[i];
  std::vector<Before> before(first[count]);  // edges that lead to a state, calls of the rule that starts in it
  std::vector<std::uint32_t> place(first.begin(), first.end() - 1);
  for (StateId from = 0; from < count; ++from) {
    for (const Edge& edge : automaton.edges_of(from)) {
      before[place[edge.target]++] = {from, &edge};
      if (call_of(edge)) before[place[start_of(edge)]++] = {from, &edge};
    }
  }

  using Found = std::pair<std::uint32_t, StateId>;
  std::priority_queue<Found, std::vector<Found>, std::greater<>> queue;
  for (StateId id = 0; id < count; ++id) {
    Automaton::State& state = automaton.states[id];
    state.need = Automaton::kNever;
    const bool free_end = state.counts && automaton.rules[state.rule].min == 0;
    const auto edges = automaton.edges_of(id);
    const bool round_ends = edges.size() == 1 && edges[0].kind == Edge::Kind::next;
    if (state.accept || free_end || round_ends) queue.emplace(0, id);
  }
  while (!queue.empty()) {
    const auto [need, id] = queue.top();
    queue.pop();
    if (automaton.states[id].need != Automaton::kNever) continue;
    automaton.states[id].need = need;
    for (std::uint32_t i = first[id]; i < first[id + 1]; ++i) {
      const auto& [from, edge] = before[i];
      if (edge->kind == Edge::Kind::next) continue;  // counted above: another round needs what the first did
      std::uint32_t total = need;
      if (call_of(*edge)) {
        const Automaton::State& target = automaton.states[edge->target];
        const std::uint32_t inside = automaton.states[start_of(*edge)].need;
        if (inside == Automaton::kNever || target.need == Automaton::kNever) continue;
        const std::uint32_t weight = target.tail ? 0 : automaton.rules[target.rule].weight;
        total = std::max(inside + weight, target.need);
      }
      queue.emplace(total, from);
    }
  }
  const std::uint32_t need = automaton.states[automaton.rules[automaton.root].start].need;
  HEED_CHECK_AS(bad_format, need != Automaton::kNever, automaton.what, ": no text fits, ",
                automaton.rules[automaton.root].name, " can never end");
  HEED_CHECK_AS(bad_format, need <= automaton.max_depth, automaton.what, ": every text is nested ", need,
                " levels deep, more than ", automaton.max_depth);
}

}  // namespace heed::constrain
