// Trainer, before the first step: tokenizer, data, models, optimizer.
#include <algorithm>
#include <cmath>
#include <set>

#include "heed/base/did_you_mean.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/join.h"
#include "heed/base/parallel.h"
#include "heed/io/model_folder.h"
#include "heed/models/adapter_save.h"
#include "heed/models/load.h"
#include "heed/tasks/data_notes.h"
#include "heed/train/dev_split.h"
#include "heed/train/recipe.h"
#include "heed/train/tokenizer_files.h"
#include "heed/train/trainer.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// The tokens that a model from scratch which writes about a source needs to know, where its architecture does not say.
void add_special_ids(Json& architecture, const text::SpecialTokens& special) {
  const auto add = [&](const char* field, std::initializer_list<const char*> roles) {
    for (const char* role : roles) {
      if (const auto id = special.id(role); id && !architecture.contains(field)) architecture[field] = *id;
    }
  };
  add("bos_token_id", {"bos_token", "cls_token"});
  add("pad_token_id", {"pad_token"});
  add("eos_token_id", {"eos_token", "sep_token"});
  add("decoder_start_token_id", {"eos_token", "sep_token"});
}

ModelConfig starting_config(const TrainConfig& config, const text::Tokenizer& tokenizer,
                            const text::SpecialTokens& special) {
  if (!config.model.from.empty()) {
    const ModelFolder folder(config.model.from);
    return parse_model_config(folder.config(), folder.config_name());
  }
  Json architecture = config.model.architecture;
  if (!architecture.contains("vocab_size")) architecture["vocab_size"] = tokenizer.vocabulary_size();
  ModelConfig parsed = parse_model_config(architecture, "model.architecture");
  if (!parsed.info.encoder) return parsed;
  add_special_ids(architecture, special);
  return parse_model_config(architecture, "model.architecture");
}

// How the folder to start from makes one vector of a text; its prompts are not trained with.
std::optional<SentenceEmbedding> starting_embedding(const TrainConfig& config) {
  if (config.model.from.empty()) return {};
  const auto settings = ModelFolder(config.model.from).sentence_embedding();
  if (!settings) return {};
  return SentenceEmbedding{.pooling = settings->pooling};
}

// Whether low-rank additions leave the head as it is, since the folder brought it.
bool keeps_head(const TrainConfig& config, const Task& task, const Model& model) {
  return task.keeps_head && !config.model.from.empty() && head_of(model.config(), config.model.from) == model.head();
}

Decay decay_named(const std::string& name) {
  return name == "cosine" ? Decay::cosine : name == "constant" ? Decay::constant : Decay::linear;
}

std::unique_ptr<Optimizer> make_optimizer(const TrainConfig& config, std::vector<ParameterGroup> groups) {
  const auto& o = config.optimizer;
  if (o.name == "sgd") return make_sgd(std::move(groups), {.momentum = o.momentum});
  if (o.name == "adagrad") return make_adagrad(std::move(groups));
  if (o.name == "rmsprop") return make_rmsprop(std::move(groups));
  return make_adam(std::move(groups),
                   {.beta1 = o.beta1, .beta2 = o.beta2, .epsilon = o.epsilon, .decoupled = o.name == "adamw"});
}

// What a step costs of a head, in forward passes. Its weights are those of the words if it has none of its own.
double passes_of_head(Model& model) {
  bool has_own = false, trains_own = false, trains_below = false;
  for (const PlacedParameter& each : placed_parameters(model)) {
    const bool of_head = each.place.part == ParameterPlace::Part::head;
    if (!of_head) trains_below = trains_below || each.parameter->requires_grad();
    if (!of_head || !each.is_weight) continue;
    has_own = true;
    trains_own = trains_own || each.parameter->requires_grad();
  }
  const bool trained = has_own ? trains_own : model.backbone()->words().weight.parameter().requires_grad();
  return 1 + (trained ? 1 : 0) + (trains_below ? 1 : 0);
}

}  // namespace

Trainer::Trainer(TrainConfig config, TrainEvents& events, RunStart start)
    : config_(with_found_models(std::move(config))), events_(events) {
  prepare_output(config_, start);
  save_config();
  prepare_tokenizer();
  prepare_data();
  prepare_models();
  check_metric();
  tell_about_data();
  prepare_weights();
  choose_settings();
  prepare_optimizer();
  restore(start == RunStart::resume);
}

Trainer::~Trainer() = default;

