// The forward pass. A thread takes query tiles of one head after another, and keeps the packed keys and values of the
// head between them. Where a sequence has few queries, as in decoding, the heads of a group take one tile together, so
// that their keys and values are read once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "heed/base/parallel.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/attention_panels-inl.h"
#include "heed/kernels/attention_scores-inl.h"
#include "heed/kernels/attention_summary-inl.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/lanes-inl.h"

#ifndef HEED_ATTENTION_KERNELS
#define HEED_ATTENTION_KERNELS(K, T, suffix)                                                                         \
  K(void, attention, T, suffix,                                                                                      \
    (const AttentionInputs<T>& in, T* out, std::int64_t out_stride, T* log_sum, const AttentionSummary<T>& summary), \
    (in, out, out_stride, log_sum, summary))                                                                         \
  K(void, attention_rows, T, suffix,                                                                                 \
    (const AttentionInputs<T>& in, const T* log_sum, std::int64_t sequence, std::int64_t head,                       \
     std::int64_t query_begin, std::int64_t queries, T* weights),                                                    \
    (in, log_sum, sequence, head, query_begin, queries, weights))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

inline constexpr std::int64_t kForwardRows = 48;

template <class T>
struct ForwardOutputs {
  T* out;
  std::int64_t out_stride;
  T* log_sum;
  AttentionSummary<T> summary;
};

// What one thread needs.
template <class T>
class ForwardWorker {
 public:
  ForwardWorker(const AttentionInputs<T>& in, const AttentionPlan<T>& plan, const ForwardOutputs<T>& to)
      : in_(in),
        plan_(plan),
        to_(to),
        panels_(in, plan),
        source_(in, plan),
        output_columns_(round_up(in.value_width, kPanel<T>)),
        queries_(in.function ? 0 : kForwardRows * in.width),
        scores_(kForwardRows * kScoreStride<T>),
        factors_(in.factors ? scores_.size() : 0),
        outputs_(kForwardRows * output_columns_),
        row_memory_((SoftmaxRows<T>::kArrays + 1) * kRowRoom),
        rows_(row_memory_.data(), kRowRoom),
        links_(to.summary.top_k > 0 ? kForwardRows : 1) {}

  // `heads` are of one group; their rows of the tile follow one another.
  void run(const QueryTile& tile, Range heads) {
    const std::int64_t key_head = heads.begin / plan_.group(), rows = heads.size() * tile.rows;
    if (!panels_.holds(tile.sequence, key_head)) {
      panels_.start(tile.sequence, key_head, plan_.group() == heads.size() && plan_.tiles_of(tile.sequence) == 1);
    }
    start(tile, heads);
    for_each_span<T>(tile, [&](const KeySpan& span) HWY_ATTR {
      const auto block = panels_.block(span.block);
      source_.masked(tile, heads, span, queries_.data(), block.keys, scores_.data());
      to_.summary.entropy ? softmax<true>(rows, span) : softmax<false>(rows, span);
      if (in_.factors) multiply_by_factors(tile, heads, span);
      multiply_panels<T>({rows, in_.value_width, span.keys(), scores_.data(), kScoreStride<T>, 1,
                          block.values + span.begin * kPanel<T>, block.value_stride, outputs_.data(), output_columns_,
                          true});
    });
    for (std::int64_t i = 0; i < heads.size(); ++i) finish(tile, heads.begin + i, i * tile.rows);
  }

 private:
  static constexpr std::int64_t kRowRoom = (kForwardRows + 15) / 16 * 16;  // whole vectors

  void start(const QueryTile& tile, Range heads) {
    const std::int64_t token = plan_.first_query(tile.sequence) + tile.begin, rows = heads.size() * tile.rows;
    for (std::int64_t i = 0; i < heads.size(); ++i) {
      const std::int64_t head = heads.begin + i;
      if (!in_.function) {
        copy_scaled(in_.q + token * in_.q_stride + head * in_.width, in_.q_stride, tile.rows, in_.width,
                    static_cast<T>(in_.scale), queries_.data() + i * tile.rows * in_.width, in_.width);
      }
      prefetch_rows(to_.out + token * to_.out_stride + head * in_.value_width, to_.out_stride, tile.rows);
    }
    std::fill(outputs_.data(), outputs_.data() + rows * output_columns_, T{0});
    rows_.clear(kRowRoom);
    for (std::int64_t r = 0; to_.summary.top_k > 0 && r < rows; ++r) clear_links(links_.data()[r]);
  }

