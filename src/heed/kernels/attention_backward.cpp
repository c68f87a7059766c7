// The backward pass: scores are computed again, a block of keys against the query tiles that see it. A thread takes
// whole (sequence, key head) pairs, so that every gradient is one chain in one fixed order: dq over ascending keys, dk
// and dv over ascending heads of the group and ascending queries.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_backward.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "heed/base/parallel.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/attention_scores-inl.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/lanes-inl.h"

#ifndef HEED_ATTENTION_BACKWARD_KERNELS
#define HEED_ATTENTION_BACKWARD_KERNELS(K, T, suffix)                                                       \
  K(void, attention_backward, T, suffix,                                                                    \
    (const AttentionInputs<T>& in, const T* out, const T* d_out, std::int64_t out_stride, const T* log_sum, \
     const AttentionGradients<T>& gradients),                                                               \
    (in, out, d_out, out_stride, log_sum, gradients))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

inline constexpr std::int64_t kBackwardRows = 96;

template <class T>
struct BackwardInputs {
  const T *out, *d_out;
  std::int64_t out_stride;
  const T* log_sum;
  AttentionGradients<T> to;
};

// What one thread needs.
template <class T>
class BackwardWorker {
 public:
  BackwardWorker(const AttentionInputs<T>& in, const AttentionPlan<T>& plan, const BackwardInputs<T>& from)
      : in_(in),
        plan_(plan),
        from_(from),
        source_(in, plan),
        products_(!in.function),
        width_(round_up(in.width, kPanel<T>)),
        value_width_(round_up(in.value_width, kPanel<T>)),
        scores_(in.rules.empty() ? 0 : (std::ssize(in.rules) + 1) * kTile),
        weights_(kTile),
        d_scores_(kTile),
        factors_(in.factors ? kTile : 0),
        transposed_values_(kKeyBlock * in.value_width),
        dv_(kKeyBlock * value_width_) {
    if (!products_) return;
    transposed_keys_ = PoolArray<T>(kKeyBlock * in.width);
    keys_ = PoolArray<T>(kKeyBlock * width_);
    dk_ = PoolArray<T>(kKeyBlock * width_);
  }

  void run(std::int64_t sequence, std::int64_t key_head) {
    sequence_ = sequence;
    key_head_ = key_head;
    reserve(plan_.queries(sequence));
    for (std::int64_t i = 0; i < plan_.group(); ++i) {
      head_ = key_head * plan_.group() + i;
      if (queries() > 0) start_head();
      for (std::int64_t block = 0; block < plan_.keys(sequence); block += kKeyBlock) run_block(block, i > 0);
      if (products_ && queries() > 0) {
        copy_scaled(dq_.data(), width_, queries(), in_.width, static_cast<T>(in_.scale),
                    from_.to.dq + first_query() * in_.q_stride + head_ * in_.width, in_.q_stride);
      }
    }
  }

 private:
  static constexpr std::int64_t kTile = kBackwardRows * kScoreStride<T>;

  std::int64_t queries() const { return plan_.queries(sequence_); }
  std::int64_t first_query() const { return plan_.first_query(sequence_); }
  const T* d_out(std::int64_t row) const {
    return from_.d_out + (first_query() + row) * from_.out_stride + head_ * in_.value_width;
  }

  void reserve(std::int64_t queries) {
    if (delta_.size() >= queries) return;
    delta_ = PoolArray<T>(queries);
    d_out_panels_ = PoolArray<T>(queries * value_width_);
    if (!products_) return;
    scaled_ = PoolArray<T>(queries * in_.width);
    query_panels_ = PoolArray<T>(queries * width_);
    dq_ = PoolArray<T>(queries * width_);
  }

  // All that the tiles of a head need of its queries and outputs.
  void start_head() {
    const TileTag<T> d;
    const std::int64_t n = queries();
    const T* out = from_.out + first_query() * from_.out_stride + head_ * in_.value_width;
    for (std::int64_t r = 0; r < n; ++r) {
      const T *o = out + r * from_.out_stride, *g = d_out(r);
      delta_.data()[r] = static_cast<T>(sum_of(d, in_.value_width, [&](std::int64_t c, std::int64_t count) HEED_LAMBDA {
        return hn::Mul(load_some(d, o + c, count), load_some(d, g + c, count));
      }));
    }
    pack_scaled(d_out(0), from_.out_stride, n, in_.value_width, T{1}, d_out_panels_.data(), n * kPanel<T>);
    if (!products_) return;
    const T* q = in_.q + first_query() * in_.q_stride + head_ * in_.width;
    const T scale = static_cast<T>(in_.scale);
    copy_scaled(q, in_.q_stride, n, in_.width, scale, scaled_.data(), in_.width);
    pack_scaled(q, in_.q_stride, n, in_.width, scale, query_panels_.data(), n * kPanel<T>);
    std::fill(dq_.data(), dq_.data() + n * width_, T{0});
  }

