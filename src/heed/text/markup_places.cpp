#include "heed/text/markup_places.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace heed::text {
namespace {

using Kind = MarkupPlace::Kind;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// A pair of tags, or, as the last node, the whole text.
struct Node {
  ByteRange source{}, target{};  // words
  std::size_t depth = 0;
  bool placed = false;               // has target words
  std::vector<std::size_t> pairs{};  // children, by number of span
  std::vector<std::size_t> singles{};
};

// A place with what orders it among those of the same offset: first what follows a word, then what comes before one;
// at either, tags of inner pairs are nearer to the word than those of outer pairs.
struct Event {
  std::size_t offset = 0;
  bool before_word = false;
  std::ptrdiff_t key = 0;
  std::size_t order = 0;
  Kind kind = Kind::open;
  std::size_t span = 0;
  auto rank() const { return std::tuple(offset, before_word, key, order); }
};

class Placer {
 public:
  Placer(std::span<const MarkupSpan> spans, const AlignedText& words)
      : spans_(spans), words_(words), links_(words.completed_links()), nodes_(spans.size() + 1) {
    Node& root = nodes_.back();
    root.source = {0, words.source_words.size()};
    root.target = {0, words.target_words.size()};
    root.placed = true;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      Node& parent = nodes_[parent_of(i)];
      nodes_[i].depth = parent.depth + 1;
      (spans[i].is_pair() ? parent.pairs : parent.singles).push_back(i);
      nodes_[i].source = words_in(words.source_words, {spans[i].begin, spans[i].end});
      if (spans[i].begin == spans[i].end) nodes_[i].source.end = nodes_[i].source.begin;
    }
  }