void Trainer::prepare_tokenizer() {
  LoadedTokenizer loaded = starting_tokenizer(config_, events_);
  tokenizer_.emplace(std::move(loaded.tokenizer));
  target_tokenizer_ = std::move(loaded.target);
  special_.emplace(*tokenizer_, loaded.tokenizer_config, loaded.special_tokens_map);
  tokenizer_config_ = std::move(loaded.tokenizer_config);
}

void Trainer::prepare_data() {
  const ModelConfig start = starting_config(config_, *tokenizer_, *special_);
  const ModelInfo& model = start.info;
  const std::int64_t words = model.encoder ? model.encoder->vocab_size : model.vocab_size;
  HEED_CHECK(tokenizer_->vocabulary_size() <= words, "[train] the tokenizer has ", tokenizer_->vocabulary_size(),
             " tokens, the model ", words);
  max_tokens_ = run_max_tokens(config_, model, tokenizer_config_);

  const TaskSetup setup{
      .tokenizer = *tokenizer_,
      .special = *special_,
      .max_tokens = max_tokens_,
      .memory = static_cast<std::size_t>(model.memory),
      .config = start.source,
      .sentence_embedding = starting_embedding(config_),
      .generation_config = config_.model.from.empty() ? Json() : ModelFolder(config_.model.from).generation_config(),
      .folder = config_.tokenizer.train.empty() ? tokenizer_folder(config_) : fs::path(config_.output),
      .chat_template = config_.tokenizer.chat_template,
      .name = config_.model.from.empty() ? "the model" : config_.model.from,
      .target_tokenizer = target_tokenizer_ ? &*target_tokenizer_ : nullptr};
  const std::vector<HeadPlan> plans = head_plans(config_);
  for (const HeadPlan& plan : plans) {
    heads_.push_back({plan, nullptr});
    tasks_.push_back(plan.task->make_trainable(setup, plan.options));
  }
  const auto open = [&](const std::vector<std::string>& files, Purpose purpose) {
    return files.empty() ? nullptr : std::make_unique<Dataset>(data_sources(config_, plans, files), tasks_, purpose);
  };
  train_ = open(config_.data.train, Purpose::train);
  dev_ = open(config_.data.dev, Purpose::evaluate);
  test_ = open(config_.data.test, Purpose::evaluate);
  events_.phase("reading the data");
  const auto split = std::make_shared<DevSplit>(seed());
  std::size_t rows = 0;
  train_->for_each_row([&](const std::vector<Row>& row) {
    for (std::size_t head = 0; head < tasks_.size(); ++head) tasks_[head]->learn(row[head]);
    if (!dev_) split->add(row[0]);
    ++rows;
  });
  HEED_CHECK_AS(bad_format, rows > 0, "[train] data.train has no rows");
  for (const auto& task : tasks_) task->learned();
  split->divide(config_.data.dev_share);
  if (split->rows() > 0) {
    dev_ = open(config_.data.train, Purpose::evaluate);
    dev_->keep_rows([split](const Row& row) { return split->holds_out(row); });
    train_->keep_rows([split](const Row& row) { return !split->holds_out(row); });
    events_.note(std::to_string(split->rows()) + " of " + std::to_string(rows) +
                 " rows of data.train are held out for evaluation (data.dev_share)");
  } else if (!dev_ && config_.data.dev_share > 0) {
    events_.note("no rows are held out for evaluation: the " + std::to_string(rows) +
                 " rows of data.train are too few, or too alike, for " + std::to_string(kLeastDevRows) +
                 " (data.dev_share); the model of the last step is kept");
  }
  for (const auto& data : {train_.get(), dev_.get(), test_.get()}) {
    if (data) data->index([&](double share) { events_.progress(share); });
  }
  HEED_CHECK_AS(bad_format, train_->size() > 0, "[train] data.train has no texts to learn from");
  HEED_CHECK_AS(bad_format, !dev_ || dev_->size() > 0, "[train] data.dev has no rows");
  HEED_CHECK_AS(bad_format, !test_ || test_->size() > 0, "[train] data.test has no rows");
}

// All that could end the run at an evaluation comes up here, before the first step.
void Trainer::tell_about_data() {
  const auto tell = [&](Dataset* data, const char* name) {
    if (!data) return;
    const bool correlates = std::ranges::any_of(tasks_, [](const auto& task) { return task->correlates(); });
    HEED_CHECK_AS(bad_format, data->rows() > 1 || !correlates, "[train] ", name,
                  " has one row; a correlation of scores needs two");
    for (const std::string& note : data_notes(*data, tasks_, name, "training")) events_.note(note);
  };
  tell(train_.get(), "train");
  tell(dev_.get(), "dev");
  tell(test_.get(), "test");
}

