// heed lab long-range: how far back can a model remember? Recurrence has to carry a symbol through every step in
// between; attention looks it up.
//
// A sequence is a key symbol, d distractors and a question mark; the answer is the key. Three models of equal parameter
// count learn it for one distance at a time, each time from the start: short distances cannot teach long ones.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "heed/attention/positions.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/nn/attention.h"
#include "heed/nn/layers.h"
#include "heed/nn/recurrent.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/loss.h"
#include "heed/tensor/autograd.h"
#include "heed/train/optimizer.h"
#include "heed/train/schedule.h"
#include "progress.h"
#include "verbs.h"

namespace heed::cli {
namespace {

constexpr std::int64_t kKeys = 16, kDistractors = 16, kQuestion = kKeys + kDistractors, kSymbols = kQuestion + 1;
constexpr std::int64_t kWidth = 32;  // of embeddings, and of the attention model
constexpr std::int64_t kTrainRows = 32, kTestRows = 256;
constexpr double kPeakLearningRate = 5e-3;

struct Choice {
  std::vector<std::int64_t> distances = {2, 4, 8, 16, 32, 64, 128};
  std::int64_t steps = 2000;
  std::uint64_t seed = 1;
};

struct Batch {
  Tensor ids;  // [N]
  Offsets offsets;
  Tensor questions;  // [B] tokens that ask
  Tensor answers;    // [B]
};

// `rows` sequences of one distance; a function of (seed, stream, number) alone.
Batch make_batch(std::int64_t distance, std::int64_t rows, std::uint64_t seed, std::string_view stream,
                 std::int64_t number) {
  RandomStream draw{seed, stream_id(stream, distance, number), 0};
  std::vector<std::int32_t> ids, answers;
  std::vector<std::int64_t> questions;
  for (std::int64_t row = 0; row < rows; ++row) {
    answers.push_back(static_cast<std::int32_t>(draw.uniform_integer(kKeys)));
    ids.push_back(answers.back());
    for (std::int64_t i = 0; i < distance; ++i) {
      ids.push_back(static_cast<std::int32_t>(kKeys + draw.uniform_integer(kDistractors)));
    }
    questions.push_back(static_cast<std::int64_t>(ids.size()));
    ids.push_back(static_cast<std::int32_t>(kQuestion));
  }
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(rows), distance + 2);
  return {Tensor::from(ids, {static_cast<std::int64_t>(ids.size())}), Offsets(std::span<const std::int64_t>(lengths)),
          Tensor::from(questions, {rows}), Tensor::from(answers, {rows})};
}

class RecallModel : public Module {
 public:
  // [B, kKeys]
  virtual Tensor logits(const Batch& batch) const = 0;

  void visit(Visitor& visitor) const override {
    visitor.child("symbol", symbol_);
    visitor.child("answer", answer_);
  }

 protected:
  explicit RecallModel(std::int64_t width) : answer_(width, kKeys) {}

  Embedding symbol_{kSymbols, kWidth, Initializer::normal(0.5)};
  Linear answer_;
};

// The hidden state at the question has to know the key.
template <class Stack>
class RecurrentRecall : public RecallModel {
 public:
  explicit RecurrentRecall(std::int64_t width) : RecallModel(width), stack_(kWidth, width) {}

  Tensor logits(const Batch& batch) const override {
    const Packed states = stack_.forward(Packed(symbol_.forward(batch.ids), batch.offsets), {});
    return answer_.forward(take_rows(states.values, batch.questions));
  }

  void visit(Visitor& visitor) const override {
    RecallModel::visit(visitor);
    visitor.child("stack", stack_);
  }

 private:
  Stack stack_;
};

// One head of attention from the question to its sequence.
class AttentionRecall : public RecallModel {
 public:
  explicit AttentionRecall(std::int64_t width) : RecallModel(width) {}

  Tensor logits(const Batch& batch) const override {
    const Tensor positions =
        take_rows(sinusoidal_positions(batch.offsets.longest(), kWidth), position_ids(batch.offsets));
    const Packed x(add(symbol_.forward(batch.ids), positions), batch.offsets);
    const std::vector<std::int64_t> one_each(static_cast<std::size_t>(batch.offsets.sequences()), 1);
    const Packed asking(take_rows(x.values, batch.questions), Offsets(std::span<const std::int64_t>(one_each)));
    return answer_.forward(attention_.forward(asking, x, {}, {}, asking.values));
  }

  void visit(Visitor& visitor) const override {
    RecallModel::visit(visitor);
    visitor.child("attention", attention_);
  }

