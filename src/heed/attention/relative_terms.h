// Terms that depend on the distance between key and query: T5's buckets, and products with a table of distances.
#pragma once

#include "heed/attention/terms.h"

namespace heed {

// T5: score + table[bucket(distance), h]; table [buckets, heads] is trained.
struct BucketOptions {
  bool bidirectional = true;
  std::int64_t max_distance = 128;
};
Term bucket_bias_term(Tensor table, BucketOptions options = {});
// The bucket of a distance (key - query): exact for near ones, logarithmic to max_distance, one for all beyond.
std::int64_t relative_bucket(std::int64_t distance, std::int64_t buckets, const BucketOptions& options);

// score + scale * queries_i . table[clip(distance, -w, w) + w]: Shaw's relative keys with `queries` = q, and the
// position terms of Transformer-XL with queries = q + v and a table that reaches over all distances.
//   queries [Nq, H, D]; table [2w + 1, D] shared by the heads, or [2w + 1, H, D].
Term relative_key_term(Tensor queries, Tensor table);
// The same with the keys' own vectors: score + scale * keys_j . table[clip(distance, -w, w) + w]; keys [Nk, G, D].
Term relative_query_term(Tensor keys, Tensor table);

}  // namespace heed
