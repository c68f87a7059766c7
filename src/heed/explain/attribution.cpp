#include "heed/explain/attribution.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

// The text of a token, "" if there is none.
std::string spelling(const LoadedModel& model, const std::optional<std::int32_t>& id) {
  return id ? std::string(model.tokenizer().id_to_token(*id).value_or("")) : "";
}

double value_of(const Score& score, const Inputs& input) {
  const NoGrad no_grad;
  const Tensor value = score(input);
  HEED_CHECK(value.shape() == Shape({1}), "[explain] score of one sequence has shape ", value.shape(),
             ", expected [1]");
  return value.item();
}

// Word vectors [n, E] of the text and of the baseline.
struct Path {
  Tensor from, to;
};

Path path_of(const LoadedModel& model, const text::Encoding& encoding, const std::optional<std::int32_t>& padding) {
  const NoGrad no_grad;
  const Backbone& words = *model.model().backbone();
  const Inputs input = repeated_input(model, encoding, 1);
  const Tensor to = words.word_vectors(input.ids.values);
  Tensor from = to.detached_clone();
  const std::int64_t width = to.size(1);
  const std::vector<float> nothing = padding ? words.word_vectors(Tensor::from({*padding}, {1})).to_vector<float>()
                                             : std::vector<float>(static_cast<std::size_t>(width), 0);
  for (std::size_t t = 0; t < encoding.size(); ++t) {
    if (encoding.special_mask[t]) continue;
    std::ranges::copy(nothing, from.mutable_data<float>() + static_cast<std::int64_t>(t) * width);
  }
  return {from, to};
}

// The points first .. first + count of the path, one sequence each: [count * n, E].
Tensor points(const Path& path, std::size_t first, std::size_t count, std::size_t steps) {
  const std::int64_t size = path.to.count();
  Tensor vectors = Tensor::empty({static_cast<std::int64_t>(count) * path.to.size(0), path.to.size(1)});
  float* out = vectors.mutable_data<float>();
  for (std::size_t i = 0; i < count; ++i) {
    const auto alpha = static_cast<float>((static_cast<double>(first + i) + 0.5) / static_cast<double>(steps));
    for (std::int64_t j = 0; j < size; ++j) {
      const float from = path.from.data<float>()[j];
      *out++ = from + alpha * (path.to.data<float>()[j] - from);
    }
  }
  return vectors;
}

// Adds (x - b) . gradient of each token, for each of the points in `gradients` [count * n, E].
void add_products(const Path& path, const Tensor& gradients, std::vector<double>& tokens) {
  const std::int64_t n = path.to.size(0), width = path.to.size(1);
  const float* gradient = gradients.data<float>();
  for (std::int64_t row = 0; row < gradients.size(0); ++row) {
    const std::int64_t t = row % n;
    double sum = 0;
    for (std::int64_t c = 0; c < width; ++c, ++gradient) {
      const std::int64_t at = t * width + c;
      sum += (static_cast<double>(path.to.data<float>()[at]) - static_cast<double>(path.from.data<float>()[at])) *
             static_cast<double>(*gradient);
    }
    tokens[static_cast<std::size_t>(t)] += sum;
  }
}

text::Encoding without(const text::Encoding& encoding, std::size_t first, std::size_t count,
                       const std::optional<std::int32_t>& mask) {
  text::Encoding changed;
  changed.ids = encoding.ids;
  changed.type_ids = encoding.type_ids;
  const auto begin = static_cast<std::ptrdiff_t>(first), end = static_cast<std::ptrdiff_t>(first + count);
  if (mask) {
    std::fill(changed.ids.begin() + begin, changed.ids.begin() + end, *mask);
  } else {
    changed.ids.erase(changed.ids.begin() + begin, changed.ids.begin() + end);
    changed.type_ids.erase(changed.type_ids.begin() + begin, changed.type_ids.begin() + end);
  }
  return changed;
}

}  // namespace

double Attribution::gap() const {
  double sum = 0;
  for (const double each : tokens) sum += each;
  return score - baseline_score - sum;
}

Attribution integrated_gradients(const LoadedModel& model, const text::Encoding& encoding, const Score& score,
                                 const IntegratedGradientsOptions& options) {
  HEED_CHECK(encoding.size() > 0, "[integrated_gradients] the text has no tokens");
  HEED_CHECK(options.steps > 0, "[integrated_gradients] steps are 0, expected at least 1");
  const auto padding = model.special().id("pad_token");
  const Path path = path_of(model, encoding, padding);
  Inputs input = repeated_input(model, encoding, 1);
  Attribution result{.tokens = std::vector<double>(encoding.size(), 0),
                     .score = value_of(score, input),
                     .steps = options.steps,
                     .baseline = spelling(model, padding)};
  input.vectors = path.from;
  result.baseline_score = value_of(score, input);

  const std::size_t together = std::clamp<std::size_t>(options.token_budget / encoding.size(), 1, options.steps);
  const GradMode record_gradients(true);
  for (std::size_t first = 0; first < options.steps; first += together) {
    const std::size_t count = std::min(together, options.steps - first);
    Inputs batch = repeated_input(model, encoding, count);
    batch.vectors = points(path, first, count, options.steps);
    batch.vectors.set_requires_grad();
    backward(sum(score(batch)));
    add_products(path, batch.vectors.grad(), result.tokens);
  }
  for (double& each : result.tokens) each /= static_cast<double>(options.steps);
  return result;
}

Occlusion occlude(const LoadedModel& model, const ReadText& text, const Score& score) {
  const auto mask = model.special().id("mask_token");
  const std::size_t n = text.tokens.size();
  std::vector<text::Encoding> variants;
  std::vector<double*> results;
  Occlusion found{.tokens = std::vector<double>(n, 0),
                  .words = std::vector<double>(text.words.size(), 0),
                  .replacement = spelling(model, mask)};
  const auto ask = [&](std::size_t first, std::size_t count, double& result) {
    variants.push_back(without(text.encoding, first, count, mask));
    results.push_back(&result);
  };
  for (std::size_t w = 0; w < text.words.size(); ++w) {
    const TextWord& word = text.words[w];
    if (word.special) continue;
    ask(word.first, word.count, found.words[w]);
    if (word.count == 1) continue;
    for (std::size_t t = word.first; t < word.first + word.count; ++t) ask(t, 1, found.tokens[t]);
  }
  const double whole = value_of(score, repeated_input(model, text.encoding, 1));
  const NoGrad no_grad;
  std::vector<std::size_t> lengths;
  for (const text::Encoding& variant : variants) lengths.push_back(variant.size());
  for (const auto& chosen : plan_batches(lengths, model.token_budget())) {
    std::vector<text::Encoding> together;
    for (const std::size_t i : chosen) together.push_back(std::move(variants[i]));
    const Tensor values = score(pack_encodings(together, model.model().info()));
    for (std::size_t b = 0; b < chosen.size(); ++b) {
      *results[chosen[b]] = whole - values.at({static_cast<std::int64_t>(b)});
    }
  }
  for (std::size_t w = 0; w < text.words.size(); ++w) {
    if (text.words[w].count == 1) found.tokens[text.words[w].first] = found.words[w];
  }
  return found;
}

}  // namespace heed
