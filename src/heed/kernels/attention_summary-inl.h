// The links of attention rows: the keys of their largest weights, kept while the blocks of scores pass by. Included
// once per target.
#if defined(HEED_KERNELS_ATTENTION_SUMMARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_SUMMARY_INL_H_
#undef HEED_KERNELS_ATTENTION_SUMMARY_INL_H_
#else
#define HEED_KERNELS_ATTENTION_SUMMARY_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "heed/kernels/attention.h"
#include "heed/kernels/attention_softmax-inl.h"
#include "heed/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::int64_t kMostLinks = 16;

template <class T>
using LinkKey = hn::TFromD<hn::RebindToSigned<TileTag<T>>>;

// The largest scores of a row so far, descending, the first of equals; -inf and -1 where there are none.
template <class T>
struct RowLinks {
  alignas(64) T scores[kMostLinks];
  alignas(64) LinkKey<T> keys[kMostLinks];
};

template <class T>
void clear_links(RowLinks<T>& links) {
  std::fill(links.scores, links.scores + kMostLinks, kLowest<T>);
  std::fill(links.keys, links.keys + kMostLinks, LinkKey<T>{-1});
}

// The lanes of v moved up by one, `first` in lane 0.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> moved_up(D d, hn::Vec<D> v, T first) {
  const hn::RebindToSigned<D> di;
  const auto from = hn::Max(hn::Sub(hn::Iota(di, 0), hn::Set(di, 1)), hn::Zero(di));
  return hn::IfThenElse(hn::FirstN(d, 1), hn::Set(d, first), hn::TableLookupLanes(v, hn::IndicesFromVec(d, from)));
}

// One vector of a row's links. Each place keeps what reaches the score, takes the score if only the place before does,
// and else what stood before: no branch, and a score that reaches no place changes nothing. Keys must come in ascending
// order. *_before_first is what stands before lane 0.
template <class T>
struct LinkVector {
  using D = TileTag<T>;
  using Keys = hn::RebindToSigned<D>;
  hn::Vec<D> scores;
  hn::Vec<Keys> keys;

  static HWY_INLINE LinkVector load(const RowLinks<T>& links, std::int64_t i) {
    return {hn::Load(D(), links.scores + i), hn::Load(Keys(), links.keys + i)};
  }
  HWY_INLINE void store(RowLinks<T>& links, std::int64_t i) const {
    hn::Store(scores, D(), links.scores + i);
    hn::Store(keys, Keys(), links.keys + i);
  }
  HWY_INLINE void insert(T score, LinkKey<T> key, T score_before_first, LinkKey<T> key_before_first) {
    const auto x = hn::Set(D(), score);
    const auto scores_before = moved_up(D(), scores, score_before_first);
    const auto keys_before = moved_up(Keys(), keys, key_before_first);
    const auto keeps = hn::Ge(scores, x), takes = hn::Ge(scores_before, x);
    scores = hn::IfThenElse(keeps, scores, hn::IfThenElse(takes, x, scores_before));
    keys = hn::IfThenElse(hn::RebindMask(Keys(), keeps), keys,
                          hn::IfThenElse(hn::RebindMask(Keys(), takes), hn::Set(Keys(), key), keys_before));
  }
};

// Links in one vector stay in registers from one candidate to the next.
template <class T>
class ShortLinks {
 public:
  HWY_INLINE ShortLinks(RowLinks<T>& links, std::int64_t) : links_(links), vector_(LinkVector<T>::load(links, 0)) {}
  HWY_INLINE void insert(T score, LinkKey<T> key) { vector_.insert(score, key, -kLowest<T>, LinkKey<T>{-1}); }
  HWY_INLINE void finish() { vector_.store(links_, 0); }

 private:
  RowLinks<T>& links_;
  LinkVector<T> vector_;
};