  void run_block(std::int64_t block, bool continues) {
    const std::int64_t count = std::min(kKeyBlock, plan_.keys(sequence_) - block);
    const std::int64_t token = plan_.first_key(sequence_) + block;
    const std::int64_t k_place = token * in_.k_stride + key_head_ * in_.width;
    const std::int64_t v_place = token * in_.v_stride + key_head_ * in_.value_width;
    pack_transposed(in_.v + v_place, in_.v_stride, count, in_.value_width, transposed_values_.data());
    start_sums(dv_, value_width_, from_.to.dv + v_place, in_.v_stride, count, in_.value_width, continues);
    if (products_) {
      pack_transposed(in_.k + k_place, in_.k_stride, count, in_.width, transposed_keys_.data());
      pack_scaled(in_.k + k_place, in_.k_stride, count, in_.width, T{1}, keys_.data(), kKeyBlock * kPanel<T>);
      start_sums(dk_, width_, from_.to.dk + k_place, in_.k_stride, count, in_.width, continues);
    }
    for (std::int64_t i = plan_.first_tile(sequence_); i < plan_.first_tile(sequence_ + 1); ++i) {
      const QueryTile& tile = plan_.tile(i);
      const KeySpan span = key_span<T>(tile, block);
      if (tile.keys.begin < block + kKeyBlock && span.keys() > 0) backward_tile(tile, span);
    }
    copy_scaled(dv_.data(), value_width_, count, in_.value_width, T{1}, from_.to.dv + v_place, in_.v_stride);
    if (products_) copy_scaled(dk_.data(), width_, count, in_.width, T{1}, from_.to.dk + k_place, in_.k_stride);
  }

  // The chains of dk and dv start from 0, or go on where the last head of the group left them.
  void start_sums(PoolArray<T>& sums, std::int64_t ld, const T* gradient, std::int64_t stride, std::int64_t rows,
                  std::int64_t columns, bool continues) {
    std::fill(sums.data(), sums.data() + kKeyBlock * ld, T{0});
    if (continues) copy_scaled(gradient, stride, rows, columns, T{1}, sums.data(), ld);
  }

  void backward_tile(const QueryTile& tile, const KeySpan& span) {
    make_weights(tile, span);
    // dP = dO V^T
    multiply_panels<T>({tile.rows, span.keys(), in_.value_width, d_out(tile.begin), from_.out_stride, 1,
                        transposed_values_.data() + span.begin * in_.value_width, in_.value_width * kPanel<T>,
                        d_scores_.data(), kScoreStride<T>, false});
    softmax_backward(tile, span);
    // dV += P^T dO
    multiply_panels<T>({span.keys(), in_.value_width, tile.rows, weights_.data(), 1, kScoreStride<T>,
                        d_out_panels_.data() + tile.begin * kPanel<T>, queries() * kPanel<T>,
                        dv_.data() + span.begin * value_width_, value_width_, true});
    rules_backward(tile, span);
    if (!products_) {
      in_.function->backward(score_tile(tile, head_, span, d_scores_.data()));
      return;
    }
    // dQ += dS K, dK += dS^T (scale Q)
    multiply_panels<T>({tile.rows, in_.width, span.keys(), d_scores_.data(), kScoreStride<T>, 1,
                        keys_.data() + span.begin * kPanel<T>, kKeyBlock * kPanel<T>, dq_.data() + tile.begin * width_,
                        width_, true});
    multiply_panels<T>({span.keys(), in_.width, tile.rows, d_scores_.data(), 1, kScoreStride<T>,
                        query_panels_.data() + tile.begin * kPanel<T>, queries() * kPanel<T>,
                        dk_.data() + span.begin * width_, width_, true});
  }

