// Runs an automaton over bytes. All the ways in which the text so far can be read are one set of stacks; equal sets
// have equal numbers, and what a byte makes of a set is computed once.
//
// A stack is a frame (a state and the rounds its rule has counted) on top of a stack of frames to return to. A set
// keeps each top frame once, with the set of all that may lie below it, so that ambiguous grammars stay small. A stack
// that could not end within the depth allowed is left out: every set that is not kDead can be continued to a whole
// text.
//
// Not for several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/constrain/automaton.h"

namespace heed::constrain {

using StackSet = std::uint32_t;

struct Frame {
  StateId state;
  std::uint32_t count;
  StackSet rest;
  // NOLINTNEXTLINE(modernize-use-nullptr): it takes the comparison with 0 for one with a pointer.
  auto operator<=>(const Frame&) const = default;
};

class Matcher {
 public:
  static constexpr StackSet kDone = 0;  // the empty stack alone: the text is whole
  static constexpr StackSet kDead = 1;  // nothing: no text begins like this

  explicit Matcher(std::shared_ptr<const Automaton> automaton);

  StackSet start();
  StackSet step(StackSet set, std::uint8_t byte) {
    const std::uint32_t row = info_[set].row;
    if (row != 0) {
      if (const StackSet known = rows_[row + automaton_->class_of[byte]]; known != kUnknown) return known;
    }
    return compute_step(set, automaton_->class_of[byte]);
  }
  StackSet read(StackSet set, std::string_view bytes);
  // After a token that edges name as such; `matches(index)` says which references name it.
  template <class Matches>
  StackSet read_token(StackSet set, const Matches& matches) {
    std::vector<Frame> work;
    for (const Frame& frame : frames(set)) {
      for (const Edge& edge : automaton_->edges_of(frame.state)) {
        if (edge.kind == Edge::Kind::token && matches(edge.index))
          work.push_back({edge.target, frame.count, frame.rest});
      }
    }
    return work.empty() ? kDead : close(work);
  }
  // What comes after the end of a rule that returns to `rest`.
  StackSet resume(StackSet rest);
  // The set of one frame.
  StackSet only(const Frame& frame) { return intern({frame}, false); }
  StackSet unite(StackSet a, StackSet b);

  bool ends(StackSet set) const { return info_[set].ends; }
  // By ascending state; valid until the next set is made.
  std::span<const Frame> frames(StackSet set) const { return {frames_.data() + info_[set].first, info_[set].count}; }
  std::uint32_t depth(StackSet set) const { return info_[set].depth; }
  // The largest depth that was asked for when this set was made: a set on top of a depth d behaves like one on top of
  // nothing as long as d + reach is allowed.
  std::uint32_t reach(StackSet set) const { return info_[set].reach; }

  // The bytes, named tokens for one each, of the shortest end that makes the text whole: 0 if it is, kNever for kDead.
  // Ends that would go deeper than allowed are not told apart.
  std::uint32_t shortest(StackSet set) const { return info_[set].shortest; }
  std::uint32_t shortest(const Frame& frame) const;

  const Automaton& automaton() const { return *automaton_; }
  // Roughly what all sets take.
  std::size_t bytes() const;
  // The set of another matcher of the same automaton.
  StackSet import(const Matcher& other, StackSet set);

 private:
  class Closure;
  static constexpr StackSet kUnknown = 0xFFFFFFFF;
  struct Info {
    std::uint32_t first = 0, count = 0;
    std::uint32_t depth = 0;
    std::uint32_t reach = 0;
    std::uint32_t row = 0;  // of rows_, 0: none yet
    std::uint32_t shortest = 0;
    bool ends = false;
  };

  StackSet compute_step(StackSet set, std::uint8_t byte_class);
  StackSet close(const std::vector<Frame>& frames_to_close);
  void normalize(std::vector<Frame>& frames);
  StackSet intern(const std::vector<Frame>& frames, bool ends);
  StackSet import(const Matcher& other, StackSet set, std::unordered_map<StackSet, StackSet>& known);
  void grow();

  std::shared_ptr<const Automaton> automaton_;
  std::vector<Info> info_;
  std::vector<Frame> frames_;
  std::vector<StackSet> slots_;  // open addressing over info_, set + 1, 0: free
  std::vector<StackSet> rows_;   // per set that was stepped from, the next set for each class of bytes
  std::unordered_map<std::uint64_t, StackSet> unions_;
  std::unordered_map<StackSet, StackSet> resumed_;
};

}  // namespace heed::constrain
