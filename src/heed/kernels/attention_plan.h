// How attention is cut: tiles of query rows with the keys they see, and how threads share them. Private to the kernel.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/pool_array.h"
#include "heed/kernels/ranges.h"

namespace heed::kernels {

// Rows of one sequence. `keys` covers what any of them sees, `shared` what all of them see; both may be empty.
struct QueryTile {
  std::int64_t sequence, begin, rows;
  Range keys, shared;
};

// Threads that a pass is worth, if each of them is to have at least least_cost.
inline std::int64_t useful_threads(std::int64_t cost, std::int64_t least_cost) {
  return std::clamp<std::int64_t>(cost / least_cost, 1, current_threads());
}

// How a pass over `heads` (of all sequences) is split. Where threads can have about the same number of whole heads
// they have them in several parts, so that they can help each other; else in one part, since a thread that begins
// inside a head packs its keys and values once more.
struct AttentionParts {
  AttentionParts(std::int64_t threads, std::int64_t heads) {
    whole_heads = heads >= 8 * threads || heads % threads == 0;
    count = whole_heads ? std::min(heads, 8 * threads) : threads;
  }
  std::int64_t count;
  bool whole_heads;
};

template <class T>
class AttentionPlan {
 public:
  AttentionPlan(const AttentionInputs<T>& in, std::int64_t tile_rows)
      : in_(in), tile_rows_(tile_rows), first_tiles_(sequences() + 1) {
    std::int64_t count = 0;
    for (std::int64_t b = 0; b < sequences(); ++b) {
      first_tiles_.data()[b] = count;
      count += ceil_div(queries(b), tile_rows_);
    }
    first_tiles_.data()[sequences()] = count;
    tiles_ = PoolArray<QueryTile>(count);
    for (std::int64_t b = 0, i = 0; b < sequences(); ++b) {
      for (std::int64_t q = 0; q < queries(b); q += tile_rows_) {
        tiles_.data()[i++] = make_tile(b, q, std::min(tile_rows_, queries(b) - q));
      }
    }
  }

  std::int64_t sequences() const { return std::ssize(in_.query_offsets) - 1; }
  std::int64_t group() const { return in_.query_heads / in_.key_heads; }
  std::int64_t first_query(std::int64_t b) const { return in_.query_offsets[static_cast<std::size_t>(b)]; }
  std::int64_t first_key(std::int64_t b) const { return in_.key_offsets[static_cast<std::size_t>(b)]; }
  std::int64_t queries(std::int64_t b) const { return first_query(b + 1) - first_query(b); }
  std::int64_t keys(std::int64_t b) const { return first_key(b + 1) - first_key(b); }
  std::int64_t first_tile(std::int64_t b) const { return first_tiles_.data()[b]; }
  std::int64_t tiles_of(std::int64_t b) const { return first_tile(b + 1) - first_tile(b); }
  const QueryTile& tile(std::int64_t i) const { return tiles_.data()[i]; }
  std::int64_t tiles() const { return tiles_.size(); }

  // Keys of its sequence that a row of it sees.
  Range visible(std::int64_t b, std::int64_t row) const {
    const std::int64_t t = first_query(b) + row, end = keys(b);
    Range seen{0, end};
    if (in_.visible_begin) seen.begin = std::clamp<std::int64_t>(in_.visible_begin[t], 0, end);
    if (in_.visible_end) seen.end = std::clamp<std::int64_t>(in_.visible_end[t], 0, end);
    if (seen.begin >= seen.end) seen = {0, 0};
    return seen;
  }

  QueryTile make_tile(std::int64_t b, std::int64_t begin, std::int64_t rows) const {
    QueryTile tile{b, begin, rows, {INT64_MAX, 0}, {0, INT64_MAX}};
    for (std::int64_t row = begin; row < begin + rows; ++row) {
      const Range seen = visible(b, row);
      tile.shared = {std::max(tile.shared.begin, seen.begin), std::min(tile.shared.end, seen.end)};
      if (seen.size() == 0) continue;
      tile.keys = {std::min(tile.keys.begin, seen.begin), std::max(tile.keys.end, seen.end)};
    }
    if (tile.keys.begin >= tile.keys.end) tile.keys = {0, 0};
    return tile;
  }

  // How many heads of a group one pass over the keys serves: all whose rows fit into one tile, but no more than leave
  // `threads` something to do each.
  std::int64_t heads_at_once(std::int64_t b, std::int64_t threads) const {
    const std::int64_t most = std::min(
        {group(), tile_rows_ / std::max<std::int64_t>(1, queries(b)), sequences() * in_.query_heads / threads});
    std::int64_t heads = std::max<std::int64_t>(1, most);
    while (group() % heads != 0) --heads;
    return heads;
  }

  // A measure of the time that a tile takes for one head.
  static std::int64_t cost(const QueryTile& tile) { return tile.rows * (tile.keys.size() + 16); }

  std::int64_t cost_of_sequence(std::int64_t b) const {
    std::int64_t sum = 0;
    for (std::int64_t i = first_tile(b); i < first_tile(b + 1); ++i) sum += cost(tile(i));
    return sum;
  }

 private:
  const AttentionInputs<T>& in_;
  std::int64_t tile_rows_;
  PoolArray<std::int64_t> first_tiles_;
  PoolArray<QueryTile> tiles_;
};

template <class T>
void check_attention(const AttentionInputs<T>& in) {
  HEED_CHECK(in.key_heads >= 1 && in.query_heads >= in.key_heads && in.query_heads % in.key_heads == 0,
             "[attention] query heads are ", in.query_heads, ", expected a multiple of the ", in.key_heads,
             " key heads");
  HEED_CHECK(!in.query_offsets.empty() && in.query_offsets.size() == in.key_offsets.size(), "[attention] offsets are ",
             in.query_offsets.size(), " of queries and ", in.key_offsets.size(),
             " of keys, expected as many of each, at least 1");
  for (std::size_t b = 0; b + 1 < in.query_offsets.size(); ++b) {
    HEED_CHECK(in.query_offsets[b] <= in.query_offsets[b + 1] && in.key_offsets[b] <= in.key_offsets[b + 1],
               "[attention] the offsets of sequence ", b, " descend");
  }
  HEED_CHECK(in.width >= 0 && in.value_width >= 0, "[attention] widths are ", in.width, " and ", in.value_width,
             ", expected no negative one");
  HEED_CHECK(in.pages.empty() || in.pages.size() + 1 == in.key_offsets.size(), "[attention] pages of ", in.pages.size(),
             " sequences, expected ", in.key_offsets.size() - 1);
  for (std::size_t b = 0; b < in.pages.size(); ++b) {
    std::int64_t left = in.key_offsets[b + 1] - in.key_offsets[b];
    for (const KeyValuePage<T>& page : in.pages[b]) {
      HEED_CHECK(left > 0 && page.capacity >= std::min(kKeyBlock, left), "[attention] a page with room for ",
                 page.capacity, " keys where sequence ", b, " has ", left, " more");
      left -= kKeyBlock;
    }
    HEED_CHECK(left <= 0, "[attention] ", left, " keys of sequence ", b, " are in no page");
  }
}

}  // namespace heed::kernels