  // Turns dP into dS, and P into the weights that went to the values. The delta of a row, dO . o, holds with factors
  // too.
  void softmax_backward(const QueryTile& tile, const KeySpan& span) {
    const std::int64_t columns = round_up(span.keys(), kStrip<T>);
    if (in_.factors) in_.factors->fill(score_tile(tile, head_, span, factors_.data()));
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      const std::int64_t at = r * kScoreStride<T>;
      if (in_.factors) multiply_row(factors_.data() + at, d_scores_.data() + at, columns);
      softmax_gradient_row(weights_.data() + at, delta_.data()[tile.begin + r], d_scores_.data() + at, columns);
      if (in_.factors) multiply_row(factors_.data() + at, weights_.data() + at, columns);
    }
  }

  // With rules, the scores before rule i stay in scores_ at i * kTile, for its backward.
  void make_weights(const QueryTile& tile, const KeySpan& span) {
    T* scores = in_.rules.empty() ? weights_.data() : scores_.data();
    const T* queries = products_ ? scaled_.data() + tile.begin * in_.width : nullptr;
    source_.raw(tile, head_, span, queries, transposed_keys_.data(), scores);
    for (const ScoreRule<T>* rule : in_.rules) {
      std::copy(scores, scores + tile.rows * kScoreStride<T>, scores + kTile);
      scores += kTile;
      rule->apply(score_tile(tile, head_, span, scores));
    }
    if (!in_.rules.empty()) std::copy(scores, scores + tile.rows * kScoreStride<T>, weights_.data());
    source_.mask(tile, span, weights_.data());
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      T* row = weights_.data() + r * kScoreStride<T>;
      weights_of_row(row, round_up(span.keys(), kStrip<T>),
                     from_.log_sum[(first_query() + tile.begin + r) * in_.query_heads + head_], row);
    }
  }

  void rules_backward(const QueryTile& tile, const KeySpan& span) {
    for (std::int64_t i = std::ssize(in_.rules) - 1; i >= 0; --i) {
      in_.rules[static_cast<std::size_t>(i)]->backward(score_tile(tile, head_, span, scores_.data() + i * kTile),
                                                       score_tile(tile, head_, span, scores_.data() + (i + 1) * kTile),
                                                       score_tile(tile, head_, span, d_scores_.data()));
    }
  }

  const AttentionInputs<T>& in_;
  const AttentionPlan<T>& plan_;
  const BackwardInputs<T>& from_;
  ScoreSource<T> source_;
  bool products_;                     // scores are products of q and k, not of a ScoreFunction
  std::int64_t width_, value_width_;  // rounded up to panels
  std::int64_t sequence_ = 0, key_head_ = 0, head_ = 0;
  PoolArray<T> scores_, weights_, d_scores_, factors_;                 // tiles
  PoolArray<T> transposed_values_, dv_, transposed_keys_, keys_, dk_;  // of the key block
  PoolArray<T> delta_, d_out_panels_, scaled_, query_panels_, dq_;     // of the head
};

template <class T>
void attention_backward(const AttentionInputs<T>& in, const T* out, const T* d_out, std::int64_t out_stride,
                        const T* log_sum, const AttentionGradients<T>& gradients) {
  check_attention(in);
  HEED_CHECK(in.pages.empty(), "[attention_backward] keys and values in pages have no gradients");
  const AttentionPlan<T> plan(in, kBackwardRows);
  const BackwardInputs<T> from{out, d_out, out_stride, log_sum, gradients};
  const bool in_order = std::any_of(in.rules.begin(), in.rules.end(),
                                    [](const ScoreRule<T>* rule) { return rule->has_shared_parameters(); });
  if (in_order) {
    parallel_for(in.key_heads, 1, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
      BackwardWorker<T> worker(in, plan, from);
      for (std::int64_t head = begin; head < end; ++head) {
        for (std::int64_t b = 0; b < plan.sequences(); ++b) worker.run(b, head);
      }
    });
    return;
  }
  // Keys that no query sees have gradients too.
  const auto cost_of = [&](std::int64_t b) { return plan.cost_of_sequence(b) + plan.keys(b); };
  std::int64_t total = 0;
  for (std::int64_t b = 0; b < plan.sequences(); ++b) total += in.key_heads * cost_of(b);
  constexpr std::int64_t kLeastCost = 1 << 10;
  const std::int64_t parts = AttentionParts(useful_threads(total, kLeastCost), plan.sequences() * in.key_heads).count;
  parallel_for(parts, 1, [&](std::int64_t first_part, std::int64_t last_part) HWY_ATTR {
    const Range mine{total * first_part / parts, total * last_part / parts};
    BackwardWorker<T> worker(in, plan, from);
    std::int64_t at = 0;
    for (std::int64_t b = 0; b < plan.sequences(); ++b) {
      const std::int64_t cost = cost_of(b);
      for (std::int64_t head = 0; head < in.key_heads; ++head, at += cost) {
        if (at >= mine.begin && at < mine.end) worker.run(b, head);
      }
    }
  });
}

HEED_TARGET_FUNCTIONS(HEED_ATTENTION_BACKWARD_KERNELS)

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HEED_PUBLIC_FUNCTIONS(HEED_ATTENTION_BACKWARD_KERNELS)
}  // namespace heed::kernels
#endif  // HWY_ONCE
