#include "heed/tasks/embed_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/join.h"
#include "heed/ops/gather.h"
#include "heed/ops/reduce.h"

namespace heed {
namespace {

using SentencePooling = SentenceEmbedding::Pooling;

constexpr double kLeastLength = 1e-12;  // a vector of zeros stays one
constexpr std::pair<std::string_view, SentencePooling> kPoolings[] = {
    {"cls", SentencePooling::cls}, {"mean", SentencePooling::mean}, {"max", SentencePooling::max}};

SentencePooling pooling_named(std::string_view name) {
  for (const auto& [known, pooling] : kPoolings) {
    if (name == known) return pooling;
  }
  fail(ErrorKind::invalid_argument, "[embed] pooling is \"", name, "\", expected cls, mean or max");
}

std::string prompt_text(const SentenceEmbedding& settings, const std::optional<std::string>& asked) {
  const std::string name = asked ? *asked : settings.default_prompt_name.value_or("");
  if (name.empty()) return "";
  const auto found = settings.prompts.find(name);
  const std::string known = join(settings.prompts, ", ", [](const auto& prompt) { return prompt.first; });
  HEED_CHECK(found != settings.prompts.end(), "[embed] the folder has no prompt \"", name, "\"; it has ",
             known.empty() ? "none" : known);
  return found->second;
}

// The tokens after the first `count` of each sequence.
Packed without_first(const Tensor& hidden, const Offsets& offsets, std::int64_t count) {
  std::vector<std::int64_t> rows, lengths;
  for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
    const std::int64_t first = std::min(offsets.begin(b) + count, offsets.end(b));
    for (std::int64_t t = first; t < offsets.end(b); ++t) rows.push_back(t);
    lengths.push_back(offsets.end(b) - first);
  }
  return Packed(take_rows(hidden, Tensor::from(rows, {static_cast<std::int64_t>(rows.size())})), Offsets(lengths));
}

}  // namespace

EmbedPlan::EmbedPlan(const TaskSetup& setup, const EmbedOptions& options) {
  const SentenceEmbedding settings = setup.sentence_embedding.value_or(SentenceEmbedding{});
  pooling = options.pooling.empty() ? settings.pooling : pooling_named(options.pooling);
  normalize = options.normalize.value_or(settings.normalize);
  prompt = prompt_text(settings, options.prompt);
  const auto limit =
      static_cast<std::size_t>(settings.max_tokens.value_or(static_cast<std::int64_t>(setup.max_tokens)));
  max_tokens = std::min(limit, setup.max_tokens);
  if (settings.include_prompt || prompt.empty() || pooling == SentencePooling::cls) return;
  // sentence-transformers' rule: as many as the prompt has by itself, without the special token after it.
  const text::Truncation cut{.max_length = max_tokens};
  skipped_tokens = static_cast<std::int64_t>(setup.tokenizer.encode(prompt, {.truncation = cut}).size()) - 1;
}

Tensor EmbedPlan::pool(const Tensor& hidden, const Offsets& offsets) const {
  const Packed seen = skipped_tokens > 0 ? without_first(hidden, offsets, skipped_tokens) : Packed(hidden, offsets);
  switch (pooling) {
    case SentencePooling::cls: return first_tokens(seen.values, seen.offsets);
    case SentencePooling::mean: return heed::pool(seen, PoolKind::mean);
    case SentencePooling::max: return heed::pool(seen, PoolKind::max);
  }
  fail(ErrorKind::internal, "[embed] pooling ", static_cast<int>(pooling));
}

std::vector<float> EmbedPlan::finished(std::span<const float> row) const {
  std::vector<float> vector(row.begin(), row.end());
  if (!normalize) return vector;
  const double length = std::max(std::sqrt(dot(row, row)), kLeastLength);
  for (float& value : vector) value = static_cast<float>(static_cast<double>(value) / length);
  return vector;
}

bool has_hidden_states(const Model& model) {
  return model.backbone()->encodes() != nullptr && model.backbone()->reads() == nullptr;
}

std::string_view to_string(SentencePooling pooling) {
  return kPoolings[static_cast<std::size_t>(pooling)].first;
}

Field pooling_field(std::string& pooling) {
  return Field("pooling", pooling,
               "how tokens become one vector: mean, cls or max; default: what the model's folder says, else mean")
      .one_of({"", "mean", "cls", "max"});
}

Field prompt_field(std::optional<std::string>& prompt) {
  return Field("prompt", prompt, "name of the prompt to put before each text, one of those in the model's folder");
}

}  // namespace heed
