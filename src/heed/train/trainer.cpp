#include "heed/train/trainer.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/unsigned_nan.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/autograd.h"
#include "heed/train/final_weights.h"

namespace heed {
namespace {

bool is_finite(const Tensor& values) {
  const Tensor whole = values.detached_contiguous();
  const float* first = whole.data<float>();
  return std::all_of(first, first + whole.count(), [](float value) { return std::isfinite(value); });
}

void update_average(Tensor& average, const Tensor& parameter, double decay) {
  float* mean = average.mutable_data<float>();
  const float* value = parameter.data<float>();
  const auto share = static_cast<float>(1 - decay);
  parallel_for(parameter.count(), 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) mean[i] += share * (value[i] - mean[i]);
  });
}

}  // namespace

StepReport Trainer::train_step(const BatchPlan& plan, std::int64_t batches) {
  StepReport report{.step = step_ + 1, .steps = total_steps_, .epoch = epoch_};
  std::vector<Batch> parts;
  std::vector<double> counts(tasks_.size(), 0);
  for (std::int64_t i = 0; i < batches; ++i) {
    parts.push_back(train_->batch(plan.batch(batch_ + i), seed(), epoch_, main_model().info()));
    for (std::size_t head = 0; head < tasks_.size(); ++head) {
      counts[head] += tasks_[head]->count({.batch = parts.back(), .head = head, .training = true});
    }
    report.tokens += parts.back().tokens();
    report.operations += passes_ * main_model().backbone()->operations(parts.back().inputs.ids.offsets);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (lora_) lora_->merge();
    const auto number = stream_id(static_cast<std::uint64_t>(step_), i);
    const Context context = Context::training(seed(), number).recomputing(config_.model.recompute);
    const Tensor hidden = main_model().encode(parts[i].inputs, context);
    Tensor total;
    for (std::size_t head = 0; head < tasks_.size(); ++head) {
      if (counts[head] == 0) continue;
      HeadBatch part{.batch = parts[i], .head = head, .training = true};
      const Model& model = *heads_[head].model;
      part.logits = tasks_[head]->forward(model, part, hidden, context.child("task", head));
      report.operations += heads_[head].passes * model.head_operations(part.logits.size(0));
      const Tensor loss = scale(tasks_[head]->loss(part), heads_[head].plan.weight / counts[head]);
      total = total.defined() ? add(total, loss) : loss;
    }
    if (!total.defined()) continue;
    backward(total);
    report.loss += total.item();
  }
  if (lora_) lora_->restore();
  report.tokens_to_come = (total_steps_ - report.step) * train_->tokens() / steps_of_first_epoch_;
  update(report);
  return report;
}

void Trainer::update(StepReport& report) {
  std::vector<Tensor> parameters;
  for (const PlacedParameter& each : trained_) parameters.push_back(*each.parameter);
  const double limit = config_.optimizer.clip > 0 ? config_.optimizer.clip : std::numeric_limits<double>::infinity();
  report.gradient_norm = clip_gradient_norm(parameters, limit);
  check_finite(report);
  report.learning_rate = schedule_.learning_rate(step_);
  optimizer_->step(report.learning_rate);
  optimizer_->clear_gradients();
  for (std::size_t i = 0; i < averages_.size(); ++i) update_average(averages_[i], *trained_[i].parameter, config_.ema);
}

void Trainer::check_finite(const StepReport& report) const {
  if (std::isfinite(report.loss) && std::isfinite(report.gradient_norm)) return;
  std::string where = "the loss";
  for (const PlacedParameter& each : trained_) {
    const Tensor gradient = each.parameter->grad();
    if (!gradient.defined() || is_finite(gradient)) continue;
    where = "the gradient of " + each.name;
    break;
  }
  fail(ErrorKind::invalid_argument, "[train] step ", report.step, ": ", where, " is not finite (loss ",
       unsigned_nan(report.loss), ", norm of the gradient ", unsigned_nan(report.gradient_norm),
       "); nothing of this step was saved. ",
       "A lower optimizer.learning_rate or a longer schedule.warmup often helps; --resume goes on from the last ",
       "checkpoint.");
}

EvaluationReport Trainer::evaluate(Dataset& data, const std::string& split) {
  events_.phase("evaluating on " + split);
  const FinalWeights final_weights(trained_, averages_, lora_.get());
  std::vector<const Model*> models;
  for (const HeadRun& head : heads_) models.push_back(head.model.get());
  std::vector<Evaluation> results =
      heed::evaluate(models, tasks_, data, seed(), [&](double share) { events_.progress(share); });
  EvaluationReport report{.split = split, .step = step_};
  for (std::size_t head = 0; head < heads_.size(); ++head) {
    report.heads.emplace_back(heads_[head].plan.name, std::move(results[head]));
  }
  return report;
}