  std::vector<MarkupPlace> run() {
    place_children(nodes_.back());
    // Parents come before their children.
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      if (spans_[i].is_pair() && nodes_[i].placed) place_children(nodes_[i]);
    }
    std::ranges::stable_sort(events_, {}, &Event::rank);
    std::vector<MarkupPlace> places;
    places.reserve(events_.size());
    for (const Event& event : events_) places.push_back({event.kind, event.span, event.offset});
    return places;
  }

 private:
  std::size_t parent_of(std::size_t span) const {
    return spans_[span].parent == MarkupSpan::kNoParent ? spans_.size() : spans_[span].parent;
  }

  void place_children(const Node& node) {
    const std::vector<std::size_t> owners = owners_of(node);
    for (const std::size_t pair : node.pairs) {
      Node& child = nodes_[pair];
      const bool whole = child.source == node.source && child.source.begin < child.source.end;
      if (whole && node.target.begin < node.target.end) {
        child.target = node.target;
        child.placed = true;
      } else if (const auto run = best_run(node, owners, pair)) {
        child.target = *run;
        child.placed = true;
      }
      if (child.placed) {
        add_pair(pair);
      } else {
        add_point(node, pair);
      }
    }
    for (const std::size_t single : node.singles) add_point(node, single);
  }

  // For each target word of the node the child with the most links to it, nodes_.size() for the node itself and kNone
  // for a word without links. Among equals a child, and the first one.
  std::vector<std::size_t> owners_of(const Node& node) const {
    const std::size_t self = nodes_.size();
    const std::size_t count = node.target.end - node.target.begin;
    std::vector<std::size_t> owners(count, kNone), most(count, 0), votes(count, 0);
    std::vector<std::size_t> touched;
    const auto vote = [&](ByteRange source) {
      for (std::size_t word = source.begin; word < source.end; ++word) {
        for (const std::size_t target : links_[word]) {
          if (target < node.target.begin || target >= node.target.end) continue;
          touched.push_back(target - node.target.begin);
          ++votes[touched.back()];
        }
      }
    };
    const auto count_for = [&](std::size_t owner) {
      for (const std::size_t word : touched) {
        if (votes[word] > most[word] || (votes[word] == most[word] && owners[word] == self)) {
          most[word] = votes[word];
          owners[word] = owner;
        }
      }
      for (const std::size_t word : touched) votes[word] = 0;
      touched.clear();
    };
    std::size_t at = node.source.begin;
    for (const std::size_t pair : node.pairs) {
      const ByteRange source = nodes_[pair].source;
      if (source.begin > at) vote({at, source.begin});
      at = std::max(at, source.end);
    }
    vote({at, node.source.end});
    count_for(self);
    for (const std::size_t pair : node.pairs) {
      vote(nodes_[pair].source);
      count_for(pair);
    }
    return owners;
  }

  // The words from one of the child's to one of the child's that are most of them its own and least of them the
  // node's; another child's words are never among them. The longest of equals.
  std::optional<ByteRange> best_run(const Node& node, const std::vector<std::size_t>& owners, std::size_t child) const {
    std::optional<ByteRange> best;
    std::ptrdiff_t best_sum = 0, sum = 0;
    std::size_t begin = kNone;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      if (owners[i] == child) {
        if (begin == kNone || sum < 0) begin = i, sum = 0;
        ++sum;
        const bool longer = best && sum == best_sum && i + 1 - begin > best->end - best->begin;
        if (!best || sum > best_sum || longer) best = {begin, i + 1}, best_sum = sum;
      } else if (owners[i] == nodes_.size()) {
        --sum;
      } else if (owners[i] != kNone) {
        begin = kNone;
      }
    }
    if (best) best = {best->begin + node.target.begin, best->end + node.target.begin};
    return best;
  }

  void add_pair(std::size_t pair) {
    const Node& node = nodes_[pair];
    const auto depth = static_cast<std::ptrdiff_t>(2 * node.depth);
    const std::size_t first = node.target.begin, last = node.target.end - 1;
    const std::size_t begin = within_word(spans_[pair].begin, first).value_or(words_.target_words[first].begin);
    const std::size_t end = within_word(spans_[pair].end, last).value_or(words_.target_words[last].end);
    events_.push_back({begin, true, depth, pair, Kind::open, pair});
    events_.push_back({end, false, -depth, pair, Kind::close, pair});
  }

  // The place in the target word that byte `at`, inside a source word, has if the two are the same.
  std::optional<std::size_t> within_word(std::size_t at, std::size_t target) const {
    const auto& words = words_.source_words;
    const auto word = std::ranges::partition_point(words, [&](ByteRange each) { return each.end <= at; });
    if (word == words.end() || word->begin >= at) return {};
    const ByteRange other = words_.target_words[target];
    if (word->of(words_.source) != other.of(words_.target)) return {};
    return other.begin + (at - word->begin);
  }

  // A single tag, or a pair with all that is in it, between two words.
  void add_point(const Node& node, std::size_t span) {
    const auto [word, before] = point_of(node, span);
    Event event{.before_word = before};
    if (before) {
      event.offset = word < words_.target_words.size() ? words_.target_words[word].begin : words_.target.size();
    } else {
      event.offset = within_word(spans_[span].begin, word).value_or(words_.target_words[word].end);
    }
    const auto depth = static_cast<std::ptrdiff_t>(2 * node.depth + 1);
    event.key = before ? depth : -depth;
    event.order = span;
    add_subtree(span, event);
  }

  void add_subtree(std::size_t span, Event& event) {
    std::vector<std::pair<std::size_t, Kind>> stack = {{span, Kind::open}};
    while (!stack.empty()) {
      const auto [next, kind] = stack.back();
      stack.pop_back();
      event.kind = kind;
      event.span = next;
      events_.push_back(event);
      if (kind == Kind::close || !spans_[next].is_pair()) continue;
      stack.emplace_back(next, Kind::close);
      std::vector<std::size_t> inside = nodes_[next].pairs;
      inside.insert(inside.end(), nodes_[next].singles.begin(), nodes_[next].singles.end());
      std::ranges::sort(inside, std::greater<>());
      for (const std::size_t each : inside) stack.emplace_back(each, Kind::open);
    }
  }

  // A target word, and whether the tag goes before it.
  std::pair<std::size_t, bool> point_of(const Node& node, std::size_t index) const {
    const MarkupSpan& span = spans_[index];
    const auto [first, last] = node.target;
    if (first == last) return {first, true};
    const auto& words = words_.source_words;
    const auto after = std::ranges::partition_point(words, [&](ByteRange word) { return word.end <= span.begin; });
    std::size_t next = static_cast<std::size_t>(after - words.begin());
    const bool inside = next < words.size() && words[next].begin < span.begin;
    if (inside) ++next;
    next = std::clamp(next, node.source.begin, node.source.end);
    if (next == node.source.begin && (span.space_after || next == node.source.end)) return {first, true};
    if (next == node.source.end && span.space_before) return {last - 1, false};
    const bool wants_before = next < node.source.end && !inside && (span.space_before || !span.space_after);
    for (std::size_t distance = 0; distance < node.source.end - node.source.begin; ++distance) {
      for (const bool before : {wants_before, !wants_before}) {
        if (before ? next + distance >= node.source.end : next < node.source.begin + distance + 1) continue;
        const std::size_t word = before ? next + distance : next - 1 - distance;
        const auto target = link_within(word, node.target, before);
        if (target) return {*target, before};
      }
    }
    return wants_before ? std::pair(first, true) : std::pair(last - 1, false);
  }

  // The first or last target word within the range that the source word is linked to.
  std::optional<std::size_t> link_within(std::size_t word, ByteRange range, bool first) const {
    std::optional<std::size_t> found;
    for (const std::size_t target : links_[word]) {
      if (target < range.begin || target >= range.end) continue;
      if (!found || !first) found = target;
    }
    return found;
  }

  std::span<const MarkupSpan> spans_;
  const AlignedText& words_;
  std::vector<std::vector<std::size_t>> links_;
  std::vector<Node> nodes_;
  std::vector<Event> events_;
};

}  // namespace

std::vector<MarkupPlace> place_markup(std::span<const MarkupSpan> spans, const AlignedText& words) {
  return Placer(spans, words).run();
}

}  // namespace heed::text
