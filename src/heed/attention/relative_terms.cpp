#include "heed/attention/relative_terms.h"

#include <algorithm>
#include <cmath>

#include "heed/attention/term_base.h"
#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/kernels/gemm.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/shape_ops.h"

namespace heed {
namespace {

// ---- T5 buckets: y = x + table[bucket(distance), h]

class BucketBias;
template <class T>
class BucketBiasRule : public TermRule<T> {
 public:
  BucketBiasRule(const BucketBias& term, const TermCall& call);
  void apply(const kernels::ScoreTile<T>& tile) const override {
    const T* table = table_.data<T>() + tile.head;
    for_each_score(tile, [&](T& s, std::int64_t i, std::int64_t j) { s += table[bucket(tile, i, j) * heads_]; });
  }
  void backward(const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>& d) override {
    T* gradient = gradient_.mutable_data<T>() + d.head;
    for_each_score(d, [&](const T& ds, std::int64_t i, std::int64_t j) { gradient[bucket(d, i, j) * heads_] += ds; });
  }
  void prepare_backward() override { gradient_ = Tensor::zeros(table_.shape(), table_.dtype()); }
  bool has_shared_parameters() const override { return true; }
  std::vector<Tensor> gradients() override { return {gradient_}; }

 private:
  std::int64_t bucket(const kernels::ScoreTile<T>& tile, std::int64_t i, std::int64_t j) const {
    return buckets_[static_cast<std::size_t>(j - layout_.position(tile.sequence, i) - lowest_)];
  }
  Tensor table_, gradient_;
  const AttentionLayout& layout_;
  PoolVector<std::int64_t> buckets_;  // of the distances from lowest_ on
  std::int64_t lowest_ = 0;
  std::int64_t heads_;
};

class BucketBias : public TermOf<BucketBias, BucketBiasRule> {
 public:
  BucketBias(Tensor trained, BucketOptions bucket_options) : table(std::move(trained)), options(bucket_options) {}
  const char* name() const override { return "bucket_bias"; }
  std::vector<Tensor> tensors() const override { return {table}; }
  void check(const TermCall& call) const {
    HEED_CHECK(table.rank() == 2 && table.size(1) == call.query_heads && table.size(0) >= 2 && table.size(0) % 2 == 0,
               "[attend] bucket table ", table.shape(), " for ", call.query_heads,
               " heads: expected [an even number of buckets, heads]");
  }
  Tensor reference(const Tensor& scores, std::int64_t sequence, const TermCall& call) const override {
    check(call);
    const std::int64_t queries = scores.size(1), keys = scores.size(2);
    std::vector<std::int64_t> buckets;
    for (std::int64_t i = 0; i < queries; ++i) {
      for (std::int64_t j = 0; j < keys; ++j) {
        buckets.push_back(relative_bucket(j - call.layout.position(sequence, i), table.size(0), options));
      }
    }
    const Tensor bias = take_rows(table, Tensor::from(buckets, {queries, keys}));  // [queries, keys, H]
    return add(scores, transpose(transpose(bias, 1, 2), 0, 1));
  }
  const Tensor table;
  const BucketOptions options;
};

template <class T>
BucketBiasRule<T>::BucketBiasRule(const BucketBias& term, const TermCall& call)
    : table_(term.table.detached_contiguous()), layout_(call.layout), heads_(call.query_heads) {
  term.check(call);
  std::int64_t highest = 0;
  for (std::int64_t b = 0; b < layout_.queries.sequences(); ++b) {
    const std::int64_t queries = layout_.queries.length(b);
    if (queries == 0) continue;
    lowest_ = std::min(lowest_, -layout_.position(b, queries - 1));
    highest = std::max(highest, layout_.keys.length(b) - layout_.position(b, 0));
  }
  for (std::int64_t distance = lowest_; distance <= highest; ++distance) {
    buckets_.push_back(relative_bucket(distance, table_.size(0), term.options));
  }
}

// ---- products with a table of distances: y_ij = x_ij + scale * q_i . table[clip(j - i)], or with k_j instead of q_i

enum class Side { queries, keys };

class RelativeProducts;
template <class T>
class RelativeProductsRule : public TermRule<T> {
 public:
  RelativeProductsRule(const RelativeProducts& term, const TermCall& call);

  // One small product gives vector . table[r] for all distances r that occur in the tile; then each score picks its
  // own.
  void apply(const kernels::ScoreTile<T>& tile) const override {
    const Span span = distances(tile);
    PoolVector<T> products(static_cast<std::size_t>(vectors(tile) * span.count));
    kernels::gemm<T>(vectors(tile), span.count, width_, vector_rows(tile), stride(), false, table_rows(tile, span),
                     table_stride_, true, products.data(), span.count);
    for_each_score(tile,
                   [&](T& s, std::int64_t i, std::int64_t j) { s += scale_ * products[place(tile, span, i, j)]; });
  }

