#include "heed/tasks/embed.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/gather.h"
#include "heed/ops/reduce.h"

namespace heed {
namespace {

using SentencePooling = SentenceEmbedding::Pooling;

// The tokens behind the first `count` of each sequence.
Packed without_first(const Tensor& hidden, const Offsets& offsets, std::int64_t count) {
  std::vector<std::int64_t> rows, lengths;
  for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
    const std::int64_t first = std::min(offsets.begin(b) + count, offsets.end(b));
    for (std::int64_t t = first; t < offsets.end(b); ++t) rows.push_back(t);
    lengths.push_back(offsets.end(b) - first);
  }
  return Packed(embedding(hidden, Tensor::from(rows, {static_cast<std::int64_t>(rows.size())})), Offsets(lengths));
}

constexpr double kLeastLength = 1e-12;  // a vector of zeros stays one

std::string prompt_text(const SentenceEmbedding& settings, const std::optional<std::string>& asked) {
  const std::string name = asked ? *asked : settings.default_prompt_name.value_or("");
  if (name.empty()) return "";
  const auto found = settings.prompts.find(name);
  std::string known;
  for (const auto& [each, text] : settings.prompts) known += (known.empty() ? "" : ", ") + each;
  HEED_CHECK(found != settings.prompts.end(), "[embed] the folder has no prompt \"", name, "\"; it has ",
             known.empty() ? "none" : known);
  return found->second;
}

}  // namespace

double dot(const float* a, const float* b, std::int64_t size) {
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

SentencePooling pooling_named(std::string_view name) {
  if (name == "cls") return SentencePooling::cls;
  if (name == "mean") return SentencePooling::mean;
  if (name == "max") return SentencePooling::max;
  fail(ErrorKind::invalid_argument, "[embed] pooling is \"", name, "\", expected cls, mean or max");
}

EmbedPlan embed_plan(const TextModel& model, const EmbedOptions& options) {
  const SentenceEmbedding settings = model.folder().sentence_embedding().value_or(SentenceEmbedding{});
  const auto limit =
      static_cast<std::size_t>(settings.max_tokens.value_or(static_cast<std::int64_t>(model.max_tokens())));
  return {.pooling = options.pooling.value_or(settings.pooling),
          .normalize = options.normalize.value_or(settings.normalize),
          .prompt = prompt_text(settings, options.prompt),
          .pools_prompt = settings.include_prompt,
          .max_tokens = std::min(limit, model.max_tokens())};
}

Tensor pool_texts(const Tensor& hidden, const Offsets& offsets, SentencePooling pooling) {
  switch (pooling) {
    case SentencePooling::cls: return first_tokens(hidden, offsets);
    case SentencePooling::mean: return pool(Packed(hidden, offsets), Pooling::mean);
    case SentencePooling::max: return pool(Packed(hidden, offsets), Pooling::max);
  }
  fail(ErrorKind::internal, "[embed] pooling ", static_cast<int>(pooling));
}

Tensor embed(const TextModel& model, const std::vector<std::string>& texts, const EmbedOptions& options) {
  const EmbedPlan plan = embed_plan(model, options);
  std::vector<TextInput> inputs;
  inputs.reserve(texts.size());
  for (const std::string& text : texts) inputs.emplace_back(plan.prompt + text);
  const auto encodings = model.encode(inputs, {.max_length = plan.max_tokens});
  // sentence-transformers' rule: as many as the prompt has by itself, without the special token behind it.
  std::int64_t skipped = 0;
  if (!plan.pools_prompt && !plan.prompt.empty()) {
    const TextInput alone(plan.prompt);
    skipped =
        static_cast<std::int64_t>(model.encode(std::span(&alone, 1), {.max_length = plan.max_tokens})[0].size()) - 1;
  }

  const std::int64_t width = model.encoder().config().width;
  Tensor vectors = Tensor::empty({static_cast<std::int64_t>(texts.size()), width});
  model.for_each_batch(encodings, [&](const std::vector<std::size_t>& chosen, const EncoderInput& input) {
    const Tensor hidden = model.encoder().encode(input, Context());
    const bool skips = skipped > 0 && plan.pooling != SentencePooling::cls;
    const Packed seen = skips ? without_first(hidden, input.ids.offsets, skipped) : Packed(hidden, input.ids.offsets);
    const Tensor rows = pool_texts(seen.values, seen.offsets, plan.pooling);
    for (std::size_t b = 0; b < chosen.size(); ++b) {
      const float* row = rows.data<float>() + static_cast<std::int64_t>(b) * width;
      float* vector = vectors.mutable_data<float>() + static_cast<std::int64_t>(chosen[b]) * width;
      std::copy_n(row, width, vector);
      if (!plan.normalize) continue;
      const double length = std::max(std::sqrt(dot(row, row, width)), kLeastLength);
      for (std::int64_t i = 0; i < width; ++i) vector[i] = static_cast<float>(static_cast<double>(row[i]) / length);
    }
  });
  return vectors;
}

std::vector<float> similarity(const TextModel& model, const std::string& source, const std::vector<std::string>& texts,
                              const EmbedOptions& options) {
  std::vector<std::string> all = {source};
  all.insert(all.end(), texts.begin(), texts.end());
  const Tensor vectors = embed(model, all, options);
  const std::int64_t width = vectors.size(1);
  const float* first = vectors.data<float>();
  const double length = std::sqrt(dot(first, first, width));
  std::vector<float> cosines;
  cosines.reserve(texts.size());
  for (std::int64_t i = 1; i < vectors.size(0); ++i) {
    const float* other = first + i * width;
    const double lengths = length * std::sqrt(dot(other, other, width));
    cosines.push_back(static_cast<float>(dot(first, other, width) / std::max(lengths, kLeastLength)));
  }
  return cosines;
}

}  // namespace heed
