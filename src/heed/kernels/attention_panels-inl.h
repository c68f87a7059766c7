// Blocks of keys and values as the products take them: in panels. Included once per target.
#if defined(HEED_KERNELS_ATTENTION_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_PANELS_INL_H_
#undef HEED_KERNELS_ATTENTION_PANELS_INL_H_
#else
#define HEED_KERNELS_ATTENTION_PANELS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "heed/kernels/attention.h"
#include "heed/kernels/attention_plan.h"
#include "heed/kernels/attention_product-inl.h"
#include "heed/kernels/key_value_page.h"
#include "heed/kernels/pool_array.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

template <class T>
struct KeyValueBlock {
  const T* keys;    // [key / kPanel][width][kPanel]
  const T* values;  // [feature / kPanel], value_stride apart: [key][kPanel]
  std::int64_t value_stride;
};

template <class T>
KeyValueBlock<T> page_block(const AttentionInputs<T>& in, std::int64_t sequence, std::int64_t key_head,
                            std::int64_t first_key) {
  const auto& page = in.pages[static_cast<std::size_t>(sequence)][static_cast<std::size_t>(first_key / kKeyBlock)];
  const PageLayout<T> layout{in.key_heads, in.width, in.value_width, page.capacity};
  return {page.data + layout.keys(key_head), page.data + layout.values(key_head), layout.value_stride()};
}

// The keys and values of one (sequence, key head): read in place from pages, or packed block by block when first asked
// for.
template <class T>
class KeyValuePanels {
 public:
  KeyValuePanels(const AttentionInputs<T>& in, const AttentionPlan<T>& plan) : in_(in), plan_(plan) {}

  // used_once: no block will be asked for twice, so that one block's room is enough.
  void start(std::int64_t sequence, std::int64_t key_head, bool used_once) {
    sequence_ = sequence;
    key_head_ = key_head;
    used_once_ = used_once;
    if (!in_.pages.empty()) return;
    const std::int64_t blocks = used_once ? 1 : ceil_div(plan_.keys(sequence), kKeyBlock);
    if (packed_.size() < blocks) {
      packed_ = PoolArray<char>(blocks);
      panels_ = PoolArray<T>(blocks * (key_room() + value_room()));
    }
    std::fill(packed_.data(), packed_.data() + blocks, char{0});
  }

  bool holds(std::int64_t sequence, std::int64_t key_head) const {
    return sequence == sequence_ && key_head == key_head_;
  }

  KeyValueBlock<T> block(std::int64_t first_key) {
    if (!in_.pages.empty()) return page_block(in_, sequence_, key_head_, first_key);
    const std::int64_t slot = used_once_ ? 0 : first_key / kKeyBlock;
    T* keys = panels_.data() + slot * (key_room() + value_room());
    T* values = keys + key_room();
    if (used_once_ || !packed_.data()[slot]) {
      const std::int64_t token = plan_.first_key(sequence_) + first_key;
      const std::int64_t count = std::min(kKeyBlock, plan_.keys(sequence_) - first_key);
      if (!in_.function) {
        pack_transposed(in_.k + token * in_.k_stride + key_head_ * in_.width, in_.k_stride, count, in_.width, keys);
      }
      pack_scaled(in_.v + token * in_.v_stride + key_head_ * in_.value_width, in_.v_stride, count, in_.value_width,
                  T{1}, values, kKeyBlock * kPanel<T>);
      packed_.data()[slot] = 1;
    }
    return {keys, values, kKeyBlock * kPanel<T>};
  }

 private:
  std::int64_t key_room() const { return in_.function ? 0 : kKeyBlock * in_.width; }
  std::int64_t value_room() const { return kKeyBlock * round_up(in_.value_width, kPanel<T>); }

  const AttentionInputs<T>& in_;
  const AttentionPlan<T>& plan_;
  std::int64_t sequence_ = -1, key_head_ = -1;
  bool used_once_ = false;
  PoolArray<char> packed_;
  PoolArray<T> panels_;
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
