#include "heed/constrain/automaton.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "heed/base/error.h"
#include "heed/constrain/analysis.h"

namespace heed::constrain {
namespace {

constexpr std::size_t kMaxStates = std::size_t{1} << 21;
constexpr std::size_t kMaxEdges = std::size_t{1} << 22;

class Compiler {
 public:
  explicit Compiler(const Grammar& grammar) : grammar_(grammar) {}

  Automaton run() {
    result_.what = grammar_.what();
    result_.max_depth = grammar_.max_depth();
    result_.root = grammar_.root();
    result_.tokens = grammar_.tokens();
    for (const Grammar::Rule& rule : grammar_.rules()) {
      HEED_CHECK_AS(bad_format, rule.body, grammar_.what(), ": rule ", rule.name, " is not defined");
      result_.rules.push_back({.name = rule.name, .weight = rule.weight});
    }
    for (RuleId rule = 0; rule < grammar_.rules().size(); ++rule) {
      rule_ = rule;
      const StateId start = add_state(), end = add_state();
      result_.rules[rule].start = start;
      result_.rules[rule].end = end;
      add(*grammar_.rules()[rule].body, start, end);
      result_.states[end].accept = true;
    }
    sort_edges();
    mark_states();
    find_classes();
    return std::move(result_);
  }

 private:
  StateId add_state() {
    HEED_CHECK_AS(bad_format, result_.states.size() < kMaxStates, grammar_.what(), ": too large, more than ",
                  kMaxStates, " states");
    result_.states.push_back({.rule = rule_});
    return static_cast<StateId>(result_.states.size() - 1);
  }

  void add_edge(StateId from, const Edge& edge) {
    HEED_CHECK_AS(bad_format, edges_.size() < kMaxEdges, grammar_.what(), ": too large, more than ", kMaxEdges,
                  " edges");
    edges_.emplace_back(from, edge);
  }
  void add_empty(StateId from, StateId to) { add_edge(from, {Edge::Kind::empty, 0, 0, to, 0}); }

  // Ways from one state to another that read what the expression matches. Front ends bound how deep expressions nest.
  void add(ExpressionId id, StateId from, StateId to) {
    const Grammar::Expression expression = grammar_.at(id);
    switch (expression.kind) {
      case Grammar::Kind::literal: return add_literal(grammar_.literal_of(expression), from, to);
      case Grammar::Kind::chars: return add_chars(grammar_.set_of(expression), from, to);
      case Grammar::Kind::sequence: return add_sequence(expression, from, to);
      case Grammar::Kind::choice:
        for (std::uint32_t i = 0; i < expression.count; ++i) add(grammar_.children(expression)[i], from, to);
        return;
      case Grammar::Kind::repeat: return add_repeat(expression, from, to);
      case Grammar::Kind::rule: return add_edge(from, {Edge::Kind::call, 0, 0, to, expression.index});
      case Grammar::Kind::token: return add_edge(from, {Edge::Kind::token, 0, 0, to, expression.index});
    }
  }

  void add_sequence(const Grammar::Expression& expression, StateId from, StateId to) {
    if (expression.count == 0) add_empty(from, to);
    for (std::uint32_t i = 0; i < expression.count; ++i) {
      const StateId next = i + 1 == expression.count ? to : add_state();
      add(grammar_.children(expression)[i], from, next);
      from = next;
    }
  }

  void add_literal(const std::string& bytes, StateId from, StateId to) {
    if (bytes.empty()) add_empty(from, to);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const StateId next = i + 1 == bytes.size() ? to : add_state();
      const auto byte = static_cast<std::uint8_t>(bytes[i]);
      add_edge(from, {Edge::Kind::byte, byte, byte, next, 0});
      from = next;
    }
  }

