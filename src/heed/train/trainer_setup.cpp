// Trainer, before the first step: tokenizer, data, models, optimizer.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/io/model_folder.h"
#include "heed/text/legacy.h"
#include "heed/text/train_tokenizer.h"
#include "heed/train/trainer.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kUsualMaxTokens = 512;

// Writes the texts of the training rows, a line each, for the tokenizer to learn from.
void write_texts(const TrainConfig& config, const fs::path& path) {
  std::ofstream out(path, std::ios::binary);
  const HeadPlan plan = head_plans(config)[0];
  for (const std::string& file : config.data.train) {
    const auto reader = open_reader(data_source(config, plan, file));
    for (Row row; reader->next(row);) {
      std::string text = row.text;
      for (const std::string& word : row.words) (text += text.empty() ? "" : " ") += word;
      if (row.pair) text += "\n" + *row.pair;
      out << text << "\n";
    }
  }
  out.close();
  HEED_CHECK_AS(io, out.good(), path.string(), ": cannot be written");
}

Json trained_tokenizer(const TrainConfig& config, TrainEvents& events) {
  events.phase("training the tokenizer");
  const text::TokenizerType type = text::tokenizer_type(config.tokenizer.train);
  text::TrainOptions options;
  options.vocab_size = config.tokenizer.vocab_size;
  options.special_tokens = text::default_special_tokens(type);
  if (type == text::TokenizerType::bpe) options.special_tokens = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};
  options.progress = [&](double share) { events.progress(share); };
  std::vector<fs::path> files(config.tokenizer.files.begin(), config.tokenizer.files.end());
  const fs::path texts = fs::path(config.output) / "tokenizer-texts.txt";
  if (files.empty()) {
    write_texts(config, texts);
    files = {texts};
  }
  const Json json = text::train_tokenizer(type, files, options);
  fs::remove(texts);
  return json;
}

EncoderConfig starting_config(const TrainConfig& config, const text::Tokenizer& tokenizer) {
  if (!config.model.from.empty()) {
    const ModelFolder folder(config.model.from);
    return parse_encoder_config(folder.config(), folder.config_name());
  }
  Json architecture = config.model.architecture;
  if (!architecture.contains("vocab_size")) architecture["vocab_size"] = tokenizer.vocabulary_size();
  if (!architecture.contains("model_type")) architecture["model_type"] = "bert";
  return parse_encoder_config(architecture, "model.architecture");
}

// The layer that a parameter belongs to: 0 for the embeddings, 1 and up for the blocks, layers + 1 for what follows.
std::int64_t depth_of(const std::string& name, std::int64_t layers) {
  constexpr std::string_view kLayer = "encoder.layer.";
  if (name.starts_with(kLayer)) return std::stoll(name.substr(kLayer.size())) + 1;
  const bool embedding = name.starts_with("encoder.") && !name.starts_with("encoder.pooler");
  return embedding ? 0 : layers + 1;
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

}  // namespace

Trainer::Trainer(TrainConfig config, TrainEvents& events, bool resume) : config_(std::move(config)), events_(events) {
  const fs::path output = config_.output;
  HEED_CHECK(resume || !fs::exists(output / "checkpoints"), output.string(),
             ": has the checkpoints of another run; resume it (--resume) or choose another output");
  fs::create_directories(output);
  replace_file(output / "train.json", to_json(config_).dump(2) + "\n");
  prepare_tokenizer();
  prepare_data();
  prepare_models();
  prepare_optimizer();
  restore(resume);
}

Trainer::~Trainer() = default;

void Trainer::prepare_tokenizer() {
  const fs::path output = config_.output;
  // A resumed run has it already; training it again would give the same.
  if (!config_.tokenizer.train.empty()) {
    if (!fs::exists(output / "tokenizer.json")) {
      replace_file(output / "tokenizer.json", trained_tokenizer(config_, events_).dump(1) + "\n");
    }
    tokenizer_ = text::load_tokenizer(output);
  } else {
    const std::string& from = config_.tokenizer.from.empty() ? config_.model.from : config_.tokenizer.from;
    const fs::path folder =
        fs::exists(fs::path(from) / "config.json") ? ModelFolder(from).transformer() : fs::path(from);
    tokenizer_ = text::load_tokenizer(folder);
  }
  tokenizer_->set_padding(std::nullopt);
  tokenizer_->set_truncation(std::nullopt);
}

