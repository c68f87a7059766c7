#include "heed/explain/look.h"

#include <algorithm>

#include "heed/attention/attend.h"
#include "heed/base/error.h"
#include "heed/tasks/generate.h"

namespace heed {
namespace {

ClassifierEvidence evidence_of(const LoadedModel& model, const TextInput& input, const ReadText& text,
                               const LookOptions& options) {
  ClassifierEvidence found{.labels = std::move(classify(model, {input}).front())};
  const auto explained = [&](const std::string& label) {
    const auto place = std::ranges::find(model.labels(), label) - model.labels().begin();
    const Score score = label_score(model, static_cast<std::size_t>(place));
    return LabelEvidence{label, integrated_gradients(model, text.encoding, score, options.gradients),
                         occlude(model, text, score)};
  };
  LabelEvidence best = explained(found.labels.front().label);
  found.gradients = std::move(best.gradients);
  found.occlusion = std::move(best.occlusion);
  for (std::size_t i = 1; i < std::min(options.labels, found.labels.size()); ++i) {
    found.others.push_back(explained(found.labels[i].label));
  }
  return found;
}

// The text, and what the model writes after it.
void read_and_write(const LoadedModel& model, const TextInput& input, const LookOptions& options, Look& look) {
  HEED_CHECK(!input.pair, "[look_at] a pair of texts for a model that writes on after one");
  const ReadText read = read_text(model, input);
  std::vector<std::int32_t> ids = read.encoding.ids;
  if (!options.generation.empty()) {
    const WrittenText written = std::move(generate_texts(model, {input.text}, options.generation).front().front());
    ids = written.prompt;
    look.written_from = ids.size();
    for (const WrittenToken& token : written.tokens) ids.push_back(token.token);
  }
  look.text = read_tokens(model, ids);
  look.text.cut = read.cut && look.written_from == 0;
}

void check_full(const LookOptions& options, const PageLayout& layout, std::int64_t layers, std::int64_t heads) {
  for (const auto& [layer, head] : options.full) {
    HEED_CHECK(layer >= 0 && layer < layers && head >= 0 && head < heads, "[look_at] head ", head + 1, " of layer ",
               layer + 1, " asked for in full, the model has ", layers, " layers of ", heads, " heads");
  }
  const auto asked = static_cast<std::int64_t>(options.full.size());
  HEED_CHECK(layout.block == 1 || asked <= layout.full_heads(), "[look_at] ", asked, " heads of ", layout.tokens,
             " tokens asked for in full, a page takes ", layout.full_heads());
}

}  // namespace

PageLayout layout_of(const TextAttention& attention) {
  HEED_CHECK(!attention.layers.empty(), "[layout_of] there is no attention");
  return {attention.tokens(), attention.layer_count() * attention.heads(), attention.layers.front().link_keys.size(2)};
}

Look look_at(const LoadedModel& model, const TextInput& input, const LookOptions& options) {
  Look look;
  const bool writes = model.supports(generate_task().name);
  HEED_CHECK(writes || options.generation.empty(), "[look_at] ", model.model().info().model_type,
             " does not write texts");
  if (writes) {
    read_and_write(model, input, options, look);
  } else {
    look.text = read_text(model, input);
  }
  const auto tokens = static_cast<std::int64_t>(look.text.tokens.size());
  const ModelInfo& info = model.model().info();
  HEED_CHECK(info.attention_layers > 0, "[look_at] ", info.model_type, " has no attention to look at");
  const PageLayout layout(tokens, info.attention_layers * info.heads, AttentionSummary().top_k);
  check_full(options, layout, info.attention_layers, info.heads);
  const bool short_enough = look.text.tokens.size() <= kMostExplained;
  std::optional<AttentionRollout> rollout;
  if (short_enough) rollout.emplace(tokens, info.heads);

  const AttentionRecord::UseWeights use = [&](const Tap& tap, const Tensor& weights) {
    if (rollout) rollout->add(weights);
    if (!options.maps) return;
    look.maps.push_back(packed_map(weights, layout.block));
    if (layout.block > 1 && std::ranges::count(options.full, std::pair(tap.layer, tap.head)) > 0) {
      look.full[{tap.layer, tap.head}] = packed_map(weights, 1);
    }
  };
  look.attention = attention_of(model, look.text.encoding, options.maps || rollout ? use : nullptr, writes);
  // To the first token nothing but itself comes where none looks ahead: there the last one is asked.
  if (rollout) look.rollout = rollout->row(writes ? tokens - 1 : 0);
  if (writes) {
    const std::size_t count = look.text.tokens.size(), most = kMostExplained;
    look.expected = expected_tokens(model, look.text.encoding, look.attention.output,
                                    std::max<std::size_t>(1, count > most ? count - most : 1), options.alternatives);
  }
  if (short_enough && model.model().head() == HeadKind::sequence_classification) {
    look.evidence = evidence_of(model, input, look.text, options);
  }
  return look;
}

}  // namespace heed
