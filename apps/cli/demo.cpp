// heed demo: a tiny attention encoder learns to look things up, on data it makes itself.
//
// Each example is a row of letter-digit pairs and a question, the letter of one of them; the answer is its digit:
//   k3 a7 x0 m5 | a?  ->  7
// No fixed weights can solve it: the position of the answer changes with every example. One attention layer can.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/kernels/target.h"
#include "heed/nn/attention.h"
#include "heed/nn/layers.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/loss.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"
#include "heed/train/optimizer.h"
#include "heed/train/schedule.h"
#include "progress.h"
#include "verbs.h"

namespace heed::cli {
namespace {

constexpr std::int64_t kPairs = 12, kLetters = 26, kDigits = 10, kWidth = 64, kBatch = 64, kSteps = 300;
constexpr std::int64_t kTokens = kPairs + 1;  // the pairs, then the question
constexpr std::int64_t kQuestion = kDigits;   // "digit" id of the question token
constexpr std::uint64_t kSeed = 1, kTrainStream = 1, kTestStream = 2;

struct Batch {
  Tensor letters, digits;  // ids [kBatch, kTokens]
  Tensor answers;          // [kBatch]
};

// Example i of a stream is a function of (seed, stream, i) alone.
Batch make_batch(std::uint64_t stream, std::int64_t number) {
  std::vector<std::int32_t> letters, digits, answers;
  for (std::int64_t row = 0; row < kBatch; ++row) {
    const std::uint64_t example = stream_id(stream, number * kBatch + row);
    const auto order = permutation(kLetters, kSeed, example);
    Sequence draw{kSeed, example, 1000};
    for (std::int64_t i = 0; i < kPairs; ++i) {
      letters.push_back(static_cast<std::int32_t>(order[static_cast<std::size_t>(i)]));
      digits.push_back(static_cast<std::int32_t>(draw.uniform_integer(kDigits)));
    }
    const auto asked = letters.size() - kPairs + draw.uniform_integer(kPairs);
    letters.push_back(letters[asked]);
    answers.push_back(digits[asked]);
    digits.push_back(static_cast<std::int32_t>(kQuestion));
  }
  return {Tensor::from(letters, {kBatch, kTokens}), Tensor::from(digits, {kBatch, kTokens}),
          Tensor::from(answers, {kBatch})};
}

// Pre-norm block of one attention head and a feed-forward layer; the answer is read at the question's token.
class LookupModel : public Module {
 public:
  // Logits [kBatch, kDigits].
  Tensor forward(const Batch& batch, const Context& context = {}) const {
    const Tensor x = add(letter_.forward(batch.letters), digit_.forward(batch.digits));  // [B, T, C]
    const Tensor normed = norm_.forward(x);
    auto questions = [](const Tensor& tokens) { return reshape(slice(tokens, 1, kPairs, kTokens), {kBatch, kWidth}); };
    const Packed rows(reshape(normed, {kBatch * kTokens, kWidth}), equal_lengths(kTokens));
    const Packed asking(questions(normed), equal_lengths(1));
    const Tensor mixed = attention_.forward(asking, rows, {}, context.child("attention"), questions(x));
    return answer_.forward(feed_forward_.forward(norm_2_.forward(mixed), mixed));
  }

  void visit(Visitor& visitor) override {
    visitor.child("letter", letter_);
    visitor.child("digit", digit_);
    visitor.child("norm", norm_);
    visitor.child("attention", attention_);
    visitor.child("norm_2", norm_2_);
    visitor.child("feed_forward", feed_forward_);
    visitor.child("answer", answer_);
  }

 private:
  static Offsets equal_lengths(std::int64_t length) {
    return Offsets(std::span<const std::int64_t>(std::vector<std::int64_t>(kBatch, length)));
  }

  Embedding letter_{kLetters, kWidth, Initializer::normal(0.5)}, digit_{kDigits + 1, kWidth, Initializer::normal(0.5)};
  Norm norm_{kWidth}, norm_2_{kWidth};
  MultiHeadAttention attention_{{.width = kWidth, .heads = 1, .fused = false}};
  FeedForward feed_forward_{kWidth, 4 * kWidth};
  Linear answer_{kWidth, kDigits};
};

// The largest weights of the question's attention, as a probe sees them.
class Looks : public Probe {
 public:
  void on_tensor(std::string_view name, const Tensor& value) override {
    if (name == "attention.link_keys") keys_ = value;
    if (name == "attention.link_weights") weights_ = value;
  }
  // Of one row of the batch, [kTokens]; what is not among the largest counts as 0.
  std::array<double, kTokens> of_row(std::int64_t row) const {
    std::array<double, kTokens> result{};
    for (std::int64_t i = 0; i < keys_.size(2); ++i) {
      const auto key = static_cast<std::size_t>(keys_.at({row, 0, i}));
      result.at(key) = weights_.at({row, 0, i});
    }
    return result;
  }

