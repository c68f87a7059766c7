#include <cmath>
#include <limits>

#include "heed/ops/normalize.h"
#include "ops/op_case.h"

namespace heed::testing {
namespace {

double row_log_sum_exp(const double* row, std::int64_t width) {
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t c = 0; c < width; ++c) top = std::max(top, row[c]);
  for (std::int64_t c = 0; c < width; ++c) sum += std::exp(row[c] - top);
  return top + std::log(sum);
}

Tensor naive_softmax(const Tensor& x, bool log) {
  const std::int64_t width = x.size(-1);
  return generate(x.shape(), [&](std::int64_t i) {
    const double value = f64(x)[i] - row_log_sum_exp(f64(x) + i / width * width, width);
    return log ? value : std::exp(value);
  });
}

// Layer norm, or RMS norm (no mean); gamma and beta may be null.
Tensor naive_norm(const Tensor& x, const Tensor* gamma, const Tensor* beta, double epsilon, bool centered) {
  const std::int64_t width = x.size(-1);
  return generate(x.shape(), [&](std::int64_t i) {
    const double* row = f64(x) + i / width * width;
    double mean = 0, square = 0;
    if (centered) {
      for (std::int64_t c = 0; c < width; ++c) mean += row[c] / static_cast<double>(width);
    }
    for (std::int64_t c = 0; c < width; ++c) square += (row[c] - mean) * (row[c] - mean) / static_cast<double>(width);
    const double value = (f64(x)[i] - mean) / std::sqrt(square + epsilon);
    return value * (gamma ? f64(*gamma)[i % width] : 1) + (beta ? f64(*beta)[i % width] : 0);
  });
}

void add_softmax(std::vector<OpCase>& cases, const Shape& shape, double scale) {
  for (bool log : {false, true}) {
    cases.push_back({.op = log ? "log_softmax" : "softmax",
                     .name = text(shape) + " scale " + std::to_string(static_cast<int>(scale)),
                     .inputs = {value_input("softmax", shape, scale)},
                     .run = [log](Inputs in) { return log ? log_softmax(in[0]) : softmax(in[0]); },
                     .reference = [log](Inputs in) { return naive_softmax(in[0], log); },
                     .rows = shape.rank() > 1 ? std::vector<bool>{true} : std::vector<bool>{}});
  }
}

void add_norms(std::vector<OpCase>& cases, const Shape& shape) {
  const std::int64_t width = shape[-1];
  const Input x = value_input("x", shape), residual = value_input("r", shape), gamma = value_input("gamma", {width}),
              beta = value_input("beta", {width});
  const double epsilon = 1e-3;
  cases.push_back({.op = "layer_norm",
                   .name = text(shape),
                   .inputs = {x, gamma, beta},
                   .run = [=](Inputs in) { return layer_norm(in[0], in[1], in[2], epsilon); },
                   .reference = [=](Inputs in) { return naive_norm(in[0], &in[1], &in[2], epsilon, true); },
                   .rows = {true, false, false}});
  cases.push_back({.op = "layer_norm",
                   .name = text(shape) + " plain",
                   .inputs = {x},
                   .run = [=](Inputs in) { return layer_norm(in[0], {}, {}, epsilon); },
                   .reference = [=](Inputs in) { return naive_norm(in[0], nullptr, nullptr, epsilon, true); },
                   .rows = {true}});
  cases.push_back({.op = "rms_norm",
                   .name = text(shape),
                   .inputs = {x, gamma},
                   .run = [=](Inputs in) { return rms_norm(in[0], in[1], epsilon); },
                   .reference = [=](Inputs in) { return naive_norm(in[0], &in[1], nullptr, epsilon, false); },
                   .rows = {true, false}});
  auto sum = [](Inputs in) {
    return generate(in[0].shape(), [&](std::int64_t i) { return f64(in[0])[i] + f64(in[1])[i]; });
  };
  cases.push_back({.op = "add_layer_norm",
                   .name = text(shape),
                   .inputs = {x, residual, gamma, beta},
                   .run = [=](Inputs in) { return add_layer_norm(in[0], in[1], in[2], in[3], epsilon).normalized; },
                   .reference = [=](Inputs in) { return naive_norm(sum(in), &in[2], &in[3], epsilon, true); },
                   .rows = {true, true, false, false}});
  cases.push_back({.op = "add_rms_norm",
                   .name = text(shape),
                   .inputs = {x, residual, gamma},
                   .run = [=](Inputs in) { return add_rms_norm(in[0], in[1], in[2], epsilon).normalized; },
                   .reference = [=](Inputs in) { return naive_norm(sum(in), &in[2], nullptr, epsilon, false); },
                   .rows = {true, true, false}});
}

}  // namespace

void add_normalize_cases(std::vector<OpCase>& cases, CaseSize size) {
  if (size == CaseSize::large) {
    add_softmax(cases, {512, 512}, 1);
    add_norms(cases, {512, 768});
    return;
  }
  add_softmax(cases, {3, 5}, 1);
  add_softmax(cases, {2, 2, 19}, 10);
  add_softmax(cases, {4, 1}, 1);
  add_softmax(cases, {7}, 1);
  add_softmax(cases, {0, 4}, 1);
  add_softmax(cases, {3, 0}, 1);
  add_norms(cases, {3, 5});
  add_norms(cases, {2, 2, 33});
  add_norms(cases, {1, 2});
  add_norms(cases, {0, 4});
}

}  // namespace heed::testing
