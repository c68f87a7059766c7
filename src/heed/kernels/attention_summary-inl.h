// The streaming summaries of attention rows: entropy, largest weight, links (keys of the largest weights). They read
// the scores and change none of them. Included once per target.
#if defined(HEED_KERNELS_ATTENTION_SUMMARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_SUMMARY_INL_H_
#undef HEED_KERNELS_ATTENTION_SUMMARY_INL_H_
#else
#define HEED_KERNELS_ATTENTION_SUMMARY_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "heed/kernels/attention.h"
#include "heed/kernels/attention_softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::int64_t kMostLinks = 16;

// The largest scores of a row so far, descending, the first of equals; -inf where there are none.
template <class T>
struct RowLinks {
  T scores[kMostLinks];
  std::int64_t keys[kMostLinks];
};

template <class T>
void clear_links(RowLinks<T>& links) {
  std::fill(links.scores, links.scores + kMostLinks, kLowest<T>);
  std::fill(links.keys, links.keys + kMostLinks, std::int64_t{-1});
}

template <class T>
HWY_INLINE void insert_link(RowLinks<T>& links, std::int64_t count, T score, std::int64_t key) {
  std::int64_t at = count - 1;
  for (; at > 0 && links.scores[at - 1] < score; --at) {
    links.scores[at] = links.scores[at - 1];
    links.keys[at] = links.keys[at - 1];
  }
  links.scores[at] = score;
  links.keys[at] = key;
}

// Takes in the scores of one key block, whose largest is block_maximum; most blocks hold nothing for a long row.
template <class T>
HWY_INLINE void update_links(RowLinks<T>& links, std::int64_t count, const T* scores, std::int64_t columns,
                             T block_maximum, std::int64_t first_key) {
  if (!(block_maximum > links.scores[count - 1])) return;
  const TileTag<T> d;
  for (std::int64_t c = 0; c < columns; c += kLanes<T>) {
    if (hn::AllFalse(d, hn::Gt(hn::LoadU(d, scores + c), hn::Set(d, links.scores[count - 1])))) continue;
    for (std::int64_t i = c; i < c + kLanes<T>; ++i) {
      if (scores[i] > links.scores[count - 1]) insert_link(links, count, scores[i], first_key + i);
    }
  }
}

// Writes the summary of one row at `index` = query token * heads + head.
template <class T>
void finish_summary(const AttentionSummary<T>& summary, const SoftmaxRow<T>& row, T log_of_sum, RowLinks<T>& links,
                    std::int64_t index) {
  const TileTag<T> d;
  const T inverse = row.sum == 0 ? T{0} : 1 / row.sum;
  if (summary.entropy) summary.entropy[index] = row.sum == 0 ? T{0} : log_of_sum - row.weighted * inverse;
  if (summary.maximum) summary.maximum[index] = inverse;  // exp(maximum - maximum) / sum
  if (summary.links == 0) return;
  if (summary.link_keys) std::copy(links.keys, links.keys + summary.links, summary.link_keys + index * summary.links);
  if (!summary.link_weights) return;
  const auto shift = hn::Set(d, row.sum == 0 ? T{0} : row.maximum);
  for (std::int64_t i = 0; i < summary.links; i += kLanes<T>) {
    const auto p = exp_or_zero(d, hn::Sub(hn::LoadU(d, links.scores + i), shift));
    hn::StoreU(hn::Mul(p, hn::Set(d, inverse)), d, links.scores + i);
  }
  std::copy(links.scores, links.scores + summary.links, summary.link_weights + index * summary.links);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
