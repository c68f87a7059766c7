#include "heed/tasks/batch.h"

#include <algorithm>
#include <numeric>

namespace heed {

Batch make_batch(std::vector<Sample> samples, const ModelInfo& model) {
  std::vector<text::Encoding> sequences, sources;
  std::vector<std::int64_t> remembered;
  for (const Sample& sample : samples) {
    const std::span all(sample.sequences);
    if (sample.has_source) sources.push_back(all.front());
    std::ranges::copy(all.subspan(sample.has_source ? 1 : 0), std::back_inserter(sequences));
    remembered.resize(sequences.size(), static_cast<std::int64_t>(sample.remembered));
  }
  Batch batch{std::move(samples), pack_encodings(sequences, model)};
  if (!sources.empty()) batch.inputs.source = pack_encodings(sources, model).ids;
  const bool any = std::ranges::any_of(remembered, [](std::int64_t tokens) { return tokens > 0; });
  if (any) batch.inputs.remembered = std::move(remembered);
  return batch;
}

std::int64_t Batch::tokens() const {
  return inputs.ids.offsets.tokens() + inputs.source.offsets.tokens();
}

Inputs pack_encodings(std::span<const text::Encoding> encodings, const ModelInfo& model) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(encodings.size());
  for (const text::Encoding& encoding : encodings) lengths.push_back(static_cast<std::int64_t>(encoding.size()));
  const Offsets offsets(lengths);
  const bool with_types = model.type_vocab_size > 1;
  Tensor ids = Tensor::empty({offsets.tokens()}, DType::i32);
  Tensor types = with_types ? Tensor::empty({offsets.tokens()}, DType::i32) : Tensor();
  for (std::size_t b = 0; b < encodings.size(); ++b) {
    const std::int64_t begin = offsets.begin(static_cast<std::int64_t>(b));
    std::ranges::copy(encodings[b].ids, ids.mutable_data<std::int32_t>() + begin);
    if (with_types) std::ranges::copy(encodings[b].type_ids, types.mutable_data<std::int32_t>() + begin);
  }
  return {.ids = Packed(std::move(ids), offsets), .type_ids = std::move(types)};
}

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

}  // namespace heed