void Trainer::prepare_data() {
  const EncoderConfig model = starting_config(config_, *tokenizer_);
  HEED_CHECK(tokenizer_->vocabulary_size() <= model.vocabulary, "[train] the tokenizer has ",
             tokenizer_->vocabulary_size(), " tokens, the model ", model.vocabulary);
  const std::int64_t most = std::min(model.max_tokens(), kUsualMaxTokens);
  const std::int64_t wanted = config_.model.max_tokens;
  HEED_CHECK(wanted <= model.max_tokens(), "[train] model.max_tokens is ", wanted, ", but the model takes ",
             model.max_tokens());
  max_tokens_ = static_cast<std::size_t>(wanted > 0 ? wanted : most);

  const std::vector<HeadPlan> plans = head_plans(config_);
  for (const HeadPlan& plan : plans) {
    heads_.push_back({plan, nullptr});
    tasks_.push_back(make_task(plan, config_, *tokenizer_, max_tokens_));
  }
  const auto open = [&](const std::vector<std::string>& files) {
    return files.empty() ? nullptr : std::make_unique<Dataset>(config_, plans, files, tasks_);
  };
  train_ = open(config_.data.train);
  dev_ = open(config_.data.dev);
  test_ = open(config_.data.test);
  events_.phase("reading the data");
  train_->for_each_row([&](const std::vector<Row>& row) {
    for (std::size_t head = 0; head < tasks_.size(); ++head) tasks_[head]->learn(row[head]);
  });
  for (const auto& data : {train_.get(), dev_.get(), test_.get()}) {
    if (data) data->index([&](double share) { events_.progress(share); });
  }
  HEED_CHECK(train_->size() > 0, "[train] data.train has no rows");
  HEED_CHECK(!dev_ || dev_->size() > 0, "[train] data.dev has no rows");
}

void Trainer::prepare_models() {
  events_.phase("preparing the model");
  const auto seed = static_cast<std::uint64_t>(config_.seed);
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    TrainTask& task = *tasks_[i];
    EncoderConfig config = starting_config(config_, *tokenizer_);
    std::vector<std::string> labels = task.labels();
    if (i == 0 && !config_.model.from.empty()) {
      // A folder that was trained for the same labels goes on with its head.
      const bool same = std::ranges::is_permutation(labels, config.labels);
      if (same) labels = config.labels;
      LoadOptions options{.head = task.head(), .new_head_seed = seed};
      if (!same) options.new_labels = labels;
      heads_[i].model = load_encoder(config_.model.from, options);
    } else {
      if (!labels.empty()) set_labels(config, labels);
      heads_[i].model = std::make_unique<EncoderModel>(config, task.head());
      initialize(*heads_[i].model, seed + i);
    }
    task.set_labels(labels);
    if (i > 0) tie(heads_[0].model->encoder(), heads_[i].model->encoder());
    set_trainable(*heads_[i].model, true, [](std::string_view) { return true; });
  }
}

void Trainer::prepare_optimizer() {
  std::set<const Storage*> seen;
  std::vector<NamedParameter> all;
  for (HeadRun& head : heads_) {
    for (NamedParameter each : named_parameters(*head.model)) {
      if (!seen.insert(each.parameter->storage().get()).second) continue;
      if (!head.plan.name.empty()) each.name = "heads." + head.plan.name + "." + each.name;
      all.push_back(std::move(each));
    }
  }
  for (const std::string& prefix : config_.model.freeze) {
    std::size_t frozen = 0;
    for (NamedParameter& each : all) {
      if (!each.name.starts_with(prefix)) continue;
      each.parameter->set_requires_grad(false);
      ++frozen;
    }
    HEED_CHECK(frozen > 0, "[train] model.freeze: no parameter begins with \"", prefix, "\"; they are named like ",
               all[0].name);
  }
  weights_ = all;
  if (config_.lora.rank > 0) {
    lora_ = std::make_unique<Lora>(all, config_.lora.rank, config_.lora.alpha, config_.lora.targets,
                                   static_cast<std::uint64_t>(config_.seed));
    std::ranges::move(lora_->parameters(), std::back_inserter(weights_));
  }
  const std::int64_t layers = heads_[0].model->config().layers;
  std::vector<ParameterGroup> groups;
  for (const NamedParameter& each : weights_) {
    if (!each.parameter->requires_grad()) continue;
    trained_.push_back(each);
    const auto above = static_cast<double>(layers + 1 - depth_of(each.name, layers));
    groups.push_back({.parameters = {*each.parameter},
                      .weight_decay = each.parameter->rank() > 1 ? config_.optimizer.weight_decay : 0,
                      .learning_rate_scale = std::pow(config_.optimizer.layer_decay, above)});
  }
  HEED_CHECK(!trained_.empty(), "[train] model.freeze leaves nothing to train");
  optimizer_ = make_optimizer(config_, std::move(groups));
  if (config_.ema > 0) {
    for (const NamedParameter& each : trained_) averages_.push_back(each.parameter->detach().clone());
  }
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
  return BatchPlan(train_->lengths(), rules, static_cast<std::uint64_t>(config_.seed), epoch);
}

std::int64_t Trainer::steps_of_epoch(std::int64_t epoch) const {
  return (plan_of(epoch).batches() + config_.batch.accumulate - 1) / config_.batch.accumulate;
}

std::int64_t Trainer::parameters() const {
  std::int64_t count = 0;
  for (const NamedParameter& each : trained_) count += each.parameter->count();
  return count;
}

}  // namespace heed
