#include "heed/tasks/loaded_model.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/models/load.h"
#include "heed/tensor/autograd.h"
#include "heed/text/legacy.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokenizerConfig = "tokenizer_config.json";

// HuggingFace writes 1e30 for "no limit", so the number may be any.
std::size_t tokenizer_limit(const fs::path& folder, std::size_t most) {
  const Json config = text::read_settings(folder / kTokenizerConfig);
  const auto limit = json_optional<double>(config, "model_max_length", 0, (folder / kTokenizerConfig).string());
  return limit >= 1 && limit < static_cast<double>(most) ? static_cast<std::size_t>(limit) : most;
}

std::size_t tokens_of(const Sample& sample) {
  std::size_t tokens = 0;
  for (const text::Encoding& sequence : sample.sequences) tokens += sequence.size();
  return tokens;
}

// The samples of all rows, row after row; encoded in parallel.
std::vector<Sample> samples_of(const TaskRun& task, const std::vector<Row>& rows) {
  std::vector<std::vector<std::vector<text::Encoding>>> encoded(rows.size());
  parallel_for(static_cast<std::int64_t>(rows.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto row = static_cast<std::size_t>(i);
      encoded[row] = task.encode(rows[row], Purpose::predict);
    }
  });
  std::vector<Sample> samples;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t window = 0; window < encoded[row].size(); ++window) {
      samples.push_back({.sequences = std::move(encoded[row][window]),
                         .text = task.text_of(rows[row]),
                         .rows = {rows[row]},
                         .row_number = row,
                         .window = window});
    }
  }
  return samples;
}

}  // namespace

LoadedModel::Parts::Parts(const fs::path& directory, std::size_t budget)
    : folder(directory),
      model(load_model(folder)),
      tokenizer(text::load_tokenizer(folder.transformer())),
      special(tokenizer, text::read_settings(folder.transformer() / kTokenizerConfig),
              text::read_settings(folder.transformer() / "special_tokens_map.json")),
      max_tokens(tokenizer_limit(folder.transformer(), static_cast<std::size_t>(model->info().max_tokens))),
      token_budget(budget) {
  HEED_CHECK(budget > 0, "[load] token_budget is 0, expected at least 1");
  // Both are settings of whoever saved the tokenizer, not of the model; HuggingFace sets them anew at every call.
  tokenizer.set_padding(std::nullopt);
  tokenizer.set_truncation(std::nullopt);
}

LoadedModel::LoadedModel(const fs::path& directory, std::size_t token_budget)
    : parts_(std::make_shared<const Parts>(directory, token_budget)) {}

void LoadedModel::require(const Task& task) const {
  HEED_CHECK(task.supports(model()), "[", task.verb, "] the model of ", folder().path().string(), " is for ",
             to_string(model().head()), " (", model().architecture(), ", ", labels().size(),
             labels().size() == 1 ? " label" : " labels", ") and cannot do this; heed info tells what it can do");
}

TaskSetup LoadedModel::setup() const {
  return {.tokenizer = tokenizer(),
          .special = special(),
          .max_tokens = max_tokens(),
          .labels = labels(),
          .config = folder().config(),
          .head = model().head(),
          .sentence_embedding = folder().sentence_embedding(),
          .name = folder().path().string()};
}

std::unique_ptr<TaskRun> LoadedModel::make(const Task& task, const Json& options) const {
  require(task);
  return task.make(setup(), options);
}

std::vector<std::unique_ptr<Finding>> run_task(const LoadedModel& model, const TaskRun& task, std::vector<Row> rows,
                                               const StopToken& stop) {
  std::vector<std::unique_ptr<Finding>> findings;
  findings.reserve(rows.size());
  for (const Row& row : rows) findings.push_back(task.begin(row));
  std::vector<Sample> samples = samples_of(task, rows);
  std::vector<std::size_t> lengths;
  lengths.reserve(samples.size());
  for (const Sample& sample : samples) lengths.push_back(tokens_of(sample));

  const NoGrad no_grad;
  const Context context = Context().stopping(stop);
  for (const auto& chosen : plan_batches(lengths, model.token_budget())) {
    context.check_stop("[run_task]");
    std::vector<Sample> together;
    std::vector<Finding*> theirs;
    for (const std::size_t i : chosen) {
      theirs.push_back(findings[samples[i].row_number].get());
      together.push_back(std::move(samples[i]));
    }
    const Batch batch = make_batch(std::move(together), model.model().info());
    HeadBatch part{.batch = batch};
    part.logits = task.forward(model.model(), part, model.model().encode(batch.inputs, context), context);
    task.find(part, theirs);
  }
  for (auto& finding : findings) finding->finish();
  return findings;
}

std::vector<Json> run_task(const LoadedModel& model, std::string_view name, std::span<const Json> requests,
                           const Json& options, const StopToken& stop) {
  const Task& task = task_named(name);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    rows.push_back(request_row(task, requests[i], "request " + std::to_string(i)));
  }
  std::vector<Json> answers;
  for (const auto& finding : run_task(model, *model.make(task, options), std::move(rows), stop)) {
    answers.push_back(finding->json());
  }
  return answers;
}

void softmax_in_place(std::span<double> values) {
  if (values.empty()) return;
  const double largest = *std::ranges::max_element(values);
  double sum = 0;
  for (double& value : values) sum += value = std::exp(value - largest);
  for (double& value : values) value /= sum;
}

}  // namespace heed
