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
    return relative_bucket(j - layout_.position(tile.sequence, i), table_.size(0), options_);
  }
  Tensor table_, gradient_;
  BucketOptions options_;
  const AttentionLayout& layout_;
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
    const Tensor bias = embedding(table, Tensor::from(buckets, {queries, keys}));  // [queries, keys, H]
    return add(scores, transpose(transpose(bias, 1, 2), 0, 1));
  }
  const Tensor table;
  const BucketOptions options;
};

template <class T>
BucketBiasRule<T>::BucketBiasRule(const BucketBias& term, const TermCall& call)
    : table_(term.table.contiguous()), options_(term.options), layout_(call.layout), heads_(call.query_heads) {
  term.check(call);
}

// ---- relative keys: y_ij = x_ij + scale * q_i . table[clip(j - i)]

class RelativeKeys;
template <class T>
class RelativeKeysRule : public TermRule<T> {
 public:
  RelativeKeysRule(const RelativeKeys& term, const TermCall& call);

  // One small product gives q_i . table[r] for all distances r that occur in the tile; then each score picks its own.
  void apply(const kernels::ScoreTile<T>& tile) const override {
    const Span span = distances(tile);
    PoolVector<T> products(static_cast<std::size_t>(tile.queries * span.count));
    kernels::gemm<T>(tile.queries, span.count, width_, query_rows(tile), heads_ * width_, false, table_rows(tile, span),
                     table_stride_, true, products.data(), span.count);
    for_each_score(tile, [&](T& s, std::int64_t i, std::int64_t j) {
      s += scale_ *
           products[static_cast<std::size_t>((i - tile.query_begin) * span.count + row(tile, i, j) - span.first)];
    });
  }

  void backward(const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>& d) override {
    const Span span = distances(d);
    PoolVector<T> products(static_cast<std::size_t>(d.queries * span.count), T(0));
    for_each_score(d, [&](const T& ds, std::int64_t i, std::int64_t j) {
      products[static_cast<std::size_t>((i - d.query_begin) * span.count + row(d, i, j) - span.first)] += scale_ * ds;
    });
    kernels::Epilogue<T> accumulate;
    accumulate.accumulate = true;
    const std::int64_t token = layout_.queries.begin(d.sequence) + d.query_begin;
    T* dq = query_gradient_.mutable_data<T>() + (token * heads_ + d.head) * width_;
    kernels::gemm<T>(d.queries, width_, span.count, products.data(), span.count, false, table_rows(d, span),
                     table_stride_, false, dq, heads_ * width_, accumulate);
    T* dt = table_gradient_.mutable_data<T>() + (d.head * table_.size(0) + span.first) * width_;
    kernels::gemm<T>(span.count, width_, d.queries, products.data(), span.count, true, query_rows(d), heads_ * width_,
                     false, dt, width_, accumulate);
  }
  void prepare_backward() override {
    query_gradient_ = Tensor::zeros(queries_.shape(), queries_.dtype());
    table_gradient_ = Tensor::zeros({heads_, table_.size(0), width_}, table_.dtype());
  }
  bool has_shared_parameters() const override { return true; }
  std::vector<Tensor> gradients() override {
    if (shared_by_heads_) return {query_gradient_, sum_over_axis(table_gradient_, 0).reshaped(table_.shape())};
    return {query_gradient_, table_gradient_.transposed(0, 1).contiguous()};
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
  const T* query_rows(const kernels::ScoreTile<T>& tile) const {
    const std::int64_t token = layout_.queries.begin(tile.sequence) + tile.query_begin;
    return queries_.data<T>() + (token * heads_ + tile.head) * width_;
  }
  const T* table_rows(const kernels::ScoreTile<T>& tile, Span span) const {
    return table_.data<T>() + span.first * table_stride_ + (shared_by_heads_ ? 0 : tile.head * width_);
  }

  Tensor queries_, table_;
  const AttentionLayout& layout_;
  std::int64_t heads_, width_, reach_, table_stride_;
  bool shared_by_heads_;
  T scale_;
  Tensor query_gradient_;  // [Nq, H, D]
  Tensor table_gradient_;  // [H, 2w + 1, D]: heads are walked by several threads
};

class RelativeKeys : public TermOf<RelativeKeys, RelativeKeysRule> {
 public:
  RelativeKeys(Tensor query_rows, Tensor trained) : queries(std::move(query_rows)), table(std::move(trained)) {}
  const char* name() const override { return "relative_keys"; }
  std::vector<Tensor> tensors() const override { return {queries, table}; }
  void check(const TermCall& call) const {
    const bool fits = queries.rank() == 3 && queries.size(0) == call.layout.queries.tokens() &&
                      queries.size(1) == call.query_heads && (table.rank() == 2 || table.rank() == 3) &&
                      table.size(-1) == queries.size(2) && table.size(0) % 2 == 1 &&
                      (table.rank() == 2 || table.size(1) == call.query_heads);
    HEED_CHECK(fits, "[attend] relative keys: queries ", queries.shape(), " and table ", table.shape(), " for ",
               call.layout.queries.tokens(), " queries of ", call.query_heads,
               " heads: expected [Nq, heads, D] and [2w + 1, D] or [2w + 1, heads, D]");
  }
  Tensor reference(const Tensor& scores, std::int64_t sequence, const TermCall& call) const override {
    check(call);
    const std::int64_t count = scores.size(1), keys = scores.size(2), heads = scores.size(0), reach = table.size(0) / 2;
    const Offsets& offsets = call.layout.queries;
    const Tensor q = transpose(slice(queries, 0, offsets.begin(sequence), offsets.end(sequence)), 0, 1);  // [H, n, D]
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t j = 0; j < keys; ++j) {
        rows.push_back(std::clamp(j - call.layout.position(sequence, i), -reach, reach) + reach);
      }
    }
    const std::int64_t width = table.size(-1);
    Tensor wide = table.rank() == 3
                      ? table
                      : broadcast_to(reshape(table, {table.size(0), 1, width}), {table.size(0), heads, width});
    const Tensor a = embedding(wide, Tensor::from(rows, {count, keys}));  // [n, m, H, D]
    const Tensor by_head = transpose(transpose(a, 0, 2), 1, 2);           // [H, n, m, D]
    const Tensor dots = sum(multiply(by_head, reshape(q, {heads, count, 1, width})), 3);
    return add(scores, scale(dots, call.scale));
  }
  const Tensor queries, table;
};

template <class T>
RelativeKeysRule<T>::RelativeKeysRule(const RelativeKeys& term, const TermCall& call)
    : queries_(term.queries.contiguous()),
      table_(term.table.contiguous()),
      layout_(call.layout),
      heads_(call.query_heads),
      width_(term.table.size(-1)),
      reach_(term.table.size(0) / 2),
      table_stride_(term.table.rank() == 2 ? width_ : heads_ * width_),
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
  return std::make_shared<RelativeKeys>(std::move(queries), std::move(table));
}

}  // namespace heed
