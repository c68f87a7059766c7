// A grammar compiled to one automaton over bytes per rule (a recursive transition network). Edges read a byte or a
// token, do nothing, or call a rule and go on when it has ended. A repetition with bounds is a rule with a counter: its
// first state counts the rounds, so that {1000} takes no more room than a star.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "heed/constrain/grammar.h"

namespace heed::constrain {

using StateId = std::uint32_t;

struct Edge {
  enum class Kind : std::uint8_t {
    byte,   // reads one of [low, high]
    empty,  // reads nothing
    call,   // `index` is the rule
    token,  // reads a whole token; `index` counts Automaton::tokens
    next,   // back to the first state of a counting rule: one more round
  };
  Kind kind;
  std::uint8_t low = 0, high = 0;
  StateId target = 0;
  std::uint32_t index = 0;
};

struct Automaton {
  struct State {
    std::uint32_t first_edge = 0, edge_count = 0;
    RuleId rule = 0;
    bool accept = false;  // the rule ends here; no edges
    bool counts = false;  // first state of a counting rule: its edge opens a round, or the rule ends
    bool reads = false;   // has an edge that reads
    bool tail = false;    // does nothing but end: a call that returns here needs no return
    // The depth that the shortest way to the end of the rule needs, relative to that of the rule; kNever: no way.
    std::uint32_t need = 0;
    // The bytes, named tokens for one each, of the shortest way to the end of the rule; kNever: no way. Inside a
    // counting rule to the end of the round, and from its first state all the rounds that it must have.
    std::uint32_t shortest = 0;
  };
  struct Rule {
    std::string name;
    StateId start = 0, end = 0;
    std::uint32_t weight = 0;
    bool counting = false;
    std::uint32_t min = 0, max = kUnbounded;  // rounds of a counting rule
    std::uint32_t rank = 0;                   // below that of all rules that it calls before it reads
  };
  static constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

  std::span<const Edge> edges_of(StateId state) const {
    return {edges.data() + states[state].first_edge, states[state].edge_count};
  }

  std::string what;
  std::uint32_t max_depth = 0;
  RuleId root = 0;
  std::vector<Rule> rules;
  std::vector<State> states;
  std::vector<Edge> edges;
  std::vector<TokenReference> tokens;
  // Bytes that no edge tells apart have one class.
  std::array<std::uint8_t, 256> class_of{};
  std::vector<std::uint8_t> byte_of_class;  // one of its bytes
};

// Throws bad_format for rules that are not defined, that call themselves before reading anything, and for a grammar
// that has no text, needs more depth than allowed, or is too large.
Automaton compile(const Grammar& grammar);

}  // namespace heed::constrain