void Trainer::check_metric() const {
  const std::string& wanted = config_.evaluate.metric;
  if (wanted.empty()) return;
  std::vector<std::string> known = tasks_[0]->metric_names();
  known.emplace_back("loss");
  HEED_CHECK(std::ranges::find(known, wanted) != known.end(), "[train] evaluate.metric is \"", wanted, "\", but ",
             config_.task, " has ", join(known, ", "), did_you_mean(wanted, known));
}

void Trainer::prepare_models() {
  events_.phase("preparing the model");
  const auto every = [](std::string_view) { return true; };
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    TrainableRun& task = *tasks_[i];
    ModelConfig config = starting_config(config_, *tokenizer_, *special_);
    std::vector<std::string> labels = task.labels();
    // Numbers of labels keep their meaning.
    if (i == 0 && !labels.empty() && !config_.data.label_names.empty()) labels = config_.data.label_names;
    if (i == 0 && !config_.model.from.empty()) {
      // A folder that was trained for the same labels goes on with its head.
      const bool same = std::ranges::is_permutation(labels, config.labels);
      if (same) labels = config.labels;
      LoadOptions options{.head = task.head(), .new_head_seed = seed()};
      if (!same) options.new_labels = labels;
      heads_[i].model = load_model(config_.model.from, options);
    } else {
      if (!labels.empty()) config.set_labels(labels);
      heads_[i].model = std::make_unique<Model>(config, task.head(), false, i > 0 ? main_model().backbone() : nullptr);
      const Model& model = *heads_[i].model;
      // What a further head shares is there already.
      initialize(*heads_[i].model, seed() + i, [&](std::string_view name) {
        const ParameterPlace::Part part = model.place(name).part;
        return i == 0 || part == ParameterPlace::Part::head || part == ParameterPlace::Part::pooler;
      });
    }
    task.set_labels(labels);
    set_trainable(*heads_[i].model, true, every);
  }
}

void Trainer::prepare_weights() {
  std::set<const Storage*> seen;
  std::vector<PlacedParameter> all;
  for (HeadRun& head : heads_) {
    for (PlacedParameter each : placed_parameters(*head.model)) {
      if (!seen.insert(each.parameter->storage().get()).second) continue;
      if (!head.plan.name.empty()) {  // all that it does not share is the head's own
        each.name = "heads." + head.plan.name + "." + each.name;
        each.place.part = ParameterPlace::Part::head;
      }
      all.push_back(std::move(each));
    }
  }
  for (const std::string& name : config_.model.freeze) {
    std::size_t frozen = 0;
    for (PlacedParameter& each : all) {
      if (!each.place.is(name)) continue;
      each.parameter->set_requires_grad(false);
      ++frozen;
    }
    HEED_CHECK(frozen > 0, "[train] model.freeze: the model has no part \"", name,
               "\", expected embeddings, layers, layers.0 to layers.", main_model().info().layers - 1,
               ", pooler or head");
  }
  weights_ = all;
  if (config_.lora.rank > 0) {
    lora_ = std::make_unique<Lora>(all, config_.lora.rank, config_.lora.alpha, config_.lora.targets, seed(),
                                   !keeps_head(config_, *heads_[0].plan.task, main_model()));
    if (!config_.lora.merge) check_adapter();
    std::ranges::move(lora_->parameters(), std::back_inserter(weights_));
  }
  std::ranges::copy_if(weights_, std::back_inserter(trained_),
                       [](const PlacedParameter& each) { return each.parameter->requires_grad(); });
  HEED_CHECK(!trained_.empty(), "[train] model.freeze leaves nothing to train");
}

// Whether these additions can be kept apart from the model that they change.
void Trainer::check_adapter() const {
  HEED_CHECK(!ModelFolder(config_.model.from).is_adapter(), config_.model.from,
             ": is an adapter itself; lora.merge=false needs a whole model to start from");
  HEED_CHECK(adapter_holds(main_model().head()), "[train] lora.merge=false does not go with the task ", config_.task,
             ", whose head PEFT could not name");
}