  // The outputs of a tile lie far apart, where no hardware looks ahead.
  void prefetch_rows(const T* from, std::int64_t stride, std::int64_t rows) const {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < in_.value_width; c += kPanel<T>) __builtin_prefetch(from + r * stride + c, 1, 2);
    }
  }

  template <bool kWeighted>
  void softmax(std::int64_t rows, const KeySpan& span) {
    const std::int64_t columns = round_up(span.keys(), kStrip<T>);
    const auto scores = [&](std::int64_t r) { return scores_.data() + r * kScoreStride<T>; };
    for (std::int64_t r = 0; r < rows; ++r) rows_.block[r] = row_maximum(scores(r), columns);
    if (to_.summary.top_k > 0) {
      for (std::int64_t r = 0; r < rows; ++r) {
        update_links(links_.data()[r], to_.summary.top_k, scores(r), columns, rows_.block[r], span.first());
      }
    }
    rows_.advance(rows);
    for (std::int64_t r = 0; r < rows; ++r) {
      if (rows_.factor[r] != 1) scale_row(outputs_.data() + r * output_columns_, output_columns_, rows_.factor[r]);
      softmax_row<kWeighted>(scores(r), columns, rows_.block[r], rows_.sum[r], rows_.weighted[r]);
    }
  }

  void multiply_by_factors(const QueryTile& tile, Range heads, const KeySpan& span) {
    for (std::int64_t i = 0; i < heads.size(); ++i) {
      in_.factors->fill(score_tile(tile, heads.begin + i, span, factors_.data() + i * tile.rows * kScoreStride<T>));
    }
    for (std::int64_t r = 0; r < heads.size() * tile.rows; ++r) {
      multiply_row(factors_.data() + r * kScoreStride<T>, scores_.data() + r * kScoreStride<T>,
                   round_up(span.keys(), kStrip<T>));
    }
  }

  // Rows first_row ... are those of the head.
  void finish(const QueryTile& tile, std::int64_t head, std::int64_t first_row) {
    const TileTag<T> d;
    const std::int64_t first = plan_.first_query(tile.sequence) + tile.begin;
    T* logs = row_memory_.data() + SoftmaxRows<T>::kArrays * kRowRoom;
    if (to_.log_sum || to_.summary.entropy) {
      map(d, rows_.sum + first_row, logs, tile.rows, [&](auto x) HEED_LAMBDA { return log(d, x); });
    }
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      const std::int64_t r = first_row + i, index = (first + i) * in_.query_heads + head;
      const T inverse = rows_.sum[r] == 0 ? T{0} : 1 / rows_.sum[r];
      copy_scaled(outputs_.data() + r * output_columns_, 0, 1, in_.value_width, inverse,
                  to_.out + (first + i) * to_.out_stride + head * in_.value_width, 0);
      if (to_.log_sum) to_.log_sum[index] = std::fma(rows_.maximum[r], kLn2<T>, logs[i]);
      if (to_.summary.entropy) {
        to_.summary.entropy[index] = inverse == 0 ? T{0} : logs[i] - kLn2<T> * rows_.weighted[r] * inverse;
      }
      // 2^(maximum - maximum) / sum, apart from the rounding of the maximum.
      if (to_.summary.maximum) to_.summary.maximum[index] = std::min(inverse, T{1});
      if (to_.summary.top_k > 0) finish_links(to_.summary, links_.data()[r], rows_.block[r], inverse, index);
    }
  }

  const AttentionInputs<T>& in_;
  const AttentionPlan<T>& plan_;
  const ForwardOutputs<T>& to_;
  KeyValuePanels<T> panels_;
  ScoreSource<T> source_;
  std::int64_t output_columns_;
  PoolArray<T> queries_, scores_, factors_, outputs_;
  PoolArray<T> row_memory_;
  SoftmaxRows<T> rows_;
  PoolArray<RowLinks<T>> links_;
};

