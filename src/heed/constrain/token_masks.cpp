#include "heed/constrain/token_masks.h"

#include <algorithm>

namespace heed::constrain {
namespace {

constexpr std::size_t kMaxKeptBytes = std::size_t{64} << 20;
// Sets of more frames are walked as they are: they are literals that begin alike, mostly, and the walk is short.
constexpr std::size_t kMaxFramesApart = 8;

// The least count from which `bytes` bytes see the same bounds as from `count`; each round takes a byte at least.
std::uint32_t clipped(const Automaton::Rule& rule, std::uint32_t count, std::size_t bytes) {
  if (count < rule.min) return rule.min - count > bytes ? 0 : count;
  return rule.max == kUnbounded || rule.max - count > bytes ? std::min(rule.min, count) : count;
}

}  // namespace

TokenMasks::TokenMasks(Matcher& matcher, const Vocabulary& vocabulary, std::vector<std::int32_t> references)
    : matcher_(matcher), vocabulary_(vocabulary), references_(std::move(references)) {
  for (const ByteTrie& trie : vocabulary.tries()) path_.resize(std::max(path_.size(), trie.longest + 1));
}

bool TokenMasks::names(std::uint32_t reference, std::int32_t token) const {
  const bool same = references_[reference] == token;
  return matcher_.automaton().tokens[reference].negated ? !same && vocabulary_.ordinary(token) : same;
}

StackSet TokenMasks::accept(StackSet set, std::int32_t token) {
  if (token < 0 || static_cast<std::size_t>(token) >= vocabulary_.size()) return Matcher::kDead;
  const StackSet by_name =
      references_.empty() ? Matcher::kDead
                          : matcher_.read_token(set, [&](std::uint32_t reference) { return names(reference, token); });
  if (!vocabulary_.ordinary(token)) return by_name;
  return matcher_.unite(by_name, matcher_.read(set, vocabulary_.bytes(token)));
}

std::shared_ptr<const TokenMasks::Allowed> TokenMasks::allowed(StackSet set) {
  const std::uint64_t key = std::uint64_t{1} << 63 | set;
  if (auto known = find(key)) return known;
  auto part = std::make_shared<Part>();
  part->mask.resize(vocabulary_.mask_words());
  for (std::size_t i = 0; i < vocabulary_.tries().size(); ++i) {
    const ByteTrie& trie = vocabulary_.tries()[i];
    if (!add_by_frames(i, set, *part)) {
      walk(trie, 0, static_cast<std::uint32_t>(trie.nodes.size()), set, *part, false);
    }
  }
  add_named(set, *part);
  keep(key, part);
  return part;
}

void TokenMasks::add_named(StackSet set, Part& part) const {
  if (references_.empty()) return;
  for (const Frame& frame : matcher_.frames(set)) {
    for (const Edge& edge : matcher_.automaton().edges_of(frame.state)) {
      if (edge.kind != Edge::Kind::token) continue;
      part.farthest = std::max(part.farthest, matcher_.shortest({edge.target, frame.count, frame.rest}));
      if (!matcher_.automaton().tokens[edge.index].negated) {
        set_bit(part.mask, references_[edge.index]);
        continue;
      }
      for (std::int32_t token = 0; static_cast<std::size_t>(token) < vocabulary_.size(); ++token) {
        if (names(edge.index, token)) set_bit(part.mask, token);
      }
    }
  }
}

bool TokenMasks::add_by_frames(std::size_t index, StackSet set, Part& part) {
  const std::vector<Frame> frames(matcher_.frames(set).begin(), matcher_.frames(set).end());
  if (frames.size() > kMaxFramesApart) return false;
  const ByteTrie& trie = vocabulary_.tries()[index];
  std::vector<std::shared_ptr<const Part>> parts;
  for (const Frame& frame : frames) {
    parts.push_back(inside(index, frame));
    // Near the depth allowed, it does matter what lies below.
    if (matcher_.depth(frame.rest) + parts.back()->reach > matcher_.automaton().max_depth) return false;
  }
  for (std::size_t k = 0; k < frames.size(); ++k) {
    for (std::size_t i = 0; i < part.mask.size(); ++i) part.mask[i] |= parts[k]->mask[i];
    const std::uint64_t farthest = std::uint64_t{parts[k]->farthest} + matcher_.shortest(frames[k].rest);
    part.farthest = std::max(part.farthest, static_cast<std::uint32_t>(std::min<std::uint64_t>(farthest, ~0U)));
    const StackSet next = matcher_.resume(frames[k].rest);
    if (matcher_.frames(next).empty()) continue;
    for (const std::uint32_t exit : parts[k]->exits) walk(trie, exit + 1, trie.nodes[exit].end, next, part, false);
  }
  return true;
}

std::shared_ptr<const TokenMasks::Part> TokenMasks::inside(std::size_t index, const Frame& frame) {
  const ByteTrie& trie = vocabulary_.tries()[index];
  const Automaton& automaton = matcher_.automaton();
  const std::uint32_t count = clipped(automaton.rules[automaton.states[frame.state].rule], frame.count, trie.longest);
  // States are fewer than 2^21, tries two.
  const std::uint64_t key = std::uint64_t{frame.state} << 33 | std::uint64_t{count} << 1 | index;
  if (auto known = find(key)) return known;
  auto part = std::make_shared<Part>();
  part->mask.resize(vocabulary_.mask_words());
  const StackSet alone = matcher_.only({frame.state, count, Matcher::kDone});
  walk(trie, 0, static_cast<std::uint32_t>(trie.nodes.size()), alone, *part, true);
  keep(key, part);
  return part;
}

void TokenMasks::walk(const ByteTrie& trie, std::uint32_t begin, std::uint32_t end, StackSet set, Part& part,
                      bool note_exits) {
  if (begin == end) return;
  path_[trie.nodes[begin].depth - 1] = set;
  for (std::uint32_t i = begin; i < end;) {
    const ByteTrie::Node& node = trie.nodes[i];
    const StackSet next = matcher_.step(path_[node.depth - 1], node.byte);
    if (next == Matcher::kDead) {
      i = node.end;
      continue;
    }
    path_[node.depth] = next;
    part.reach = std::max(part.reach, matcher_.reach(next));
    if (node.token_count > 0) part.farthest = std::max(part.farthest, matcher_.shortest(next));
    for (std::uint32_t k = 0; k < node.token_count; ++k) set_bit(part.mask, trie.tokens[node.first_token + k]);
    if (note_exits && matcher_.ends(next)) part.exits.push_back(i);
    ++i;
  }
}

std::shared_ptr<const TokenMasks::Part> TokenMasks::find(std::uint64_t key) {
  const auto found = places_.find(key);
  if (found == places_.end()) return nullptr;
  latest_.splice(latest_.begin(), latest_, found->second);
  return found->second->part;
}

void TokenMasks::keep(std::uint64_t key, std::shared_ptr<const Part> part) {
  const auto bytes_of = [](const Part& kept) { return 200 + kept.mask.size() * 8 + kept.exits.size() * 4; };
  kept_bytes_ += bytes_of(*part);
  latest_.push_front({key, std::move(part)});
  places_[key] = latest_.begin();
  while (kept_bytes_ > kMaxKeptBytes && latest_.size() > 1) {
    kept_bytes_ -= bytes_of(*latest_.back().part);
    places_.erase(latest_.back().key);
    latest_.pop_back();
  }
}

}  // namespace heed::constrain
