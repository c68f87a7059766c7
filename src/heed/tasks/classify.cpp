#include "heed/tasks/classify.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"

namespace heed {
namespace {

enum class ScoreRule { softmax, sigmoid, raw };

// HuggingFace's rule for its text-classification pipeline.
ScoreRule score_rule(const TextModel& model) {
  const auto type =
      json_optional<std::string>(model.folder().config(), "problem_type", "", model.folder().config_name());
  if (type == "regression") return ScoreRule::raw;
  if (type == "multi_label_classification") return ScoreRule::sigmoid;
  HEED_CHECK_AS(bad_format, type.empty() || type == "single_label_classification", model.folder().config_name(),
                ": problem_type is \"", type,
                "\", expected single_label_classification, multi_label_classification or regression");
  return model.labels().size() == 1 ? ScoreRule::sigmoid : ScoreRule::softmax;
}

void apply(ScoreRule rule, std::vector<double>& values) {
  if (rule == ScoreRule::softmax) softmax_in_place(values);
  if (rule == ScoreRule::sigmoid) {
    for (double& value : values) value = 1 / (1 + std::exp(-value));
  }
}

// The scores of each input in the order of the labels.
std::vector<std::vector<double>> label_scores(const TextModel& model, std::span<const TextInput> inputs) {
  const ScoreRule rule = model.encoder().head() == Head::next_sentence ? ScoreRule::softmax : score_rule(model);
  const auto encodings = model.encode(inputs);
  std::vector<std::vector<double>> scores(inputs.size());
  model.for_each_batch(encodings, [&](const std::vector<std::size_t>& chosen, const EncoderInput& input) {
    const Tensor logits = model.encoder().forward(input, Context()).logits;
    const std::int64_t labels = logits.size(1);
    for (std::size_t b = 0; b < chosen.size(); ++b) {
      const float* row = logits.data<float>() + static_cast<std::int64_t>(b) * labels;
      std::vector<double>& values = scores[chosen[b]];
      values.assign(row, row + labels);
      apply(rule, values);
    }
  });
  return scores;
}

}  // namespace

std::vector<std::vector<LabelScore>> classify(const TextModel& model, const std::vector<TextInput>& inputs) {
  const bool next_sentence = model.encoder().head() == Head::next_sentence;
  if (!next_sentence) model.require(Head::sequence_classification, "classify");
  const std::vector<std::string> labels =
      next_sentence ? std::vector<std::string>{"is_next", "not_next"} : model.labels();
  std::vector<std::vector<LabelScore>> results;
  results.reserve(inputs.size());
  for (const auto& scores : label_scores(model, inputs)) {
    auto& result = results.emplace_back();
    for (std::size_t i = 0; i < labels.size(); ++i) result.push_back({labels[i], static_cast<float>(scores[i])});
    std::ranges::stable_sort(result, std::greater(), &LabelScore::score);
  }
  return results;
}

std::vector<RankedText> rerank(const TextModel& model, const std::string& query,
                               const std::vector<std::string>& texts) {
  model.require(Head::sequence_classification, "rerank");
  HEED_CHECK(model.labels().size() == 1, "[rerank] the model of ", model.folder().path().string(), " has ",
             model.labels().size(), " labels, expected a cross-encoder with one");
  std::vector<TextInput> pairs;
  pairs.reserve(texts.size());
  for (const std::string& text : texts) pairs.emplace_back(query, text);
  const auto scores = label_scores(model, pairs);
  std::vector<RankedText> ranked;
  ranked.reserve(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) ranked.push_back({i, static_cast<float>(scores[i][0])});
  std::ranges::stable_sort(ranked, std::greater(), &RankedText::score);
  return ranked;
}

Json to_json(const std::vector<LabelScore>& scores) {
  Json list = Json::array();
  for (const LabelScore& each : scores) list.push_back({{"label", each.label}, {"score", each.score}});
  return list;
}

Json to_json(const std::vector<RankedText>& ranked, const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const RankedText& each : ranked) {
    list.push_back({{"index", each.index}, {"score", each.score}, {"text", texts[each.index]}});
  }
  return list;
}

}  // namespace heed
