// Trainer and its files: checkpoints, the best weights, the finished model.
#include <algorithm>
#include <fstream>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/io/hub.h"
#include "heed/io/model_folder.h"
#include "heed/io/safetensors.h"
#include "heed/models/adapter_save.h"
#include "heed/models/load.h"
#include "heed/train/checkpoint.h"
#include "heed/train/final_weights.h"
#include "heed/train/tokenizer_files.h"
#include "heed/train/trainer.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBestFile = "best.safetensors";

const Tensor& tensor_of(const TensorMap& tensors, const std::string& name, const fs::path& where) {
  const auto found = tensors.find(name);
  HEED_CHECK_AS(bad_format, found != tensors.end(), where.string(), ": has no tensor ", name,
                "; is it of another model or config?");
  return found->second;
}

void copy_weights(const TensorMap& tensors, const std::vector<PlacedParameter>& weights, const fs::path& where) {
  for (const PlacedParameter& each : weights) {
    const Tensor& values = tensor_of(tensors, "weights." + each.name, where);
    HEED_CHECK_AS(bad_format, values.shape() == each.parameter->shape(), where.string(), ": ", each.name, " is ",
                  values.shape(), ", expected ", each.parameter->shape());
    each.parameter->copy_from(values);
  }
}

bool has_trained_head(const Model& model) {
  return std::ranges::any_of(named_parameters(model), [&](const auto& each) {
    return model.place(each.name).part == ParameterPlace::Part::head && each.parameter->requires_grad();
  });
}

}  // namespace

fs::path Trainer::checkpoint_folder() const {
  return fs::path(config_.output) / "checkpoints";
}

void Trainer::save_config() const {
  replace_file(fs::path(config_.output) / "train.json", to_json(config_).dump(2) + "\n");
}

TensorMap Trainer::weight_tensors() const {
  TensorMap tensors;
  for (const PlacedParameter& each : weights_) tensors.emplace("weights." + each.name, each.parameter->detach());
  return tensors;
}

void Trainer::save() {
  Checkpoint checkpoint{.step = step_, .tensors = weight_tensors()};
  Json updates = Json::array();
  std::vector<Optimizer::State>& states = optimizer_->states();
  for (std::size_t i = 0; i < trained_.size(); ++i) {
    updates.push_back(states[i].updates);
    for (std::size_t slot = 0; slot < states[i].slots.size(); ++slot) {
      checkpoint.tensors.emplace("optimizer." + optimizer_->slot_names()[slot] + "." + trained_[i].name,
                                 states[i].slots[slot]);
    }
    if (!averages_.empty()) checkpoint.tensors.emplace("average." + trained_[i].name, averages_[i]);
  }
  checkpoint.state = {{"step", step_},
                      {"epoch", epoch_},
                      {"batch", batch_},
                      {"total_steps", total_steps_},
                      {"samples", train_->size()},
                      {"best", best_.score ? Json(*best_.score) : Json()},
                      {"best_step", best_.step},
                      {"worse_evaluations", best_.worse},
                      {"evaluation_due", evaluation_due_},
                      {"updates", std::move(updates)}};
  events_.saved(save_checkpoint(checkpoint_folder(), checkpoint, static_cast<int>(config_.save.keep)).string());
}

void Trainer::restore(bool resume) {
  const fs::path folder = checkpoint_folder();
  remove_unfinished_files(folder);
  for (const HeadRun& head : heads_) remove_unfinished_files(fs::path(config_.output) / head.plan.name);
  std::vector<std::string> damaged;
  const auto checkpoint = resume ? newest_checkpoint(folder, damaged) : std::nullopt;
  HEED_CHECK_AS(bad_format, checkpoint || damaged.empty(), folder.string(),
                ": all checkpoints are damaged: ", damaged.empty() ? "" : damaged[0]);
  // Killed before its first checkpoint, a run begins anew.
  if (checkpoint) {
    const std::string where = folder.string();
    const Json& state = checkpoint->state;
    HEED_CHECK_AS(bad_format, json_required<std::size_t>(state, "samples", where) == train_->size(), where,
                  ": the run had ", state["samples"].dump(), " samples, data.train now has ", train_->size());
    step_ = checkpoint->step;
    epoch_ = json_required<std::int64_t>(state, "epoch", where);
    batch_ = json_required<std::int64_t>(state, "batch", where);
    best_.step = json_required<std::int64_t>(state, "best_step", where);
    best_.worse = json_required<std::int64_t>(state, "worse_evaluations", where);
    evaluation_due_ = json_optional<bool>(state, "evaluation_due", false, where);
    if (!state.at("best").is_null()) best_.score = json_required<double>(state, "best", where);
    copy_weights(checkpoint->tensors, weights_, folder);
    restore_optimizer(checkpoint->tensors, json_required<std::vector<std::int64_t>>(state, "updates", where));
  }
  log_ = std::make_unique<RunLog>(config_.output, step_, evaluation_due_, config_.log.tensorboard);
  for (const std::string& message : damaged) {
    const std::string note = "a checkpoint is passed over: " + message + "; the run goes on from step " +
                             std::to_string(step_) + " (" + checkpoint_folder().string() + ")";
    events_.note(note);
    log_->write(step_, {{"note", note}});
  }
}