 private:
  Tensor keys_, weights_;
};

std::int64_t best(const Tensor& logits, std::int64_t row) {
  const float* first = logits.data<float>() + row * kDigits;
  return std::max_element(first, first + kDigits) - first;
}

double accuracy(const LookupModel& model, std::int64_t batches) {
  NoGrad no_grad;
  std::int64_t right = 0;
  for (std::int64_t number = 0; number < batches; ++number) {
    const Batch batch = make_batch(kTestStream, number);
    const Tensor logits = model.forward(batch);
    for (std::int64_t row = 0; row < kBatch; ++row) {
      right += best(logits, row) == static_cast<std::int64_t>(batch.answers.at({row}));
    }
  }
  return static_cast<double>(right) / static_cast<double>(batches * kBatch);
}

void train(LookupModel& model) {
  const Schedule schedule{.peak = 3e-3, .warmup_steps = 30, .total_steps = kSteps, .decay = Decay::cosine};
  auto optimizer = make_adam({{parameters(model), 0.01}});
  Progress progress("", kSteps, kSteps * kBatch * kTokens);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const Batch batch = make_batch(kTrainStream, step);
    const Tensor loss = cross_entropy(model.forward(batch), batch.answers);
    backward(loss);
    clip_gradient_norm(parameters(model), 1.0);
    optimizer->step(schedule.learning_rate(step));
    optimizer->clear_gradients();
    progress.step_done(loss.item(), kBatch * kTokens);
  }
}

// A question, where the model looked, and its answer.
void show(const Batch& batch, const Tensor& logits, const Looks& looks_at, std::int64_t row) {
  static constexpr std::array kShades = {" ", "░", "▒", "▓", "█"};
  std::string pairs, looks;
  const auto weights = looks_at.of_row(row);
  for (std::int64_t i = 0; i < kPairs; ++i) {
    pairs += fmt::format(" {}{} ", static_cast<char>('a' + static_cast<int>(batch.letters.at({row, i}))),
                         static_cast<int>(batch.digits.at({row, i})));
    const auto shade = static_cast<std::size_t>(std::min(4.0, weights[static_cast<std::size_t>(i)] * 5));
    looks += fmt::format(" {0}{0} ", kShades[shade]);
  }
  fmt::print("  {} | {}?  ->  {}   (right: {})\n  {}\n", pairs,
             static_cast<char>('a' + static_cast<int>(batch.letters.at({row, kPairs}))), best(logits, row),
             batch.answers.at({row}), looks);
}

int demo() {
  LookupModel model;
  initialize(model, kSeed);
  fmt::print("A one-layer attention encoder ({} parameters) learns to look up letters in rows like \"k3 a7 x0 | a?\"\n",
             count_parameters(model));
  fmt::print("on {} threads, instruction set {}.\n\n", current_threads(), kernels::target_name());
  const double before = accuracy(model, 16);
  train(model);
  const double after = accuracy(model, 16);
  fmt::print("\nRight answers on 1024 unseen rows: {:.1f} % before training, {:.1f} % after (chance: 10 %).\n\n",
             100 * before, 100 * after);

  NoGrad no_grad;
  const Batch batch = make_batch(kTestStream, 1000);
  Looks looks;
  const Tensor logits = model.forward(batch, Context::watched_by(looks));
  fmt::print("Unseen rows, with what the question attended to below:\n");
  for (std::int64_t row = 0; row < 4; ++row) show(batch, logits, looks, row);
  fmt::print("\nNext: ./test.sh runs the tests; README.md shows how to use heed from C++.\n");
  return after > 0.9 ? 0 : 1;
}

}  // namespace

void add_demo(CLI::App& app, int& result) {
  app.add_subcommand("demo", "train a tiny attention encoder on built-in data and show what it attends to (seconds)")
      ->callback([&result] { result = demo(); });
}

}  // namespace heed::cli
