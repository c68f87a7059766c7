#include "heed/attention/mask.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {
namespace {

struct Interval {
  std::int64_t begin, end;
};

// The run of keys [first, last) of a sequence whose segment is `wanted`.
Interval segment_run(std::span<const std::int64_t> segments, std::int64_t wanted) {
  const auto first = std::ranges::find(segments, wanted);
  const auto last = std::find_if(first, segments.end(), [&](std::int64_t s) { return s != wanted; });
  return {first - segments.begin(), last - segments.begin()};
}

}  // namespace

Mask Mask::causal() {
  return Mask(Rule{Kind::causal});
}

Mask Mask::window(std::int64_t left, std::int64_t right) {
  HEED_CHECK(left >= 0 && right >= 0, "[Mask::window] ", left, " and ", right, ": expected no negative width");
  return Mask(Rule{Kind::window, left, right});
}

Mask Mask::prefix(std::int64_t length) {
  HEED_CHECK(length >= 0, "[Mask::prefix] length ", length, " is negative");
  return Mask(Rule{Kind::prefix, length});
}

Mask Mask::lengths(std::vector<std::int64_t> lengths) {
  return Mask(Rule{Kind::lengths, 0, 0, std::move(lengths)});
}

Mask Mask::segments(std::vector<std::int64_t> query_segments, std::vector<std::int64_t> key_segments) {
  return Mask(Rule{Kind::segments, 0, 0, std::move(query_segments), std::move(key_segments)});
}

Mask operator&(Mask a, const Mask& b) {
  a.rules_.insert(a.rules_.end(), b.rules_.begin(), b.rules_.end());
  return a;
}

void Mask::check_rule(const Rule& rule, const AttentionLayout& layout) {
  if (rule.kind == Kind::lengths) {
    HEED_CHECK(static_cast<std::int64_t>(rule.query_values.size()) == layout.keys.sequences(), "[Mask::lengths] ",
               rule.query_values.size(), " lengths for ", layout.keys.sequences(), " sequences");
    for (std::int64_t b = 0; b < layout.keys.sequences(); ++b) {
      const std::int64_t length = rule.query_values[static_cast<std::size_t>(b)];
      HEED_CHECK(length >= 0 && length <= layout.keys.length(b), "[Mask::lengths] length ", length, " of sequence ", b,
                 ", which has ", layout.keys.length(b), " keys");
    }
  }
  if (rule.kind != Kind::segments) return;
  HEED_CHECK(static_cast<std::int64_t>(rule.query_values.size()) == layout.queries.tokens() &&
                 static_cast<std::int64_t>(rule.key_values.size()) == layout.keys.tokens(),
             "[Mask::segments] ", rule.query_values.size(), " and ", rule.key_values.size(), " segment numbers for ",
             layout.queries.tokens(), " queries and ", layout.keys.tokens(), " keys");
  for (std::int64_t b = 0; b < layout.keys.sequences(); ++b) {
    std::vector<std::int64_t> finished;
    for (std::int64_t t = layout.keys.begin(b) + 1; t < layout.keys.end(b); ++t) {
      const std::int64_t before = rule.key_values[static_cast<std::size_t>(t) - 1];
      const std::int64_t here = rule.key_values[static_cast<std::size_t>(t)];
      if (here == before) continue;
      finished.push_back(before);
      HEED_CHECK(std::ranges::find(finished, here) == finished.end(), "[Mask::segments] segment ", here,
                 " of sequence ", b, " is broken by another one at key ", t - layout.keys.begin(b));
    }
  }
}

void Mask::intervals(const AttentionLayout& layout, std::span<std::int64_t> begin, std::span<std::int64_t> end) const {
  for (const Rule& rule : rules_) check_rule(rule, layout);
  for (std::int64_t b = 0; b < layout.queries.sequences(); ++b) {
    const std::int64_t keys = layout.keys.length(b);
    for (std::int64_t i = 0; i < layout.queries.length(b); ++i) {
      const auto token = static_cast<std::size_t>(layout.queries.begin(b) + i);
      const std::int64_t position = layout.position(b, i);
      Interval seen{0, keys};
      for (const Rule& rule : rules_) {
        Interval allowed{0, keys};
        switch (rule.kind) {
          case Kind::causal: allowed.end = position + 1; break;
          case Kind::window: allowed = {position - rule.left, position + rule.right + 1}; break;
          case Kind::prefix: allowed.end = std::max(position + 1, rule.left); break;
          case Kind::lengths: allowed.end = rule.query_values[static_cast<std::size_t>(b)]; break;
          case Kind::segments:
            allowed = segment_run(
                std::span(rule.key_values)
                    .subspan(static_cast<std::size_t>(layout.keys.begin(b)), static_cast<std::size_t>(keys)),
                rule.query_values[token]);
            break;
        }
        seen = {std::max(seen.begin, allowed.begin), std::min(seen.end, allowed.end)};
      }
      begin[token] = seen.begin;
      end[token] = std::max(seen.end, seen.begin);
    }
  }
}

}  // namespace heed
