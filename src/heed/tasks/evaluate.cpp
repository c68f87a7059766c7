#include "heed/tasks/evaluate.h"

#include <algorithm>
#include <optional>

#include "heed/base/unsigned_nan.h"
#include "heed/data/batch_plan.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

// The rows of one head, as they are read and found out about. Windows of a row come one after the other.
class HeadScores {
 public:
  HeadScores(const TrainableRun& task, std::size_t head) : task_(task), head_(head) {}

  void add(const Model& model, const HeadBatch& part, const Context& context) {
    loss_ += task_.loss(part).item();
    count_ += task_.count(part);
    std::vector<Finding*> findings;
    for (const Sample& sample : part.batch.samples) {
      if (open_.empty() || open_.back().number != sample.row_number) {
        open_.push_back({sample.rows[head_], sample.row_number, task_.begin(sample.rows[head_])});
      }
      findings.push_back(open_.back().finding.get());
    }
    task_.find(part, findings);
    task_.write(model, part, findings, context);
    while (open_.size() > 1) close();  // the last may go on in the next batch
  }

  Evaluation result() {
    while (!open_.empty()) close();
    const double loss = loss_ / std::max(count_, 1.0);
    Evaluation evaluation = task_.metrics(compared_, loss);
    evaluation.metrics["loss"] = loss;
    for (auto& [name, value] : evaluation.metrics) value = unsigned_nan(value);
    return evaluation;
  }

 private:
  struct OpenRow {
    Row row;
    std::size_t number;
    std::unique_ptr<Finding> finding;
  };
  void close() {
    open_.front().finding->finish();
    task_.compare(open_.front().row, *open_.front().finding, compared_);
    open_.erase(open_.begin());
  }

  const TrainableRun& task_;
  std::size_t head_;
  std::vector<OpenRow> open_;
  Comparison compared_;
  double loss_ = 0, count_ = 0;
};

}  // namespace

std::vector<Evaluation> evaluate(std::span<const Model* const> models, const TaskList& tasks, Dataset& data,
                                 std::uint64_t seed, const std::function<void(double)>& progress) {
  const NoGrad no_grad;
  const Context context;
  std::vector<HeadScores> heads;
  for (std::size_t head = 0; head < tasks.size(); ++head) heads.emplace_back(*tasks[head], head);
  const BatchPlan plan(data.lengths(), {.tokens = kEvaluationTokens, .shuffle = false}, 0, 0);
  for (std::int64_t i = 0; i < plan.batches(); ++i) {
    context.check_stop("[evaluate]");
    const Batch batch = data.batch(plan.batch(i), seed, kEvaluationEpoch, models[0]->info());
    const Tensor hidden = models[0]->encode(batch.inputs, context);
    for (std::size_t head = 0; head < tasks.size(); ++head) {
      HeadBatch part{.batch = batch, .head = head};
      part.logits = tasks[head]->forward(*models[head], part, hidden, context);
      heads[head].add(*models[head], part, context);
    }
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(plan.batches()));
  }
  std::vector<Evaluation> results;
  for (HeadScores& head : heads) results.push_back(head.result());
  return results;
}

}  // namespace heed
