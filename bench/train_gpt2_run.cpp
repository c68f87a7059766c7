#include "bench/train_gpt2_run.h"

#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/ops/gather.h"
#include "heed/ops/loss.h"
#include "heed/tensor/autograd.h"

namespace heed::bench {

TrainGpt2Run::TrainGpt2Run(const TrainGpt2Shape& shape, int threads) : threads_(threads) {
  const auto [sequences, tokens, width, layers, heads, vocabulary, positions] = shape;
  HEED_CHECK(sequences >= 1 && sequences <= 1024 && tokens >= 2 && tokens <= positions, "[train_gpt2 bench] ",
             sequences, " sequences of ", tokens, " tokens");
  const Json config = {{"model_type", "gpt2"}, {"n_embd", width},          {"n_layer", layers},
                       {"n_head", heads},      {"vocab_size", vocabulary}, {"n_positions", positions},
                       {"resid_pdrop", 0},     {"embd_pdrop", 0},          {"attn_pdrop", 0}};
  model_ = std::make_unique<Model>(parse_model_config(config, "[train_gpt2 bench]"), HeadKind::causal_lm);
  initialize(*model_, 1);
  constexpr double kWeightDecay = 0.01;  // PyTorch's default, of all parameters
  optimizer_ = make_adam({{.parameters = parameters(*model_), .weight_decay = kWeightDecay}});

  const std::int64_t count = sequences * tokens;
  std::vector<std::int32_t> ids;
  std::vector<std::int64_t> rows, wanted;
  for (std::int64_t i = 0; i < count; ++i) {
    const double draw = uniform_double(7, 0, static_cast<std::uint64_t>(i));
    ids.push_back(static_cast<std::int32_t>(draw * static_cast<double>(model_->info().vocab_size)));
    if (i % tokens > 0) rows.push_back(i - 1), wanted.push_back(ids.back());
  }
  ids_ = Packed(Tensor::from(ids, {count}),
                Offsets(std::vector<std::int64_t>(static_cast<std::size_t>(sequences), tokens)));
  rows_ = Tensor::from(rows, {std::ssize(rows)});
  wanted_ = Tensor::from(wanted, {std::ssize(wanted)});
}

void TrainGpt2Run::run() {
  const ThreadLimit limit(threads_);
  constexpr double kLearningRate = 1e-4;
  const Context context = Context::training(1, step_++);
  const Tensor hidden = model_->encode({.ids = ids_}, context);
  backward(cross_entropy(model_->logits_of_rows(take_rows(hidden, rows_), context), wanted_));
  optimizer_->step(kLearningRate);
  optimizer_->clear_gradients();
}

double TrainGpt2Run::flops() const {
  return 3 * (model_->backbone()->operations(ids_.offsets) + model_->head_operations(rows_.count()));
}

}  // namespace heed::bench
