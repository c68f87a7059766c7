#include "bench/train_run.h"

#include <random>

#include "heed/base/parallel.h"
#include "heed/ops/loss.h"
#include "heed/tensor/autograd.h"

namespace heed::bench {
namespace {

const StackConfig kStack = {.block = {.width = 384, .heads = 12, .inner = 1536, .pre_norm = false, .epsilon = 1e-12},
                            .layers = 6};

StackConfig with_dropout(StackConfig config, double probability) {
  config.block.dropout = config.block.ATTDROP = probability;
  return config;
}

Tensor normal_rows(std::int64_t rows, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(rows * kStack.block.width));
  for (float& value : values) value = normal(generator);
  return Tensor::from(values, {rows, kStack.block.width});
}

}  // namespace

// Products of the layers; backward has twice those of forward.
double TrainCase::flops() const {
  const auto width = static_cast<double>(kStack.block.width), inner = static_cast<double>(kStack.block.inner);
  double products = 0;
  for (const std::int64_t each : lengths) {
    const auto length = static_cast<double>(each);
    products += length * (8 * width * width + 4 * width * inner) + 4 * length * length * width;
  }
  return 3 * static_cast<double>(kStack.layers) * products;
}

TrainCase train_even(int threads) {
  return {std::vector<std::int64_t>(16, 128), threads};
}

TrainCase train_mixed(int threads) {
  return {{22, 7, 46, 15, 33, 18, 9, 64, 27, 13, 20, 38, 11, 24, 30, 16}, threads};
}

TrainRun::TrainRun(TrainCase train) : case_(std::move(train)), encoder_(with_dropout(kStack, case_.dropout)) {
  initialize(encoder_, 1);
  constexpr double kWeightDecay = 0.01;  // PyTorch's default, of all parameters
  optimizer_ = make_adam({{.parameters = parameters(encoder_), .weight_decay = kWeightDecay}});
  const Offsets offsets(case_.lengths);
  x_ = Packed(normal_rows(offsets.tokens(), 7), offsets);
  target_ = normal_rows(offsets.tokens(), 8);
}

void TrainRun::run() {
  const ThreadLimit limit(case_.threads);
  constexpr double kLearningRate = 1e-4;
  const Tensor found = encoder_.forward(x_, {}, Context::training(1, step_++));
  backward(mean_squared_error(found, target_));
  optimizer_->step(kLearningRate);
  optimizer_->clear_gradients();
}

}  // namespace heed::bench