  void add_chars(const CharSet& set, StateId from, StateId to) {
    std::map<std::tuple<StateId, std::uint8_t, std::uint8_t>, StateId> shared;  // sequences that begin alike
    for (const ByteSequence& bytes : utf8_sequences(set)) {
      StateId state = from;
      for (int i = 0; i + 1 < bytes.length; ++i) {
        const auto [place, fresh] = shared.try_emplace({state, bytes.low[i], bytes.high[i]});
        if (fresh) {
          place->second = add_state();
          add_edge(state, {Edge::Kind::byte, bytes.low[i], bytes.high[i], place->second, 0});
        }
        state = place->second;
      }
      const int last = bytes.length - 1;
      add_edge(state, {Edge::Kind::byte, bytes.low[last], bytes.high[last], to, 0});
    }
  }

  void add_repeat(const Grammar::Expression& repeat, StateId from, StateId to) {
    if (repeat.max == 0) return add_empty(from, to);
    if (repeat.min <= 1 && repeat.max == 1) {
      if (repeat.min == 0) add_empty(from, to);
      return add(repeat.index, from, to);
    }
    if (repeat.min <= 1 && repeat.max == kUnbounded) {
      const StateId before = add_state(), after = add_state();
      add_empty(from, before);
      add(repeat.index, before, after);
      add_empty(after, before);
      if (repeat.min == 0) add_empty(from, to);
      return add_empty(after, to);
    }
    const auto counting = static_cast<RuleId>(result_.rules.size());
    const RuleId outer = std::exchange(rule_, counting);
    const StateId first = add_state(), round = add_state(), after = add_state();
    result_.states[first].counts = true;
    const auto [name, weight] = std::pair(result_.rules[outer].name, result_.rules[outer].weight);
    result_.rules.push_back({name, first, after, weight, true, repeat.min, repeat.max, 0});
    add_empty(first, round);
    add(repeat.index, round, after);
    add_edge(after, {Edge::Kind::next, 0, 0, first, 0});
    rule_ = outer;
    add_edge(from, {Edge::Kind::call, 0, 0, to, counting});
  }

  void sort_edges() {
    for (const auto& [from, edge] : edges_) ++result_.states[from].edge_count;
    std::uint32_t place = 0;
    for (Automaton::State& state : result_.states) {
      state.first_edge = place;
      place += std::exchange(state.edge_count, 0);
    }
    result_.edges.resize(edges_.size());
    for (const auto& [from, edge] : edges_) {
      Automaton::State& state = result_.states[from];
      result_.edges[state.first_edge + state.edge_count++] = edge;
    }
    edges_.clear();
  }

  void mark_states() {
    for (StateId id = 0; id < result_.states.size(); ++id) {
      Automaton::State& state = result_.states[id];
      for (const Edge& edge : result_.edges_of(id)) {
        state.reads |= edge.kind == Edge::Kind::byte || edge.kind == Edge::Kind::token;
      }
      StateId last = id;
      for (int steps = 0; steps < 100 && !result_.states[last].counts; ++steps) {
        const auto edges = result_.edges_of(last);
        if (edges.size() != 1 || edges[0].kind != Edge::Kind::empty) break;
        last = edges[0].target;
      }
      state.tail = result_.states[last].accept;
    }
  }

  void find_classes() {
    std::array<bool, 257> border{};
    for (const Edge& edge : result_.edges) {
      if (edge.kind != Edge::Kind::byte) continue;
      border[edge.low] = border[edge.high + 1] = true;
    }
    for (int byte = 0; byte < 256; ++byte) {
      if (byte == 0 || border[byte]) result_.byte_of_class.push_back(static_cast<std::uint8_t>(byte));
      result_.class_of[byte] = static_cast<std::uint8_t>(result_.byte_of_class.size() - 1);
    }
  }

  const Grammar& grammar_;
  Automaton result_;
  RuleId rule_ = 0;
  std::vector<std::pair<StateId, Edge>> edges_;
};

}  // namespace

Automaton compile(const Grammar& grammar) {
  Automaton automaton = Compiler(grammar).run();
  check_left_recursion(automaton);
  find_needs(automaton);
  find_shortest(automaton);
  return automaton;
}

}  // namespace heed::constrain
