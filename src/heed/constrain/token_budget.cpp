#include "heed/constrain/token_budget.h"

#include <algorithm>

namespace heed::constrain {
namespace {

constexpr std::uint32_t kBytes = 256;
constexpr std::uint32_t kNoNode = ~0U;
// Longer ends count by their bytes.
constexpr std::uint32_t kLongestEnd = 4096;

}  // namespace

TokenBudget::TokenBudget(Matcher& matcher, TokenMasks& masks, const Vocabulary& vocabulary)
    : matcher_(matcher), masks_(masks), vocabulary_(vocabulary) {
  for (std::uint32_t byte = 0; byte < kBytes; ++byte) order_[byte] = kBytes + byte;
  for (const ByteTrie& trie : vocabulary.tries()) {
    auto& root = roots_.emplace_back();
    root.fill(kNoNode);
    for (std::uint32_t i = 0; i < trie.nodes.size(); i = trie.nodes[i].end) {
      const ByteTrie::Node& node = trie.nodes[i];
      root[node.byte] = i;
      if (node.token_count > 0) order_[node.byte] = node.byte;
    }
    longest_ = std::max<std::uint64_t>(longest_, trie.longest);
  }
  path_.resize(static_cast<std::size_t>(longest_) + 1);
}

std::shared_ptr<const Mask> TokenBudget::allowed(StackSet set, std::uint64_t left) {
  const auto all = masks_.allowed(set);
  const std::shared_ptr<const Mask> all_mask(all, &all->mask);
  if (all->farthest < left) return all_mask;
  auto mask = std::make_shared<Mask>(vocabulary_.mask_words());
  for (const ByteTrie& trie : vocabulary_.tries()) walk(trie, set, left - 1, *mask);
  add_named(set, left - 1, *mask);
  const bool any = std::ranges::any_of(*mask, [](std::uint64_t word) { return word != 0; });
  return any || matcher_.ends(set) ? mask : all_mask;
}

bool TokenBudget::in_time(StackSet set, std::uint64_t left) {
  const std::uint64_t bytes = matcher_.shortest(set);
  if (bytes <= left) return true;
  return bytes <= left * longest_ && tokens(set) <= left;
}

void TokenBudget::walk(const ByteTrie& trie, StackSet set, std::uint64_t left, Mask& mask) {
  path_[0] = set;
  for (std::uint32_t i = 0; i < trie.nodes.size();) {
    const ByteTrie::Node& node = trie.nodes[i];
    const StackSet next = matcher_.step(path_[node.depth - 1], node.byte);
    if (next == Matcher::kDead) {
      i = node.end;
      continue;
    }
    path_[node.depth] = next;
    if (node.token_count > 0 && in_time(next, left)) {
      for (std::uint32_t k = 0; k < node.token_count; ++k) set_bit(mask, trie.tokens[node.first_token + k]);
    }
    ++i;
  }
}

void TokenBudget::add_named(StackSet set, std::uint64_t left, Mask& mask) {
  if (matcher_.automaton().tokens.empty()) return;
  const std::vector<Frame> frames(matcher_.frames(set).begin(), matcher_.frames(set).end());
  for (const Frame& frame : frames) {
    for (const Edge& edge : matcher_.automaton().edges_of(frame.state)) {
      if (edge.kind != Edge::Kind::token || !in_time(after(set, kBytes + edge.index), left)) continue;
      for (std::int32_t token = 0; static_cast<std::size_t>(token) < vocabulary_.size(); ++token) {
        if (masks_.names(edge.index, token)) set_bit(mask, token);
      }
    }
  }
}

// Of the symbols that begin a shortest end.
TokenBudget::Symbol TokenBudget::first_symbol(StackSet set) const {
  const std::uint32_t rest = matcher_.shortest(set) - 1;
  Symbol best = kUnknown;
  std::uint32_t best_order = kUnknown;
  for (const Frame& frame : matcher_.frames(set)) {
    for (const Edge& edge : matcher_.automaton().edges_of(frame.state)) {
      const bool byte = edge.kind == Edge::Kind::byte;
      if (!byte && edge.kind != Edge::Kind::token) continue;
      if (matcher_.shortest({edge.target, frame.count, frame.rest}) != rest) continue;
      for (std::uint32_t at = byte ? edge.low : kBytes + edge.index; at <= (byte ? edge.high : kBytes + edge.index);
           ++at) {
        const std::uint32_t order = at < kBytes ? order_[at] : kBytes + at;
        if (order < best_order) best = at, best_order = order;
      }
    }
  }
  return best;
}

StackSet TokenBudget::after(StackSet set, Symbol symbol) {
  if (symbol < kBytes) return matcher_.step(set, static_cast<std::uint8_t>(symbol));
  std::int32_t token = 0;
  const auto count = static_cast<std::int32_t>(vocabulary_.size());
  while (token < count && !masks_.names(symbol - kBytes, token)) ++token;
  return masks_.accept(set, token);
}

TokenBudget::End TokenBudget::chosen_end(StackSet set) {
  End end{.sets = {set}, .symbols = {}};
  // A token may reach from the last fresh set so far into what is known.
  for (bool fresh = true; matcher_.shortest(end.sets.back()) > 0;) {
    fresh = fresh && known(end.sets.back()) == kUnknown;
    if (fresh) ++end.fresh;
    if (!fresh && end.symbols.size() >= end.fresh + longest_) break;
    const Symbol symbol = first_symbol(end.sets.back());
    const StackSet next = symbol == kUnknown ? Matcher::kDead : after(end.sets.back(), symbol);
    end.broken = matcher_.shortest(next) != matcher_.shortest(end.sets.back()) - 1;
    if (end.broken) break;
    end.symbols.push_back(symbol);
    end.sets.push_back(next);
  }
  return end;
}

// Tokens from a set of an end on, where they are known of all that follow.
std::uint32_t TokenBudget::fewest(const End& end, std::size_t begin) const {
  const auto tokens_at = [&](std::size_t place) {
    return matcher_.shortest(end.sets[place]) == 0 ? 0 : known(end.sets[place]);
  };
  std::uint32_t least = kUnspelled;
  if (end.symbols[begin] >= kBytes) return std::min(least, tokens_at(begin + 1) + 1);
  for (std::size_t t = 0; t < roots_.size(); ++t) {
    const ByteTrie& trie = vocabulary_.tries()[t];
    std::uint32_t node = roots_[t][end.symbols[begin]];
    for (std::size_t place = begin + 1; node != kNoNode; ++place) {
      if (trie.nodes[node].token_count > 0) least = std::min(least, tokens_at(place) + 1);
      if (place == end.symbols.size() || end.symbols[place] >= kBytes) break;
      std::uint32_t child = node + 1;
      while (child < trie.nodes[node].end && trie.nodes[child].byte != end.symbols[place])
        child = trie.nodes[child].end;
      node = child < trie.nodes[node].end ? child : kNoNode;
    }
  }
  return least;
}

std::uint32_t TokenBudget::tokens(StackSet set) {
  const std::uint32_t bytes = matcher_.shortest(set);
  if (bytes == 0 || bytes > kLongestEnd) return bytes;
  if (known(set) == kUnknown) {
    const End end = chosen_end(set);
    known_.resize(std::max<std::size_t>(known_.size(), 1 + *std::ranges::max_element(end.sets)), kUnknown);
    for (std::size_t i = end.fresh; i-- > 0;) known_[end.sets[i]] = end.broken ? kUnspelled : fewest(end, i);
  }
  return known(set) == kUnspelled ? bytes : known(set);
}

}  // namespace heed::constrain
