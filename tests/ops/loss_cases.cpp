#include <cmath>

#include "heed/ops/loss.h"
#include "ops/op_case.h"

namespace heed::testing {
namespace {

Tensor reduce(const std::vector<double>& losses, Reduction reduction, double divisor) {
  double total = 0;
  for (double loss : losses) total += loss;
  if (reduction == Reduction::none) {
    return Tensor::from(losses, {static_cast<std::int64_t>(losses.size())});
  }
  if (reduction == Reduction::mean) total = divisor > 0 ? total / divisor : 0;
  return Tensor::full({}, total, DType::f64);
}

// By the definition: -sum_c q_c w_c log p_c with the smoothed target distribution q; as PyTorch does it, the hard part
// carries the target's weight and the smooth part each class's own.
void add_cross_entropy(std::vector<OpCase>& cases, std::int64_t rows, std::int64_t classes, double smoothing,
                       bool weighted, bool ignoring, Reduction reduction) {
  Tensor targets = ids("targets", {rows}, classes);
  const std::int64_t ignored = -100;
  if (ignoring) {
    for (std::int64_t i = 0; i < rows; i += 2) targets.mutable_data<std::int64_t>()[i] = ignored;
  }
  Tensor weights;
  if (weighted) weights = generate({classes}, [](std::int64_t i) { return 0.5 + 0.25 * static_cast<double>(i); });
  auto run = [=](Inputs in) {
    return cross_entropy(in[0], in[1],
                         {.label_smoothing = smoothing, .class_weights = weights, .reduction = reduction});
  };
  auto reference = [=](Inputs in) {
    std::vector<double> losses(static_cast<std::size_t>(rows));
    double divisor = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t target = i64(in[1])[r];
      if (target == ignored) continue;
      const double* row = f64(in[0]) + r * classes;
      double sum = 0;
      for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(row[c]);
      auto weight = [&](std::int64_t c) { return weighted ? f64(weights)[c] : 1; };
      double loss = 0;
      for (std::int64_t c = 0; c < classes; ++c) {
        const double log_p = row[c] - std::log(sum);
        loss -= weight(c) * log_p * smoothing / static_cast<double>(classes);
        if (c == target) loss -= weight(c) * log_p * (1 - smoothing);
      }
      losses[static_cast<std::size_t>(r)] = loss;
      divisor += weight(target);
    }
    return reduce(losses, reduction, divisor);
  };
  cases.push_back({.op = "cross_entropy",
                   .name = std::to_string(rows) + "x" + std::to_string(classes) + (smoothing > 0 ? " smooth" : "") +
                           (weighted ? " weighted" : "") + (ignoring ? " ignoring" : "") + " reduction " +
                           std::to_string(static_cast<int>(reduction)),
                   .inputs = {value_input("logits", {rows, classes}, 2), targets},
                   .run = run,
                   .reference = reference,
                   .rows = reduction == Reduction::none ? std::vector<bool>{true, true} : std::vector<bool>{}});
}

void add_pairwise(std::vector<OpCase>& cases, const Shape& shape, Reduction reduction) {
  const auto count = static_cast<double>(shape.count());
  auto losses = [](Inputs in, auto&& loss) {
    std::vector<double> all;
    for (std::int64_t i = 0; i < in[0].count(); ++i) all.push_back(loss(f64(in[0])[i], f64(in[1])[i]));
    return all;
  };
  auto shaped = [shape, reduction](const Tensor& t) {
    return reduction == Reduction::none ? t.detached_reshape(shape) : t;
  };
  const std::string name = std::to_string(shape.count()) + " reduction " + std::to_string(static_cast<int>(reduction));
  const std::vector<bool> rows = reduction == Reduction::none ? std::vector<bool>{true, true} : std::vector<bool>{};
  cases.push_back(
      {.op = "mean_squared_error",
       .name = name,
       .inputs = {value_input("prediction", shape), value_input("target", shape)},
       .run = [=](Inputs in) { return mean_squared_error(in[0], in[1], reduction); },
       .reference =
           [=](Inputs in) {
             return shaped(reduce(losses(in, [](double p, double t) { return (p - t) * (p - t); }), reduction, count));
           },
       .rows = rows});
  const Tensor targets = generate(shape, [](std::int64_t i) { return i % 3 == 0 ? 1.0 : i % 3 == 1 ? 0.0 : 0.3; });
  cases.push_back(
      {.op = "binary_cross_entropy",
       .name = name,
       .inputs = {value_input("logits", shape, 3)},
       .run = [=](Inputs in) { return binary_cross_entropy(in[0], targets.detached_to(in[0].dtype()), reduction); },
       .reference =
           [=](Inputs in) {
             const std::vector<Tensor> both = {in[0], targets};
             return shaped(reduce(losses(both,
                                         [](double z, double t) {
                                           const double p = 1 / (1 + std::exp(-z));
                                           return -t * std::log(p) - (1 - t) * std::log(1 - p);
                                         }),
                                  reduction, count));
           }});
}

}  // namespace

void add_loss_cases(std::vector<OpCase>& cases, CaseSize size) {
  if (size == CaseSize::large) {
    add_cross_entropy(cases, 256, 8000, 0.1, false, true, Reduction::mean);
    return;
  }
  for (Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
    add_cross_entropy(cases, 5, 4, 0, false, false, reduction);
    add_cross_entropy(cases, 5, 4, 0.1, false, true, reduction);
    add_cross_entropy(cases, 3, 7, 0, true, true, reduction);
    add_cross_entropy(cases, 4, 3, 0.2, true, false, reduction);
    add_cross_entropy(cases, 1, 5, 0.2, true, true, reduction);  // its only target is ignored
    add_cross_entropy(cases, 0, 3, 0, false, false, reduction);
    add_pairwise(cases, {3, 5}, reduction);
    add_pairwise(cases, {1}, reduction);
  }
  add_cross_entropy(cases, 2, 1, 0, false, false, Reduction::mean);
}

}  // namespace heed::testing
