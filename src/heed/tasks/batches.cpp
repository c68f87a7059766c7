#include "heed/tasks/batches.h"

#include <algorithm>
#include <numeric>

namespace heed {

std::vector<std::vector<std::size_t>> plan_batches(std::span<const std::size_t> lengths, std::size_t token_budget) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  std::vector<std::vector<std::size_t>> batches;
  std::size_t tokens = 0;
  for (const std::size_t i : order) {
    if (batches.empty() || tokens + lengths[i] > token_budget) {
      batches.emplace_back();
      tokens = 0;
    }
    batches.back().push_back(i);
    tokens += lengths[i];
  }
  return batches;
}

EncoderInput pack_encodings(std::span<const text::Encoding> encodings, std::span<const std::size_t> chosen,
                            bool with_types) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(chosen.size());
  for (const std::size_t i : chosen) lengths.push_back(static_cast<std::int64_t>(encodings[i].size()));
  const Offsets offsets(lengths);
  Tensor ids = Tensor::empty({offsets.tokens()}, DType::i32);
  Tensor types = with_types ? Tensor::empty({offsets.tokens()}, DType::i32) : Tensor();
  for (std::size_t b = 0; b < chosen.size(); ++b) {
    const text::Encoding& encoding = encodings[chosen[b]];
    const std::int64_t begin = offsets.begin(static_cast<std::int64_t>(b));
    std::ranges::copy(encoding.ids, ids.mutable_data<std::int32_t>() + begin);
    if (with_types) std::ranges::copy(encoding.type_ids, types.mutable_data<std::int32_t>() + begin);
  }
  return {.ids = Packed(std::move(ids), offsets), .type_ids = std::move(types)};
}

}  // namespace heed
