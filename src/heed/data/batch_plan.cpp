#include "heed/data/batch_plan.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed {
namespace {

// Large enough for batches of nearly equal lengths, small enough for an order that is still random.
constexpr std::int64_t kBatchesOfChunk = 50;

std::vector<std::uint32_t> first_order(std::size_t samples, bool shuffle, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::uint32_t> order(samples);
  if (!shuffle) {
    std::iota(order.begin(), order.end(), 0u);
    return order;
  }
  const auto random = permutation(static_cast<std::int64_t>(samples), seed, stream_id("samples", epoch));
  std::ranges::transform(random, order.begin(), [](std::int64_t i) { return static_cast<std::uint32_t>(i); });
  return order;
}

void sort_chunks(std::vector<std::uint32_t>& order, std::span<const std::uint32_t> lengths, const BatchRules& rules) {
  const auto length = [&](std::uint32_t sample) { return lengths[sample]; };
  bool rising = true;  // turns from chunk to chunk, so that lengths are alike at the borders too
  for (auto begin = order.begin(); begin != order.end();) {
    auto end = begin;
    std::int64_t tokens = 0, sequences = 0;
    const auto full = [&] {
      return tokens >= kBatchesOfChunk * rules.tokens ||
             (rules.sequences > 0 && sequences >= kBatchesOfChunk * rules.sequences);
    };
    while (end != order.end() && !full()) tokens += length(*end++), ++sequences;
    std::stable_sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
      return rising ? length(a) < length(b) : length(a) > length(b);
    });
    begin = end;
    rising = !rising;
  }
}

}  // namespace

BatchPlan::BatchPlan(std::span<const std::uint32_t> lengths, const BatchRules& rules, std::uint64_t seed,
                     std::int64_t epoch)
    : order_(first_order(lengths.size(), rules.shuffle, seed, epoch)) {
  HEED_CHECK(rules.tokens > 0 && rules.sequences >= 0, "[BatchPlan] at most ", rules.tokens, " tokens and ",
             rules.sequences, " sequences per batch");
  const bool mixed = rules.shuffle && rules.by_length;
  if (mixed) sort_chunks(order_, lengths, rules);
  for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
    std::int64_t tokens = 0;
    const auto fits = [&](std::size_t i) {
      return tokens + lengths[order_[i]] <= rules.tokens &&
             (rules.sequences == 0 || static_cast<std::int64_t>(i - begin) < rules.sequences);
    };
    while (end < order_.size() && (end == begin || fits(end))) tokens += lengths[order_[end++]];
    ranges_.push_back({begin, end});
  }
  if (!mixed) return;
  // Batches of similar length were made side by side; training takes them in random order.
  const auto random = permutation(batches(), seed, stream_id("batches", epoch));
  std::vector<Range> shuffled;
  shuffled.reserve(ranges_.size());
  for (const std::int64_t i : random) shuffled.push_back(ranges_[static_cast<std::size_t>(i)]);
  ranges_ = std::move(shuffled);
}

std::span<const std::uint32_t> BatchPlan::batch(std::int64_t i) const {
  HEED_CHECK(i >= 0 && i < batches(), "[BatchPlan] batch ", i, " of ", batches());
  const Range range = ranges_[static_cast<std::size_t>(i)];
  return std::span(order_).subspan(range.begin, range.end - range.begin);
}

}  // namespace heed