void Trainer::restore_optimizer(const TensorMap& tensors, const std::vector<std::int64_t>& updates) {
  const fs::path where = checkpoint_folder();
  HEED_CHECK_AS(bad_format, updates.size() == trained_.size(), where.string(), ": ", updates.size(),
                " parameters were trained, expected ", trained_.size());
  for (std::size_t i = 0; i < trained_.size(); ++i) {
    Optimizer::State& state = optimizer_->states()[i];
    state.updates = updates[i];
    if (updates[i] > 0) {
      for (const std::string& slot : optimizer_->slot_names()) {
        state.slots.push_back(tensor_of(tensors, "optimizer." + slot + "." + trained_[i].name, where).detached_clone());
      }
    }
    if (!averages_.empty()) averages_[i].copy_from(tensor_of(tensors, "average." + trained_[i].name, where));
  }
}

void Trainer::save_best() {
  const FinalWeights averaged(trained_, averages_, nullptr);
  make_folder(checkpoint_folder());
  save_safetensors(checkpoint_folder() / kBestFile, weight_tensors());
}

void Trainer::use_best_weights() {
  if (best_.step == 0) return;
  const fs::path file = checkpoint_folder() / kBestFile;
  copy_weights(SafetensorsFile(file).tensors(), weights_, file);
  averages_.clear();
}

// All of them, or what is added to the model that the run began with.
void Trainer::save_weights(std::size_t head, const fs::path& folder) const {
  const Model& model = *heads_[head].model;
  const Json fields = tasks_[head]->config_fields();
  if (config_.lora.merge) {
    for (const char* left : {"adapter_config.json", "adapter_model.safetensors"}) remove_left(folder / left);
    return heed::save_model(model, folder, fields);
  }
  for (const char* left : {"config.json", "model.safetensors"}) remove_left(folder / left);
  save_adapter(model, lora_->additions(),
               {.base = model_name(config_.model.from),
                .rank = config_.lora.rank,
                .alpha = config_.lora.alpha,
                .with_head = has_trained_head(model)},
               folder, fields);
}

void Trainer::save_model() const {
  const FinalWeights final_weights(trained_, averages_, config_.lora.merge ? lora_.get() : nullptr);
  const Json generation = config_.model.from.empty() ? Json() : ModelFolder(config_.model.from).generation_config();
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    const fs::path folder = fs::path(config_.output) / heads_[i].plan.name;
    save_weights(i, folder);
    save_tokenizer(*tokenizer_, config_, max_tokens_, folder);
    if (!generation.is_null()) replace_file(folder / "generation_config.json", generation.dump(2) + "\n");
    tasks_[i]->save_files(folder, heads_[i].model->info());
    replace_file(folder / "train.json", to_json(config_of_head(config_, heads_[i].plan)).dump(2) + "\n");
  }
  events_.saved(config_.output);
}

void Trainer::report_results() {
  Json results = {{"steps", step_}, {"best_step", kept_step()}};
  if (dev_) results["judged_by"] = {{"metric", criterion_name(0)}, {"best", best_.score ? Json(*best_.score) : Json()}};
  for (const auto& [split, data] : {std::pair("dev", dev_.get()), std::pair("test", test_.get())}) {
    if (!data) continue;
    const EvaluationReport report = evaluate(*data, split);
    for (const auto& [head, evaluation] : report.heads) {
      Json& place = head.empty() ? results[split] : results[split][head];
      for (const auto& [name, value] : evaluation.metrics) place[name] = value;
      if (!evaluation.report.empty()) place["report"] = evaluation.report;
    }
    events_.evaluated(report);
  }
  replace_file(fs::path(config_.output) / "results.json", results.dump(2) + "\n");
}

}  // namespace heed
