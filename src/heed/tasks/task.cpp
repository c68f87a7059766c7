#include "heed/tasks/task.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/tasks/loaded_model.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

constexpr const char* kWhere = "[run_task]";

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
std::vector<Sample> samples_of(const BatchedRun& task, const std::vector<Row>& rows, const StopToken& stop) {
  std::vector<std::vector<std::vector<text::Encoding>>> encoded(rows.size());
  parallel_for(static_cast<std::int64_t>(rows.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      stop.check(kWhere);
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
                         .window = window,
                         .remembered = task.remembered(window)});
    }
  }
  return samples;
}

}  // namespace

std::vector<std::unique_ptr<Finding>> BatchedRun::run(const LoadedModel& model, std::vector<Row> rows,
                                                      const TaskCall& call) const {
  std::vector<std::unique_ptr<Finding>> findings;
  findings.reserve(rows.size());
  for (const Row& row : rows) findings.push_back(begin(row));
  std::vector<Sample> samples = heed::samples_of(*this, rows, call.stop);
  if (call.cut) count_cut_rows(samples, *call.cut);
  std::vector<std::size_t> lengths;
  lengths.reserve(samples.size());
  for (const Sample& sample : samples) lengths.push_back(tokens_of(sample));

  const NoGrad no_grad;
  const Context context = Context().stopping(call.stop);
  for (const auto& chosen : plan_batches(lengths, model.token_budget())) {
    context.check_stop(kWhere);
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

std::vector<std::vector<text::Encoding>> BatchedRun::encode(const Row& row, Purpose /*purpose*/) const {
  const text::Truncation cut{.max_length = setup_.max_tokens};
  text::Encoding encoding = row.pair ? encoded(text_of(row), *row.pair, cut) : encoded(text_of(row), cut);
  encoding.drop_windows();
  return samples_of(std::move(encoding));
}

std::size_t BatchedRun::cut_after(const Row& /*row*/, const std::vector<std::vector<text::Encoding>>& samples) const {
  std::size_t tokens = 0;
  for (const auto& sequences : samples) {
    for (const text::Encoding& sequence : sequences) {
      if (sequence.cut) tokens = std::max(tokens, sequence.size());
    }
  }
  return tokens;
}

Tensor BatchedRun::forward(const Model& model, const HeadBatch& part, const Tensor& hidden,
                           const Context& context) const {
  return model.logits(hidden, part.batch.inputs.ids.offsets, context);
}

bool Task::higher_is_better(std::string_view metric) const {
  return metric != "loss" && std::ranges::find(lower_is_better, metric) == lower_is_better.end();
}

std::unique_ptr<TrainableRun> Task::make_trainable(const TaskSetup& setup, const Json& given) const {
  HEED_CHECK(trains(), "the task ", name, " only predicts: it is neither trained nor scored");
  auto* run = dynamic_cast<TrainableRun*>(make(setup, given).release());
  HEED_CHECK_AS(internal, run, "[", name, "] make() gives no TrainableRun");
  return std::unique_ptr<TrainableRun>(run);
}

std::vector<std::vector<text::Encoding>> BatchedRun::samples_of(text::Encoding encoding) {
  std::vector<text::Encoding> windows = std::move(encoding.overflowing);
  encoding.overflowing.clear();
  windows.insert(windows.begin(), std::move(encoding));
  std::vector<std::vector<text::Encoding>> samples;
  for (text::Encoding& window : windows) samples.emplace_back().push_back(std::move(window));
  return samples;
}

text::Encoding BatchedRun::encoded(const std::string& text, const text::Truncation& truncation) const {
  return setup_.tokenizer.encode(text, {.truncation = truncation});
}

text::Encoding BatchedRun::encoded(const std::string& text, const std::string& pair,
                                   const text::Truncation& truncation) const {
  return setup_.tokenizer.encode(text, pair, {.truncation = truncation});
}

}  // namespace heed
