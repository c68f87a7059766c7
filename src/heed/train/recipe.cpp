#include "heed/train/recipe.h"
#include "heed/base/join.h"
#include "heed/tasks/registry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace heed {
namespace {

constexpr double kLeastRows = 8, kMostRows = 24;  // of a step
constexpr std::int64_t kMostTokens = 4096;        // of a step
constexpr std::int64_t kManyRows = 200'000, kPlentyOfRows = 1'000'000;

double mean_length(const RunSize& size) {
  return static_cast<double>(size.tokens) / static_cast<double>(std::max<std::int64_t>(size.samples, 1));
}

std::int64_t rounded_up(double value, std::int64_t step) {
  return static_cast<std::int64_t>(std::ceil(value / static_cast<double>(step))) * step;
}

// A step has up to two dozen rows, however long they are: enough for its gradient to mean something, few enough for
// many steps. batch.accumulate divides it; where batch.sequences is given, that alone is the limit.
std::int64_t batch_tokens(const TrainConfig& config, const RunSize& size) {
  if (config.batch.sequences > 0) {
    return std::clamp(std::min(config.batch.sequences, 2 * kMostTokens) * size.longest, std::int64_t{1},
                      2 * kMostTokens);
  }
  const double rows = std::clamp(static_cast<double>(size.samples) / 40, kLeastRows, kMostRows);
  const std::int64_t of_step = std::min(rounded_up(rows * mean_length(size), 64), kMostTokens);
  return std::max<std::int64_t>(of_step / config.batch.accumulate, 1);
}

double rows_of_step(const TrainConfig& config, const RunSize& size) {
  double rows = static_cast<double>(config.batch.tokens) / std::max(mean_length(size), 1.0);
  if (config.batch.sequences > 0) rows = std::min(rows, static_cast<double>(config.batch.sequences));
  return std::max(rows, 1.0) * static_cast<double>(config.batch.accumulate);
}

// Two digits are enough, and read well.
double rounded(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1e", value);
  return std::strtod(text.data(), nullptr);
}

double learning_rate(const TrainConfig& config, const RunSize& size) {
  const double width = static_cast<double>(std::max<std::int64_t>(size.hidden_size, 1));
  const double depth = std::sqrt(6 / static_cast<double>(std::max<std::int64_t>(size.layers, 6)));
  const bool from_nothing = config.model.from.empty();
  // MiniLM (384) 2e-4, BERT-base (768) 5e-5, BERT-large (1024) 2.8e-5; from scratch 1e-3 for 192 columns.
  double rate = from_nothing ? std::min(2e-3, 0.2 / width * depth) : std::min(4e-4, 2e-4 * std::pow(384 / width, 2));
  if (!from_nothing && size.trained_share < 0.1) rate *= 5;
  const Task* task = find_task(config.task);
  if (!from_nothing && task && task->head == HeadKind::none) rate /= 4;  // no new head that has to learn
  return rounded(rate);
}

// Small data is seen more often, until there are enough steps; large data need not be.
std::int64_t epochs(const TrainConfig& config, const RunSize& size) {
  const double steps = std::max(static_cast<double>(size.samples) / rows_of_step(config, size), 1.0);
  if (config.max_steps > 0) return static_cast<std::int64_t>(std::ceil(static_cast<double>(config.max_steps) / steps));
  const bool from_nothing = config.model.from.empty();
  const std::int64_t least = size.samples >= kPlentyOfRows ? 1 : size.samples >= kManyRows ? 2 : 3;
  const std::int64_t most = from_nothing ? 40 : 15;
  const double wanted = from_nothing ? 4000 : 800;
  return std::clamp(static_cast<std::int64_t>(std::ceil(wanted / steps)), least, most);
}

}  // namespace

std::string choose_recipe(TrainConfig& config, const RunSize& size) {
  std::vector<std::string> chosen;
  const auto tell = [&](const std::string& name, const auto& value) {
    chosen.push_back(name + " " + Json(value).dump());
  };
  const bool chooses_length = config.epochs == 0;
  if (config.batch.tokens == 0) tell("batch.tokens", config.batch.tokens = batch_tokens(config, size));
  if (config.optimizer.learning_rate == 0) {
    tell("optimizer.learning_rate", config.optimizer.learning_rate = learning_rate(config, size));
  }
  if (chooses_length) tell("epochs", config.epochs = epochs(config, size));
  if (config.evaluate.patience < 0) {
    // A length that was given is the length.
    const bool may_stop = chooses_length && size.judged;
    config.evaluate.patience = may_stop ? std::max<std::int64_t>(2, (config.epochs + 1) / 2) : 0;
    if (may_stop) tell("evaluate.patience", config.evaluate.patience);
  }
  return join(chosen, ", ");
}

}  // namespace heed