  void backward(const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>& d) override {
    const Span span = distances(d);
    PoolVector<T> products(static_cast<std::size_t>(vectors(d) * span.count), T(0));
    for_each_score(d,
                   [&](const T& ds, std::int64_t i, std::int64_t j) { products[place(d, span, i, j)] += scale_ * ds; });
    kernels::Epilogue<T> accumulate;
    accumulate.accumulate = true;
    T* dv = vector_gradient_.mutable_data<T>() + first_vector(d);
    kernels::gemm<T>(vectors(d), width_, span.count, products.data(), span.count, false, table_rows(d, span),
                     table_stride_, false, dv, stride(), accumulate);
    T* dt = table_gradient_.mutable_data<T>() + (d.head * table_.size(0) + span.first) * width_;
    kernels::gemm<T>(span.count, width_, vectors(d), products.data(), span.count, true, vector_rows(d), stride(), false,
                     dt, width_, accumulate);
  }
  void prepare_backward() override {
    vector_gradient_ = Tensor::zeros(vectors_.shape(), vectors_.dtype());
    table_gradient_ = Tensor::zeros({query_heads_, table_.size(0), width_}, table_.dtype());
  }
  bool has_shared_parameters() const override { return true; }
  std::vector<Tensor> gradients() override {
    if (shared_by_heads_) return {vector_gradient_, sum_over_axis(table_gradient_, 0).detached_reshape(table_.shape())};
    return {vector_gradient_, table_gradient_.detached_transpose(0, 1).detached_contiguous()};
  }

 private:
  struct Span {
    std::int64_t first, count;  // rows of the table
  };
  // Row of the table for query i and key j.
  std::int64_t row(const kernels::ScoreTile<T>& tile, std::int64_t i, std::int64_t j) const {
    return std::clamp(j - layout_.position(tile.sequence, i), -reach_, reach_) + reach_;
  }
  Span distances(const kernels::ScoreTile<T>& tile) const {
    const std::int64_t first = row(tile, tile.query_begin + tile.queries - 1, tile.key_begin);
    return {first, row(tile, tile.query_begin, tile.key_begin + tile.keys - 1) - first + 1};
  }
  // Vectors of the tile: its queries or its keys.
  std::int64_t vectors(const kernels::ScoreTile<T>& tile) const {
    return side_ == Side::queries ? tile.queries : tile.keys;
  }
  std::size_t place(const kernels::ScoreTile<T>& tile, Span span, std::int64_t i, std::int64_t j) const {
    const std::int64_t vector = side_ == Side::queries ? i - tile.query_begin : j - tile.key_begin;
    return static_cast<std::size_t>(vector * span.count + row(tile, i, j) - span.first);
  }
  std::int64_t stride() const { return vectors_.size(1) * width_; }
  std::int64_t first_vector(const kernels::ScoreTile<T>& tile) const {
    const std::int64_t token = side_ == Side::queries ? layout_.queries.begin(tile.sequence) + tile.query_begin
                                                      : layout_.keys.begin(tile.sequence) + tile.key_begin;
    return token * stride() + tile.head / (query_heads_ / vectors_.size(1)) * width_;
  }
  const T* vector_rows(const kernels::ScoreTile<T>& tile) const { return vectors_.data<T>() + first_vector(tile); }
  const T* table_rows(const kernels::ScoreTile<T>& tile, Span span) const {
    return table_.data<T>() + span.first * table_stride_ + (shared_by_heads_ ? 0 : tile.head * width_);
  }

