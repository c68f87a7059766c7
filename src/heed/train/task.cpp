#include "heed/train/task.h"

#include <algorithm>
#include <map>

#include "heed/base/error.h"
#include "heed/tasks/batches.h"

namespace heed {
namespace {

HeadPlan read_head(const Json& object, const HeadPlan& main, std::size_t number) {
  const std::string where = "heads[" + std::to_string(number) + "]";
  HEED_CHECK_AS(bad_format, object.is_object(), where, " is ", detail::json_kind(object), ", expected an object");
  static const std::vector<std::string> known = {"name",  "task",  "text", "pair",  "words",
                                                 "label", "score", "kind", "weight"};
  for (const auto& [key, value] : object.items()) {
    HEED_CHECK_AS(bad_format, std::ranges::find(known, key) != known.end(), where, ": there is no field ", key,
                  "; did you mean ", nearest_name(key, known), "?");
  }
  const auto text = [&](const char* key, const std::string& fallback) {
    return json_optional<std::string>(object, key, fallback, where);
  };
  HeadPlan plan{.name = json_required<std::string>(object, "name", where),
                .task = json_required<std::string>(object, "task", where),
                .text = text("text", main.text),
                .pair = text("pair", main.pair),
                .words = text("words", main.words),
                .label = text("label", ""),
                .score = text("score", ""),
                .kind = text("kind", "one"),
                .weight = json_optional<double>(object, "weight", 1, where)};
  HEED_CHECK_AS(bad_format, plan.task == "classify" || plan.task == "tag", where, ": task is \"", plan.task,
                "\", expected classify or tag: other tasks change the input and cannot share it");
  const bool plain = !plan.name.empty() && plan.name.find('/') == std::string::npos && plan.name[0] != '.';
  HEED_CHECK_AS(bad_format, plain, where, ": name is \"", plan.name, "\", expected the name of a folder");
  HEED_CHECK_AS(bad_format, plan.weight > 0, where, ": weight is ", plan.weight, ", expected more than 0");
  return plan;
}

}  // namespace

Batch make_batch(std::vector<Sample> samples, bool with_types) {
  std::vector<text::Encoding> sequences;
  for (Sample& sample : samples) std::ranges::copy(sample.sequences, std::back_inserter(sequences));
  std::vector<std::size_t> all(sequences.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return {std::move(samples), pack_encodings(sequences, all, with_types)};
}

std::vector<std::vector<text::Encoding>> TrainTask::encode(const Row& row) const {
  const text::EncodeOptions options{.truncation = text::Truncation{.max_length = max_tokens_}};
  text::Encoding encoding =
      row.pair ? tokenizer_.encode(text_of(row), *row.pair, options) : tokenizer_.encode(text_of(row), options);
  encoding.overflowing.clear();
  return samples_of(std::move(encoding));
}

std::vector<std::vector<text::Encoding>> TrainTask::samples_of(text::Encoding encoding) {
  std::vector<text::Encoding> windows = std::move(encoding.overflowing);
  encoding.overflowing.clear();
  windows.insert(windows.begin(), std::move(encoding));
  std::vector<std::vector<text::Encoding>> samples;
  for (text::Encoding& window : windows) samples.emplace_back().push_back(std::move(window));
  return samples;
}

std::vector<HeadPlan> head_plans(const TrainConfig& config) {
  std::vector<HeadPlan> plans = {{.task = config.task,
                                  .text = config.data.text,
                                  .pair = config.data.pair,
                                  .words = config.data.words,
                                  .label = config.data.label,
                                  .score = config.data.score,
                                  .kind = config.classify.kind}};
  HEED_CHECK_AS(bad_format, config.heads.empty() || config.task == "classify" || config.task == "tag",
                "heads: a model for ", config.task, " has no further heads, expected task classify or tag");
  for (std::size_t i = 0; i < config.heads.size(); ++i) plans.push_back(read_head(config.heads[i], plans[0], i));
  return plans;
}

std::unique_ptr<TrainTask> make_task(const HeadPlan& plan, const TrainConfig& config, const text::Tokenizer& tokenizer,
                                     std::size_t max_tokens) {
  using Make = decltype(&make_classify_task);
  static const std::map<std::string, Make> makers = {{"classify", make_classify_task},
                                                     {"tag", make_tag_task},
                                                     {"mlm", make_mlm_task},
                                                     {"answer", make_answer_task},
                                                     {"embed", make_embed_task}};
  const auto maker = makers.find(plan.task);
  HEED_CHECK_AS(bad_format, maker != makers.end(), "task is \"", plan.task,
                "\", expected classify, tag, mlm, answer or embed");
  return maker->second(plan, config, tokenizer, max_tokens);
}

RowFields needs_of(const std::string& task) {
  using enum RowField;
  return task == "tag" ? RowFields{words, labels} : task == "answer" ? RowFields{text, pair, answers} : RowFields{text};
}

bool higher_is_better(std::string_view metric) {
  return metric != "loss" && metric != "perplexity";
}

}  // namespace heed