// What the config leaves open, before anything goes by it; a resumed run finds it chosen.
void Trainer::choose_settings() {
  std::int64_t all = 0;
  for (const PlacedParameter& each : weights_) all += each.parameter->count();
  const RunSize size{.samples = static_cast<std::int64_t>(train_->size()),
                     .tokens = train_->tokens(),
                     .longest = std::ranges::max(train_->lengths()),
                     .hidden_size = main_model().info().hidden_size,
                     .layers = main_model().info().layers,
                     .trained_share = static_cast<double>(parameters()) / static_cast<double>(all),
                     .judged = dev_ != nullptr};
  const std::string chosen = choose_recipe(config_, size);
  save_config();
  if (chosen.empty()) return;
  events_.note("chosen for " + std::to_string(size.samples) + " samples of " +
               std::to_string(size.tokens / size.samples) + " tokens: " + chosen + "; give them to override");
}

void Trainer::prepare_optimizer() {
  const std::int64_t last = main_model().info().layers + 1;
  std::vector<ParameterGroup> groups;
  for (const PlacedParameter& each : trained_) {
    const auto above = static_cast<double>(last - each.place.depth);
    groups.push_back({.parameters = {*each.parameter},
                      .weight_decay = each.parameter->rank() > 1 ? config_.optimizer.weight_decay : 0,
                      .learning_rate_scale = std::pow(config_.optimizer.layer_decay, above)});
  }
  optimizer_ = make_optimizer(config_, std::move(groups));
  if (config_.ema > 0) {
    for (const PlacedParameter& each : trained_) averages_.push_back(each.parameter->detach().detached_clone());
  }
  passes_ = passes_of_step();
  for (HeadRun& head : heads_) head.passes = passes_of_head(*head.model);
  steps_of_first_epoch_ = steps_of_epoch(0);
  for (std::int64_t epoch = 0; epoch < config_.epochs; ++epoch) total_steps_ += steps_of_epoch(epoch);
  if (config_.max_steps > 0) total_steps_ = std::min(total_steps_, config_.max_steps);
  const double warmup = config_.schedule.warmup;
  schedule_ = {.peak = config_.optimizer.learning_rate,
               .warmup_steps = static_cast<std::int64_t>(
                   warmup < 1 ? std::llround(warmup * static_cast<double>(total_steps_)) : std::llround(warmup)),
               .total_steps = total_steps_,
               .decay = decay_named(config_.schedule.decay)};
}

BatchPlan Trainer::plan_of(std::int64_t epoch) const {
  const BatchRules rules{.tokens = config_.batch.tokens,
                         .sequences = config_.batch.sequences,
                         .shuffle = config_.batch.shuffle,
                         .by_length = config_.batch.by_length};
  return BatchPlan(train_->lengths(), rules, seed(), epoch);
}

std::int64_t Trainer::steps_of_epoch(std::int64_t epoch) const {
  return (plan_of(epoch).batches() + config_.batch.accumulate - 1) / config_.batch.accumulate;
}

// Forward once; backward once for gradients of what a layer reads, from the lowest layer that is trained, and once for
// gradients of its weights, as far as they are trained. Recomputing adds a forward pass where there is a backward one.
double Trainer::passes_of_step() const {
  const std::int64_t layers = main_model().info().layers;
  std::int64_t lowest = layers + 1;
  std::vector<double> trained(static_cast<std::size_t>(layers) + 2), all(trained.size());
  for (const PlacedParameter& each : weights_) {
    const bool is_trained = each.parameter->requires_grad();
    if (is_trained) lowest = std::min(lowest, each.place.depth);
    if (each.place.part != ParameterPlace::Part::layers || each.parameter->rank() < 2) continue;
    const auto layer = static_cast<std::size_t>(std::clamp(each.place.depth, std::int64_t{0}, layers));
    const auto count = static_cast<double>(each.parameter->count());
    all[layer] += count;
    if (is_trained) trained[layer] += count;
  }
  double passes = 0, share = 0;
  for (std::int64_t layer = 1; layer <= layers; ++layer) {
    const auto i = static_cast<std::size_t>(layer);
    if (all[i] > 0) share = trained[i] / all[i];  // layers that share weights have those of the first
    passes += 1 + share;
    if (layer >= lowest) passes += config_.model.recompute ? 2 : 1;
  }
  return layers > 0 ? passes / static_cast<double>(layers) : 3;
}

std::int64_t Trainer::parameters() const {
  std::int64_t count = 0;
  for (const PlacedParameter& each : trained_) count += each.parameter->count();
  return count;
}

}  // namespace heed