template <class T>
class LongLinks {
 public:
  HWY_INLINE LongLinks(RowLinks<T>& links, std::int64_t count) : links_(links), count_(count) {}
  HWY_INLINE void insert(T score, LinkKey<T> key) {
    for (std::int64_t i = (count_ - 1) / kLanes<T> * kLanes<T>; i >= 0; i -= kLanes<T>) {
      auto vector = LinkVector<T>::load(links_, i);
      vector.insert(score, key, i == 0 ? -kLowest<T> : links_.scores[i - 1],
                    i == 0 ? LinkKey<T>{-1} : links_.keys[i - 1]);
      vector.store(links_, i);
    }
  }
  HWY_INLINE void finish() {}

 private:
  RowLinks<T>& links_;
  std::int64_t count_;
};

// A bound that at least kLanes scores of the row reach: the least of the maxima of the lanes.
template <class T>
HWY_INLINE T least_lane_maximum(const T* scores, std::int64_t columns) {
  const Strip<T> most = strip_of_maxima(scores, columns);
  return hn::GetLane(hn::MinOfLanes(TileTag<T>(), hn::Max(hn::Max(most.a, most.b), hn::Max(most.c, most.d))));
}

// Bit i: scores[i] > least, for one vector.
template <class T>
HWY_INLINE std::uint64_t bits_above(const T* scores, T least) {
  const TileTag<T> d;
  std::uint8_t bytes[8];
  hn::StoreMaskBits(d, hn::Gt(hn::LoadU(d, scores), hn::Set(d, least)), bytes);
  // Byte by byte as they were stored: a wider load would wait for the store to leave the core.
  std::uint64_t bits = bytes[0];
  if constexpr (kLanes < T >> 8) bits |= std::uint64_t{bytes[1]} << 8;
  return bits;
}

template <class Links, class T>
HWY_INLINE void insert_above(RowLinks<T>& row_links, std::int64_t count, const T* scores, std::int64_t columns, T least,
                             std::int64_t first_key) {
  Links links(row_links, count);
  for (std::int64_t c = 0; c < columns; c += 64) {
    std::uint64_t bits = 0;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(64, columns - c); i += kLanes<T>) {
      bits |= bits_above(scores + c + i, least) << i;
    }
    for (; bits != 0; bits &= bits - 1) {
      const std::int64_t i = c + std::countr_zero(bits);
      links.insert(scores[i], static_cast<LinkKey<T>>(first_key + i));
    }
  }
  links.finish();
}

// Takes in the scores of one key block, whose largest is block_maximum; most blocks of a long row hold nothing new.
template <class T>
HWY_INLINE void update_links(RowLinks<T>& links, std::int64_t count, const T* scores, std::int64_t columns,
                             T block_maximum, std::int64_t first_key) {
  T least = links.scores[count - 1];
  if (!(block_maximum > least)) return;
  if (count > kLanes<T>) return insert_above<LongLinks<T>>(links, count, scores, columns, least, first_key);
  // Into an empty list every score would go once; the bound, which is itself a score, leaves few that do.
  if (least == kLowest<T>) least = std::nextafter(least_lane_maximum(scores, columns), kLowest<T>);
  insert_above<ShortLinks<T>>(links, count, scores, columns, least, first_key);
}

// Writes the links of one row at `index` = query token * heads + head, with weights exp2(exponent_of(score, shift)) *
// inverse.
template <class T>
void finish_links(const AttentionSummary<T>& summary, RowLinks<T>& links, T shift, T inverse, std::int64_t index) {
  const TileTag<T> d;
  const std::int64_t count = summary.top_k;
  if (summary.link_keys) std::copy(links.keys, links.keys + count, summary.link_keys + index * count);
  if (!summary.link_weights) return;
  map(d, links.scores, summary.link_weights + index * count, count, [&](auto s) HEED_LAMBDA {
    return hn::Mul(exp2_or_zero(d, exponent_of(d, s, hn::Set(d, shift))), hn::Set(d, inverse));
  });
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
