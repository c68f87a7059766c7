// Tiles of scores: one query tile against one block of keys, through the score function, the rules and the mask. The
// forward pass, the backward pass and attention_rows all get their scores here, hence the same bits. Included once per
// target.
#if defined(HEED_KERNELS_ATTENTION_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_SCORES_INL_H_
#undef HEED_KERNELS_ATTENTION_SCORES_INL_H_
#else
#define HEED_KERNELS_ATTENTION_SCORES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "heed/kernels/attention.h"
#include "heed/kernels/attention_plan.h"
#include "heed/kernels/attention_product-inl.h"
#include "heed/kernels/attention_softmax-inl.h"
#include "heed/kernels/pool_array.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Distance of two rows of a tile of scores: not a power of two, so that a column does not fall into few cache sets.
template <class T>
inline constexpr std::int64_t kScoreStride = kKeyBlock + kPanel<T>;

// The part of a key block that a query tile works on. Starts at a strip (attention_softmax-inl.h) and a panel.
struct KeySpan {
  std::int64_t block;       // first key of the block, counted in the sequence
  std::int64_t begin, end;  // in the block
  std::int64_t keys() const { return end - begin; }
  std::int64_t first() const { return block + begin; }
};

template <class T>
KeySpan key_span(const QueryTile& tile, std::int64_t block) {
  constexpr std::int64_t unit = HWY_MAX(kStrip<T>, kPanel<T>);
  static_assert(kKeyBlock % unit == 0);
  const std::int64_t begin = std::max<std::int64_t>(0, tile.keys.begin - block) / unit * unit;
  return {block, begin, std::max(begin, std::min(kKeyBlock, tile.keys.end - block))};
}

// Calls f(span) for the key blocks that rows of the tile see, ascending.
template <class T, class F>
HWY_INLINE void for_each_span(const QueryTile& tile, const F& f) {
  if (tile.keys.size() == 0) return;
  for (std::int64_t block = tile.keys.begin / kKeyBlock * kKeyBlock; block < tile.keys.end; block += kKeyBlock) {
    f(key_span<T>(tile, block));
  }
}

template <class T>
ScoreTile<T> score_tile(const QueryTile& tile, std::int64_t head, const KeySpan& span, T* scores) {
  return {tile.sequence, head, tile.begin, tile.rows, span.first(), span.keys(), scores, kScoreStride<T>};
}

template <class T>
class ScoreSource {
 public:
  ScoreSource(const AttentionInputs<T>& in, const AttentionPlan<T>& plan) : in_(in), plan_(plan) {}

  // The scores before all rules. queries: the rows of the tile times the scale, [rows, width]; keys: the packed block.
  ScoreTile<T> raw(const QueryTile& tile, std::int64_t head, const KeySpan& span, const T* queries, const T* keys,
                   T* scores) const {
    const ScoreTile<T> result = score_tile(tile, head, span, scores);
    if (in_.function) {
      in_.function->scores(result);
    } else {
      products(tile.rows, span, queries, keys, scores);
    }
    return result;
  }

  // -inf where a row does not see a key, and up to the end of the last strip.
  void mask(const QueryTile& tile, const KeySpan& span, T* scores) const {
    const std::int64_t columns = round_up(span.keys(), kStrip<T>);
    if (columns == span.keys() && tile.shared.begin <= span.first() && tile.shared.end >= span.block + span.end) return;
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      const Range seen = plan_.visible(tile.sequence, tile.begin + r);
      const auto place = [&](std::int64_t key) { return std::clamp<std::int64_t>(key - span.first(), 0, span.keys()); };
      mask_row(scores + r * kScoreStride<T>, {place(seen.begin), place(seen.end)}, columns);
    }
  }

  // All at once, for several heads of one key head: the rows of the tile for the first head, then for the next one.
  void masked(const QueryTile& tile, Range heads, const KeySpan& span, const T* queries, const T* keys,
              T* scores) const {
    if (!in_.function) products(heads.size() * tile.rows, span, queries, keys, scores);
    for (std::int64_t head = heads.begin; head < heads.end; ++head, scores += tile.rows * kScoreStride<T>) {
      const ScoreTile<T> result = score_tile(tile, head, span, scores);
      if (in_.function) in_.function->scores(result);
      for (const ScoreRule<T>* rule : in_.rules) rule->apply(result);
      mask(tile, span, scores);
    }
  }

 private:
  void products(std::int64_t rows, const KeySpan& span, const T* queries, const T* keys, T* scores) const {
    multiply_panels<T>({rows, span.keys(), in_.width, queries, in_.width, 1, keys + span.begin * in_.width,
                        in_.width * kPanel<T>, scores, kScoreStride<T>, false});
  }

  const AttentionInputs<T>& in_;
  const AttentionPlan<T>& plan_;
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