template <class T>
void attention(const AttentionInputs<T>& in, T* out, std::int64_t out_stride, T* log_sum,
               const AttentionSummary<T>& summary) {
  check_attention(in);
  HEED_CHECK(summary.top_k >= 0 && summary.top_k <= kMostLinks, "[attention] top_k is ", summary.top_k,
             ", expected 0 to ", kMostLinks);
  const AttentionPlan<T> plan(in, kForwardRows);
  const ForwardOutputs<T> to{out, out_stride, log_sum, summary};
  constexpr std::int64_t kLeastCost = 1 << 11;  // scores that are worth another thread
  std::int64_t total = 0, units = 0;            // a unit: heads that share a tile
  for (std::int64_t b = 0; b < plan.sequences(); ++b) total += in.query_heads * plan.cost_of_sequence(b);
  const std::int64_t threads = useful_threads(total, kLeastCost);
  for (std::int64_t b = 0; b < plan.sequences(); ++b) units += in.query_heads / plan.heads_at_once(b, threads);
  const AttentionParts parts(threads, units);
  parallel_for(parts.count, 1, [&](std::int64_t first_part, std::int64_t last_part) HWY_ATTR {
    // Parts are contiguous in (sequence, head, tile) and of about equal cost.
    const Range mine{total * first_part / parts.count, total * last_part / parts.count};
    ForwardWorker<T> worker(in, plan, to);
    std::int64_t at = 0;
    for (std::int64_t b = 0; b < plan.sequences(); ++b) {
      const std::int64_t step = plan.heads_at_once(b, threads);
      for (std::int64_t head = 0; head < in.query_heads; head += step) {
        const std::int64_t head_begin = at;
        for (std::int64_t i = plan.first_tile(b); i < plan.first_tile(b + 1); ++i) {
          const std::int64_t begin = parts.whole_heads ? head_begin : at;
          if (begin >= mine.begin && begin < mine.end) worker.run(plan.tile(i), {head, head + step});
          at += step * plan.cost(plan.tile(i));
        }
      }
    }
  });
}

template <class T>
void attention_rows(const AttentionInputs<T>& in, const T* log_sum, std::int64_t sequence, std::int64_t head,
                    std::int64_t query_begin, std::int64_t queries, T* weights) {
  check_attention(in);
  const AttentionPlan<T> plan(in, kForwardRows);
  HEED_CHECK(sequence >= 0 && sequence < plan.sequences(), "[attention_rows] sequence is ", sequence, " of ",
             plan.sequences());
  HEED_CHECK(head >= 0 && head < in.query_heads, "[attention_rows] head is ", head, " of ", in.query_heads);
  HEED_CHECK(query_begin >= 0 && queries >= 0 && query_begin + queries <= plan.queries(sequence),
             "[attention_rows] queries are ", query_begin, " to ", query_begin + queries, " of ",
             plan.queries(sequence));
  const std::int64_t keys = plan.keys(sequence), first = plan.first_query(sequence);
  std::fill(weights, weights + queries * keys, T{0});
  const ScoreSource<T> source(in, plan);
  PoolArray<T> scaled(in.function ? 0 : kForwardRows * in.width), scores(kForwardRows * kScoreStride<T>);
  PoolArray<T> packed(in.function ? 0 : kKeyBlock * in.width);
  for (std::int64_t begin = query_begin; begin < query_begin + queries; begin += kForwardRows) {
    const QueryTile tile = plan.make_tile(sequence, begin, std::min(kForwardRows, query_begin + queries - begin));
    if (!in.function) {
      copy_scaled(in.q + (first + begin) * in.q_stride + head * in.width, in.q_stride, tile.rows, in.width,
                  static_cast<T>(in.scale), scaled.data(), in.width);
    }
    for_each_span<T>(tile, [&](const KeySpan& span) HWY_ATTR {
      const T* key_panels = packed.data();
      if (!in.pages.empty()) {
        key_panels = page_block(in, sequence, head / plan.group(), span.block).keys;
      } else if (!in.function) {
        pack_transposed(in.k + (plan.first_key(sequence) + span.block) * in.k_stride + head / plan.group() * in.width,
                        in.k_stride, std::min(kKeyBlock, keys - span.block), in.width, packed.data());
      }
      source.masked(tile, {head, head + 1}, span, scaled.data(), key_panels, scores.data());
      for (std::int64_t r = 0; r < tile.rows; ++r) {
        T* row = scores.data() + r * kScoreStride<T>;
        weights_of_row(row, round_up(span.keys(), kStrip<T>), log_sum[(first + begin + r) * in.query_heads + head],
                       row);
        std::copy(row, row + span.keys(), weights + (begin - query_begin + r) * keys + span.first());
      }
    });
  }
}

HEED_TARGET_FUNCTIONS(HEED_ATTENTION_KERNELS)

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HEED_PUBLIC_FUNCTIONS(HEED_ATTENTION_KERNELS)
}  // namespace heed::kernels
#endif  // HWY_ONCE
