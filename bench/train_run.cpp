#include "bench/train_run.h"

#include <random>

#include "heed/base/parallel.h"
#include "heed/ops/loss.h"
#include "heed/tensor/autograd.h"

namespace heed::bench {
namespace {

const StackConfig kStack = {.block = {.hidden_size = 384,
                                      .attention = {.heads = 12},
                                      .feed_forward = {.intermediate_size = 1536},
                                      .norm = {.epsilon = 1e-12},
                                      .norm_place = NormPlace::post},
                            .layers = 6};

StackConfig with_dropout(StackConfig config, double probability) {
  config.block.dropout = config.block.attention.dropout = probability;
  return config;
}

Tensor normal_rows(std::int64_t rows, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(rows * kStack.block.hidden_size));
  for (float& value : values) value = normal(generator);
  return Tensor::from(values, {rows, kStack.block.hidden_size});
}

}  // namespace

// Backward costs twice what forward does.
double TrainCase::flops() const {
  return 3 * kStack.operations(Offsets(lengths));
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
