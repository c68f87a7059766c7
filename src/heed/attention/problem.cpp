#include "heed/attention/problem.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/checks.h"

namespace heed {
namespace {

void check_tensors(const AttentionInput& in) {
  check_same_dtype("attend", in.q, in.k);
  check_same_dtype("attend", in.q, in.v);
  const bool fits = in.q.rank() == 3 && in.k.rank() == 3 && in.v.rank() == 3 && in.q.size(2) == in.k.size(2) &&
                    in.k.size(0) == in.v.size(0) && in.k.size(1) == in.v.size(1);
  HEED_CHECK(fits, "[attend] q ", in.q.shape(), ", k ", in.k.shape(), ", v ", in.v.shape(),
             ": expected [Nq, heads, D], [Nk, key heads, D], [Nk, key heads, E]");
  HEED_CHECK(in.queries.tokens() == in.q.size(0) && in.keys.tokens() == in.k.size(0), "[attend] offsets of ",
             in.queries.tokens(), " queries and ", in.keys.tokens(), " keys for q ", in.q.shape(), " and k ",
             in.k.shape());
}

void check_cache(const AttentionInput& in) {
  const KeyValueCache& cache = *in.cache;
  HEED_CHECK(!in.k.defined() && !in.v.defined(), "[attend] k ", in.k.shape(), " or v ", in.v.shape(),
             " beside a cache");
  HEED_CHECK(in.q.dtype() == cache.dtype() && in.q.rank() == 3 && in.q.size(2) == cache.width(), "[attend] q ",
             in.q.dtype(), in.q.shape(), " for a cache of ", cache.dtype(), " keys of width ", cache.width(),
             ": expected [Nq, heads, D]");
  HEED_CHECK(in.queries.tokens() == in.q.size(0) && in.keys == cache.offsets(), "[attend] offsets of ",
             in.queries.tokens(), " queries and ", in.keys.tokens(), " keys for q ", in.q.shape(), " and a cache of ",
             cache.offsets().tokens(), ": expected the offsets of the cache");
}

void check_shapes(const AttentionInput& in) {
  in.cache ? check_cache(in) : check_tensors(in);
  const std::int64_t key_heads = in.cache ? in.cache->key_heads() : in.k.size(1);
  HEED_CHECK(key_heads > 0 && in.q.size(1) % key_heads == 0, "[attend] query heads ", in.q.size(1),
             " are not a multiple of key heads ", key_heads);
  HEED_CHECK(in.queries.sequences() == in.keys.sequences(), "[attend] ", in.queries.sequences(),
             " sequences of queries and ", in.keys.sequences(), " of keys");
  HEED_CHECK(in.query_start.empty() || static_cast<std::int64_t>(in.query_start.size()) == in.queries.sequences(),
             "[attend] ", in.query_start.size(), " query starts for ", in.queries.sequences(), " sequences");
}

Tensor checked_additive_weight(const AttentionInput& in) {
  if (!in.additive) return Tensor();
  const Tensor& weight = in.additive->weight;
  check_same_dtype("attend", in.q, weight);
  HEED_CHECK(weight.shape() == Shape({in.q.size(2)}) || weight.shape() == Shape({in.q.size(1), in.q.size(2)}),
             "[attend] additive weight ", weight.shape(), " for q ", in.q.shape(), ": expected [D] or [heads, D]");
  return weight.detached_contiguous();
}

Tensor checked_relative_values(const AttentionInput& in, std::int64_t value_width) {
  const Tensor& table = in.relative_values;
  if (!table.defined()) return table;
  check_same_dtype("attend", in.q, table);
  const bool fits = (table.rank() == 2 || (table.rank() == 3 && table.size(1) == in.q.size(1))) &&
                    table.size(0) % 2 == 1 && table.size(-1) == value_width;
  HEED_CHECK(fits, "[attend] relative values ", table.shape(), " for q ", in.q.shape(), " and values of width ",
             value_width, ": expected [2w + 1, E] or [2w + 1, heads, E]");
  return table.detached_contiguous();
}

std::optional<AttentionDropout> checked_dropout(const AttentionInput& in) {
  if (!in.dropout || in.dropout->probability == 0) return {};
  HEED_CHECK(in.dropout->probability > 0 && in.dropout->probability < 1, "[attend] dropout ", in.dropout->probability,
             ", expected 0 <= p < 1");
  return in.dropout;
}

double default_scale(const AttentionInput& in) {
  if (in.additive) return 1;
  return 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, in.q.size(2))));
}

// x [N, heads, width] itself where each token is one run of memory, else a copy.
Tensor with_whole_tokens(const Tensor& x) {
  const bool whole = x.strides()[2] == 1 && x.strides()[1] == x.size(2) && x.strides()[0] >= x.size(1) * x.size(2);
  return whole ? x.detach() : x.detached_contiguous();
}

}  // namespace

AttentionProblem::AttentionProblem(const AttentionInput& input) {
  check_shapes(input);
  q = with_whole_tokens(input.q);
  cache = input.cache;
  if (cache) {
    if (input.additive) k = cache->keys();
  } else {
    k = with_whole_tokens(input.k);
    v = with_whole_tokens(input.v);
  }
  key_heads = cache ? cache->key_heads() : k.size(1);
  value_width = cache ? cache->value_width() : v.size(2);
  layout = {input.queries, input.keys, {input.query_start.begin(), input.query_start.end()}};
  if (layout.query_start.empty()) {
    for (std::int64_t b = 0; b < layout.queries.sequences(); ++b) {
      layout.query_start.push_back(layout.keys.length(b) - layout.queries.length(b));
    }
  }
  scale = input.scale.value_or(default_scale(input));
  terms = input.terms;
  additive_weight = checked_additive_weight(input);
  relative_values = checked_relative_values(input, value_width);
  dropout = checked_dropout(input);
  masked = !input.mask.allows_all();
  if (masked) {
    visible_begin.resize(static_cast<std::size_t>(q.size(0)));
    visible_end.resize(static_cast<std::size_t>(q.size(0)));
    input.mask.intervals(layout, visible_begin, visible_end);
  }
  if (cache) check_released();
}

// What a cache released, no query may see.
void AttentionProblem::check_released() const {
  for (std::int64_t b = 0; b < layout.queries.sequences(); ++b) {
    const std::int64_t first = cache->first_key(b);
    for (std::int64_t i = 0; first > 0 && i < layout.queries.length(b); ++i) {
      const kernels::Range seen = visible(b, i);
      HEED_CHECK(seen.begin >= first || seen.begin >= seen.end, "[attend] query ", i, " of sequence ", b, " sees key ",
                 seen.begin, ", but the cache, for a window of ", cache->window(), ", released those before ", first);
    }
  }
}

}  // namespace heed