 private:
  MultiHeadAttention attention_{kWidth, {.heads = 1, .fused = false}};
};

// The recurrent model whose parameter count comes closest to `parameters`.
template <class Model>
std::unique_ptr<RecallModel> match(std::int64_t parameters) {
  auto count = [](std::int64_t width) {
    Model model(width);
    return count_parameters(model);
  };
  std::int64_t width = 1;
  while (count(width) < parameters) ++width;
  if (width > 1 && parameters - count(width - 1) < count(width) - parameters) --width;
  return std::make_unique<Model>(width);
}

struct Contestant {
  const char* name;
  char mark;
  std::unique_ptr<RecallModel> model;
  double seconds = 0;
  std::vector<double> accuracy{};  // by distance
};

void train(RecallModel& model, std::int64_t distance, const Choice& choice, Progress& progress) {
  initialize(model, choice.seed);
  const Schedule schedule{.peak = kPeakLearningRate,
                          .warmup_steps = std::min<std::int64_t>(30, choice.steps / 2),
                          .total_steps = choice.steps,
                          .decay = Decay::cosine};
  auto optimizer = make_adam({{parameters(model), 0.0}});
  for (std::int64_t step = 0; step < choice.steps; ++step) {
    const Batch batch = make_batch(distance, kTrainRows, choice.seed, "train", step);
    const Tensor loss = cross_entropy(model.logits(batch), batch.answers);
    backward(loss);
    clip_gradient_norm(parameters(model), 1.0);
    optimizer->step(schedule.learning_rate(step));
    optimizer->clear_gradients();
    progress.step_done(loss.item(), batch.offsets.tokens());
  }
}

// Share of right answers on fresh sequences.
double accuracy(const RecallModel& model, std::int64_t distance, const Choice& choice) {
  NoGrad no_grad;
  const Batch batch = make_batch(distance, kTestRows, choice.seed, "test", 0);
  const Tensor logits = model.logits(batch);
  std::int64_t right = 0;
  for (std::int64_t row = 0; row < kTestRows; ++row) {
    const float* first = logits.data<float>() + row * kKeys;
    right += std::max_element(first, first + kKeys) - first == static_cast<std::int64_t>(batch.answers.at({row}));
  }
  return static_cast<double>(right) / static_cast<double>(kTestRows);
}

void run(Contestant& contestant, const Choice& choice) {
  std::int64_t tokens = 0;
  for (std::int64_t distance : choice.distances) tokens += choice.steps * kTrainRows * (distance + 2);
  const auto trainings = static_cast<std::int64_t>(choice.distances.size());
  Progress progress(fmt::format("{:<10}", contestant.name), trainings * choice.steps, tokens);
  for (std::int64_t distance : choice.distances) {
    train(*contestant.model, distance, choice, progress);
    contestant.accuracy.push_back(accuracy(*contestant.model, distance, choice));
  }
  contestant.seconds = progress.seconds();
}

void print_table(const std::vector<Contestant>& contestants, const Choice& choice) {
  fmt::print("\nRight answers in % on {} fresh sequences a distance (chance: {:.1f} %)\n\n", kTestRows,
             100.0 / static_cast<double>(kKeys));
  fmt::print("{:<10} {:>10} {:>9}  ", "model", "parameters", "training");
  for (std::int64_t distance : choice.distances) fmt::print(" {:>6}", fmt::format("d={}", distance));
  fmt::print("\n");
  for (const Contestant& contestant : contestants) {
    fmt::print("{:<10} {:>10} {:>7.1f} s  ", contestant.name, count_parameters(*contestant.model), contestant.seconds);
    for (double accuracy : contestant.accuracy) fmt::print(" {:>6.1f}", 100 * accuracy);
    fmt::print("\n");
  }
}

// Accuracy upwards, distance to the right; the marks of a distance stand side by side, so that none hides another.
void print_plot(const std::vector<Contestant>& contestants, const Choice& choice) {
  constexpr int kRows = 10;
  fmt::print("\n");
  for (int row = kRows; row >= 0; --row) {
    std::string line;
    for (std::size_t d = 0; d < choice.distances.size(); ++d) {
      line += "  ";
      for (const Contestant& contestant : contestants) {
        line += std::lround(contestant.accuracy[d] * kRows) == row ? contestant.mark : ' ';
      }
      line += ' ';
    }
    fmt::print("{:>5} % │{}\n", row * 100 / kRows, line);
  }
  std::string axis, labels;
  for (std::int64_t distance : choice.distances) {
    axis += "──────";
    labels += fmt::format("{:^6}", distance);
  }
  fmt::print("        └{}\n         {}  distance\n        ", axis, labels);
  for (const Contestant& contestant : contestants) fmt::print("  {} = {}", contestant.mark, contestant.name);
  fmt::print("\n");
}

int long_range(Choice choice) {
  std::ranges::sort(choice.distances);
  choice.distances.erase(std::unique(choice.distances.begin(), choice.distances.end()), choice.distances.end());
  std::vector<Contestant> contestants;
  auto attention = std::make_unique<AttentionRecall>(kWidth);
  const std::int64_t parameters = count_parameters(*attention);
  contestants.push_back({"RNN", 'r', match<RecurrentRecall<Rnn>>(parameters)});
  contestants.push_back({"GRU", 'g', match<RecurrentRecall<Gru>>(parameters)});
  contestants.push_back({"attention", 'a', std::move(attention)});
  fmt::print("A key symbol, d distractors, then the question which key it was: {} keys, {} threads, seed {}.\n", kKeys,
             current_threads(), choice.seed);
  std::fflush(stdout);
  for (Contestant& contestant : contestants) run(contestant, choice);
  print_table(contestants, choice);
  print_plot(contestants, choice);
  fmt::print(
      "\nA recurrent state passes through every step between key and question, and so does the gradient\n"
      "that would teach it: multiplied by a matrix and a slope each time, it fades (or explodes) with the\n"
      "distance. The gates of the GRU can hold the state still, but have to learn it first. For attention\n"
      "every distance is one step. What fails is learning, not capacity: taught beside short distances,\n"
      "long ones can be learned by all three.\n");
  return 0;
}

}  // namespace

void add_lab_long_range(CLI::App& lab, int& result) {
  CLI::App* verb =
      lab.add_subcommand("long-range", "measure recall over growing distances: RNN, GRU and attention (a minute)");
  auto choice = std::make_shared<Choice>();
  verb->add_option("--distances", choice->distances, "distances to try, in distractors, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  verb->add_option("--steps", choice->steps, "training steps for each model and distance")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  verb->add_option("--seed", choice->seed, "seed of weights and sequences")->capture_default_str();
  verb->callback([choice, &result] { result = long_range(*choice); });
}

}  // namespace heed::cli