std::string Trainer::criterion_name(std::size_t head) const {
  return config_.evaluate.metric.empty() ? tasks_[head]->main_metric() : config_.evaluate.metric;
}

// What is to become better: evaluate.metric of the main head, or else each head's own metric, averaged by weight.
double Trainer::criterion(const EvaluationReport& report) const {
  double sum = 0, weights = 0;
  for (std::size_t head = 0; head < tasks_.size(); ++head) {
    if (head > 0 && !config_.evaluate.metric.empty()) break;
    const auto& metrics = report.heads[head].second.metrics;
    sum += heads_[head].plan.weight * metrics.at(criterion_name(head));
    weights += heads_[head].plan.weight;
  }
  return sum / weights;
}

void Trainer::evaluate_dev() {
  if (!dev_) {
    evaluation_due_ = false;
    return;
  }
  EvaluationReport report = evaluate(*dev_, "dev");
  const double value = criterion(report);
  BestModel best = best_;
  const bool kept = best.judge(value, heads_[0].plan.task->higher_is_better(criterion_name(0)), step_);
  report.best = kept && best.score;
  if (kept) save_best();
  Json line = Json::object();
  for (const auto& [head, evaluation] : report.heads) {
    for (const auto& [name, each] : evaluation.metrics) line["dev/" + (head.empty() ? "" : head + "/") + name] = each;
  }
  log_->write(step_, line);
  // From here on it counts; what goes wrong before is made up for by doing it again.
  evaluation_due_ = false;
  best_ = best;
  if (log_->events()) {
    const StopScope whole{StopToken()};  // what was found is written down before anything stops
    log_weights_and_attention();
  }
  events_.evaluated(report);
}

bool Trainer::ended_early() const {
  return config_.evaluate.patience > 0 && best_.worse >= config_.evaluate.patience;
}

// One step, and whether the model is to be judged after it.
void Trainer::take_step(std::optional<BatchPlan>& plan) {
  if (!plan) plan.emplace(plan_of(epoch_));
  const std::int64_t batches = std::min(config_.batch.accumulate, plan->batches() - batch_);
  const StepReport report = train_step(*plan, batches);
  ++step_;
  batch_ += batches;
  const bool epoch_ended = batch_ == plan->batches(), last = step_ == total_steps_;
  if (epoch_ended) ++epoch_, batch_ = 0, plan.reset();
  evaluation_due_ = last || (config_.evaluate.every > 0 ? step_ % config_.evaluate.every == 0 : epoch_ended);
  if (step_ % config_.log.every == 0 || last) {
    log_->write(step_, {{"train/loss", report.loss},
                        {"train/learning_rate", report.learning_rate},
                        {"train/gradient_norm", report.gradient_norm},
                        {"train/tokens", report.tokens}});
  }
  events_.step(report);
}

// A checkpoint comes before the evaluation, which may fail or be killed; a resumed run begins with the evaluation.
bool Trainer::is_saved() const {
  const std::int64_t every = config_.save.every;
  if (step_ == total_steps_ || (every > 0 && step_ % every == 0)) return true;
  return evaluation_due_ && (dev_ || every == 0);
}

TrainEnd Trainer::run() {
  const ThreadLimit threads(static_cast<int>(config_.threads > 0 ? config_.threads : current_threads()));
  bool trained = false;
  try {
    for (std::optional<BatchPlan> plan; evaluation_due_ || (step_ < total_steps_ && !ended_early());) {
      if (!evaluation_due_) {
        take_step(plan);
        if (is_saved()) save();
      }
      if (evaluation_due_) evaluate_dev();
    }
    trained = true;
    if (best_.step > 0 && !best_.score) {
      events_.note(criterion_name(0) + " on dev was not a finite number at any evaluation; the model of step " +
                   std::to_string(best_.step) + ", the latest, is kept");
    }
    use_best_weights();
    save_model();
    report_results();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::cancelled) throw;
    if (!trained) {
      // What was begun of a step is forgotten.
      if (lora_) lora_->restore();
      optimizer_->clear_gradients();
      save();
    }
    return TrainEnd::interrupted;
  }
  return ended_early() ? TrainEnd::stopped_early : TrainEnd::finished;
}

}  // namespace heed