  Side side_;
  Tensor vectors_, table_;
  const AttentionLayout& layout_;
  std::int64_t query_heads_, width_, reach_, table_stride_;
  bool shared_by_heads_;
  T scale_;
  Tensor vector_gradient_;  // of vectors_' shape
  Tensor table_gradient_;   // [H, 2w + 1, D]: heads are walked by several threads
};

class RelativeProducts : public TermOf<RelativeProducts, RelativeProductsRule> {
 public:
  RelativeProducts(Side of, Tensor rows, Tensor trained)
      : side(of), vectors(std::move(rows)), table(std::move(trained)) {}
  const char* name() const override { return side == Side::queries ? "relative_keys" : "relative_queries"; }
  std::vector<Tensor> tensors() const override { return {vectors, table}; }
  const Offsets& offsets(const TermCall& call) const {
    return side == Side::queries ? call.layout.queries : call.layout.keys;
  }
  void check(const TermCall& call) const {
    const std::int64_t tokens = offsets(call).tokens();
    const bool fits =
        vectors.rank() == 3 && vectors.size(0) == tokens && vectors.size(1) > 0 &&
        (side == Side::queries ? vectors.size(1) == call.query_heads : call.query_heads % vectors.size(1) == 0) &&
        (table.rank() == 2 || table.rank() == 3) && table.size(-1) == vectors.size(2) && table.size(0) % 2 == 1 &&
        (table.rank() == 2 || table.size(1) == call.query_heads);
    HEED_CHECK(fits, "[attend] ", name(), ": vectors ", vectors.shape(), " and table ", table.shape(), " for ", tokens,
               " tokens and ", call.query_heads, " query heads: expected [N, heads, D] and [2w + 1, D] or [2w + 1, ",
               "heads, D]");
  }
  Tensor reference(const Tensor& scores, std::int64_t sequence, const TermCall& call) const override {
    check(call);
    const std::int64_t count = scores.size(1), keys = scores.size(2), heads = scores.size(0), reach = table.size(0) / 2;
    const Tensor own = transpose(slice(vectors, 0, offsets(call).begin(sequence), offsets(call).end(sequence)), 0,
                                 1);  // [H or G, n or m, D]
    std::vector<std::int64_t> rows, head_of;
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t j = 0; j < keys; ++j) {
        rows.push_back(std::clamp(j - call.layout.position(sequence, i), -reach, reach) + reach);
      }
    }
    for (std::int64_t h = 0; h < heads; ++h) head_of.push_back(h / (heads / own.size(0)));
    const std::int64_t width = table.size(-1);
    Tensor wide = table.rank() == 3
                      ? table
                      : broadcast_to(reshape(table, {table.size(0), 1, width}), {table.size(0), heads, width});
    const Tensor a = take_rows(wide, Tensor::from(rows, {count, keys}));  // [n, m, H, D]
    const Tensor by_head = transpose(transpose(a, 0, 2), 1, 2);           // [H, n, m, D]
    const Tensor x = take_rows(own, Tensor::from(head_of, {heads}));      // [H, n or m, D]
    const Tensor beside =
        side == Side::queries ? reshape(x, {heads, count, 1, width}) : reshape(x, {heads, 1, keys, width});
    return add(scores, scale(sum(multiply(by_head, beside), 3), call.scale));
  }
  const Side side;
  const Tensor vectors, table;
};

template <class T>
RelativeProductsRule<T>::RelativeProductsRule(const RelativeProducts& term, const TermCall& call)
    : side_(term.side),
      vectors_(term.vectors.detached_contiguous()),
      table_(term.table.detached_contiguous()),
      layout_(call.layout),
      query_heads_(call.query_heads),
      width_(term.table.size(-1)),
      reach_(term.table.size(0) / 2),
      table_stride_(term.table.rank() == 2 ? width_ : query_heads_ * width_),
      shared_by_heads_(term.table.rank() == 2),
      scale_(static_cast<T>(call.scale)) {
  term.check(call);
}

}  // namespace

std::int64_t relative_bucket(std::int64_t distance, std::int64_t buckets, const BucketOptions& options) {
  std::int64_t first = 0, far = -distance;
  if (options.bidirectional) {
    buckets /= 2;
    if (distance > 0) first = buckets;
    far = std::abs(distance);
  } else {
    far = std::max<std::int64_t>(far, 0);
  }
  const std::int64_t exact = buckets / 2;
  if (far < exact) return first + far;
  const double share = std::log(static_cast<double>(far) / static_cast<double>(exact)) /
                       std::log(static_cast<double>(options.max_distance) / static_cast<double>(exact));
  const auto beyond = static_cast<std::int64_t>(share * static_cast<double>(buckets - exact));
  return first + std::min(exact + beyond, buckets - 1);
}

Term bucket_bias_term(Tensor table, BucketOptions options) {
  HEED_CHECK(table.defined(), "[attend] the bucket table has no value");
  return std::make_shared<BucketBias>(std::move(table), options);
}

Term relative_key_term(Tensor queries, Tensor table) {
  HEED_CHECK(queries.defined() && table.defined(), "[attend] relative keys without a value");
  return std::make_shared<RelativeProducts>(Side::queries, std::move(queries), std::move(table));
}

Term relative_query_term(Tensor keys, Tensor table) {
  HEED_CHECK(keys.defined() && table.defined(), "[attend] relative queries without a value");
  return std::make_shared<RelativeProducts>(Side::keys, std::move(keys), std::move(table));
}

}  // namespace heed
