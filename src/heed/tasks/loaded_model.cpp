#include "heed/tasks/loaded_model.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/models/load.h"
#include "heed/tasks/run_task.h"
#include "heed/tensor/autograd.h"
#include "heed/text/legacy.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokenizerConfig = "tokenizer_config.json";

std::size_t tokens_of(const Sample& sample) {
  std::size_t tokens = 0;
  for (const text::Encoding& sequence : sample.sequences) tokens += sequence.size();
  return tokens;
}

void count_cut_rows(const std::vector<Sample>& samples, CutRows& cut) {
  std::size_t counted = samples.size();  // the last row that was; no row has this number
  for (const Sample& sample : samples) {
    for (const text::Encoding& sequence : sample.sequences) {
      if (!sequence.cut) continue;
      if (sample.row_number != counted) ++cut.count;
      counted = sample.row_number;
      cut.tokens = std::max(cut.tokens, sequence.size());
    }
  }
}

// The samples of all rows, row after row; encoded in parallel.
std::vector<Sample> samples_of(const BatchedRun& task, const std::vector<Row>& rows) {
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

struct LoadedModel::Parts {
  Parts(const fs::path& directory, std::size_t budget);
  ModelFolder folder;
  std::unique_ptr<Model> model;
  text::Tokenizer tokenizer;
  text::SpecialTokens special;
  std::size_t max_tokens, token_budget;
};

LoadedModel::Parts::Parts(const fs::path& directory, std::size_t budget)
    : folder(directory),
      model(load_model(folder)),
      tokenizer(text::load_tokenizer(folder.transformer())),
      special(tokenizer, text::read_settings(folder.transformer() / kTokenizerConfig),
              text::read_settings(folder.transformer() / "special_tokens_map.json")),
      max_tokens(tokenizer_limit(text::read_settings(folder.transformer() / kTokenizerConfig),
                                 (folder.transformer() / kTokenizerConfig).string(),
                                 static_cast<std::size_t>(model->info().max_tokens))),
      token_budget(budget) {
  HEED_CHECK(budget > 0, "[load] token_budget is 0, expected at least 1");
  // Both are settings of whoever saved the tokenizer, not of the model; HuggingFace sets them anew at every call.
  tokenizer.set_padding(std::nullopt);
  tokenizer.set_truncation(std::nullopt);
}

LoadedModel::LoadedModel(const fs::path& directory, std::size_t token_budget)
    : parts_(std::make_shared<const Parts>(directory, token_budget)) {}

const ModelFolder& LoadedModel::folder() const {
  return parts_->folder;
}
const Model& LoadedModel::model() const {
  return *parts_->model;
}
const text::Tokenizer& LoadedModel::tokenizer() const {
  return parts_->tokenizer;
}
const text::SpecialTokens& LoadedModel::special() const {
  return parts_->special;
}
const std::vector<std::string>& LoadedModel::labels() const {
  return model().config().labels;
}
std::size_t LoadedModel::max_tokens() const {
  return parts_->max_tokens;
}
std::size_t LoadedModel::token_budget() const {
  return parts_->token_budget;
}

bool LoadedModel::supports(std::string_view task) const {
  return task_named(task).supports(model());
}

void LoadedModel::require(const Task& task) const {
  if (task.supports(model())) return;
  // A head of the right kind may still be of the wrong size.
  const bool other_kind = task.head != HeadKind::none && task.head != model().head();
  const bool labelled = model().head() == HeadKind::sequence_classification;
  std::string needed = other_kind ? std::string(to_string(task.head)) + " head" : "head for " + task.verb;
  std::ranges::replace(needed, '_', ' ');
  fail(ErrorKind::invalid_argument, "[", task.verb, "] ", folder().path().string(), " has no ", needed, "; it is a ",
       model().architecture(), labelled ? " with " + std::to_string(labels().size()) + " labels" : "",
       ", good for: ", supported_verbs(model()));
}

TaskSetup LoadedModel::setup() const {
  return {.tokenizer = tokenizer(),
          .special = special(),
          .max_tokens = max_tokens(),
          .labels = labels(),
          .config = folder().config(),
          .head = model().head(),
          .sentence_embedding = folder().sentence_embedding(),
          .generation_config = folder().generation_config(),
          .folder = folder().transformer(),
          .name = folder().path().string()};
}

std::unique_ptr<TaskRun> make_task(const LoadedModel& model, const Task& task, const Json& options) {
  model.require(task);
  return task.make(model.setup(), options);
}

std::vector<std::unique_ptr<Finding>> BatchedRun::run(const LoadedModel& model, std::vector<Row> rows,
                                                      const TaskCall& call) const {
  std::vector<std::unique_ptr<Finding>> findings;
  findings.reserve(rows.size());
  for (const Row& row : rows) findings.push_back(begin(row));
  std::vector<Sample> samples = heed::samples_of(*this, rows);
  if (call.cut) count_cut_rows(samples, *call.cut);
  std::vector<std::size_t> lengths;
  lengths.reserve(samples.size());
  for (const Sample& sample : samples) lengths.push_back(tokens_of(sample));

  const NoGrad no_grad;
  const Context context = Context().stopping(call.stop);
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
    part.logits = forward(model.model(), part, model.model().encode(batch.inputs, context), context);
    find(part, theirs);
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
  for (const auto& finding : make_task(model, task, options)->run(model, std::move(rows), {.stop = stop})) {
    answers.push_back(finding->json());
  }
  return answers;
}

std::string ask(const LoadedModel& model, std::string_view name, std::string_view request) {
  const Task& task = task_named(name);
  const Json given = parse_json(request, "request");
  HEED_CHECK_AS(bad_format, given.is_object(), "request: is ", detail::json_kind(given), ", expected an object");
  Json fields = Json::object(), options = Json::object();
  for (const auto& [key, value] : given.items()) {
    const bool of_request = std::ranges::find(task.request, key, &RequestField::name) != task.request.end();
    (of_request ? fields : options)[key] = value;
  }
  const std::vector<Json> answers = run_task(model, name, std::span<const Json>(&fields, 1), options);
  return answers.front().dump(-1, ' ', false, Json::error_handler_t::replace);
}

// HuggingFace writes 1e30 for "no limit", so the number may be any.
std::size_t tokenizer_limit(const Json& tokenizer_config, const std::string& where, std::size_t most) {
  const auto limit = json_optional<double>(tokenizer_config, "model_max_length", 0, where);
  return limit >= 1 && limit < static_cast<double>(most) ? static_cast<std::size_t>(limit) : most;
}

void softmax_in_place(std::span<double> values) {
  if (values.empty()) return;
  const double largest = *std::ranges::max_element(values);
  double sum = 0;
  for (double& value : values) sum += value = std::exp(value - largest);
  for (double& value : values) value /= sum;
}

}  // namespace heed
