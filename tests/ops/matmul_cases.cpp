#include <cmath>
#include <sstream>

#include "heed/ops/linear.h"
#include "heed/ops/matmul.h"
#include "heed/ops/shape_ops.h"
#include "ops/op_case.h"

namespace heed::testing {
namespace {

// [rows, in] W^T + b, activated, + residual.
Tensor naive_linear(const Tensor& x, const Tensor& w, const Tensor* b, Activation activation, const Tensor* residual) {
  const std::int64_t in = w.size(1), out = w.size(0);
  return generate(x.shape().with(-1, out), [&](std::int64_t i) {
    double sum = 0;
    for (std::int64_t k = 0; k < in; ++k) sum += f64(x)[i / out * in + k] * f64(w)[i % out * in + k];
    if (b) sum += f64(*b)[i % out];
    return activation_value(activation, sum) + (residual ? f64(*residual)[i] : 0);
  });
}

void add_linear(std::vector<OpCase>& cases, const Shape& x, std::int64_t out, Activation activation, bool bias,
                bool residual) {
  std::ostringstream name;
  name << x << "->" << out << " activation " << static_cast<int>(activation) << (bias ? " bias" : "")
       << (residual ? " residual" : "");
  const std::int64_t in = x[-1];
  std::vector<Input> inputs = {value_input("x", x),
                               value_input("w", {out, in}, 1 / std::sqrt(static_cast<double>(in) + 1))};
  std::vector<bool> rows = {true, false};
  if (bias) inputs.push_back(value_input("b", {out})), rows.push_back(false);
  if (residual) inputs.push_back(value_input("r", x.with(-1, out))), rows.push_back(true);
  cases.push_back(
      {.op = "linear",
       .name = name.str(),
       .inputs = inputs,
       .run =
           [=, weight = CaseWeight()](Inputs t) {
             return linear(t[0], weight.of(t[1]), bias ? t[2] : Tensor(), activation, residual ? t.back() : Tensor());
           },
       .reference =
           [=](Inputs t) {
             return naive_linear(t[0], t[1], bias ? &t[2] : nullptr, activation, residual ? &t.back() : nullptr);
           },
       .rows = x.rank() > 1 ? rows : std::vector<bool>{},
       .flops = 2.0 * static_cast<double>(x.count() * out)});
}

void add_linear_transposed(std::vector<OpCase>& cases, const Shape& x, std::int64_t in) {
  const std::int64_t out = x[-1];
  cases.push_back({.op = "linear_transposed",
                   .name = text(x) + "->" + std::to_string(in),
                   .inputs = {value_input("x", x), value_input("w", {out, in})},
                   .run = [weight = CaseWeight()](Inputs t) { return linear_transposed(t[0], weight.of(t[1])); },
                   .reference =
                       [=](Inputs t) {
                         return generate(x.with(-1, in), [&](std::int64_t i) {
                           double sum = 0;
                           for (std::int64_t k = 0; k < out; ++k) {
                             sum += f64(t[0])[i / in * out + k] * f64(t[1])[k * in + i % in];
                           }
                           return sum;
                         });
                       },
                   .rows = x.rank() > 1 ? std::vector<bool>{true, false} : std::vector<bool>{},
                   .flops = 2.0 * static_cast<double>(x.count() * in)});
}

void add_feed_forward(std::vector<OpCase>& cases, std::int64_t tokens, std::int64_t width, std::int64_t inner,
                      Activation activation, bool residual) {
  auto weight = [](const char* name, std::int64_t out, std::int64_t in) {
    return value_input(name, {out, in}, 1 / std::sqrt(static_cast<double>(in)));
  };
  std::vector<Input> inputs = {value_input("x", {tokens, width}), weight("w1", inner, width),
                               value_input("b1", {inner}), weight("w2", width, inner), value_input("b2", {width})};
  if (residual) inputs.push_back(value_input("r", {tokens, width}));
  std::vector<bool> rows = {true, false, false, false, false};
  if (residual) rows.push_back(true);
  std::ostringstream name;
  name << tokens << 'x' << width << 'x' << inner << " activation " << static_cast<int>(activation)
       << (residual ? " residual" : "");
  cases.push_back({.op = "feed_forward",
                   .name = name.str(),
                   .inputs = inputs,
                   .run =
                       [=, w1 = CaseWeight(), w2 = CaseWeight()](Inputs t) {
                         return feed_forward(t[0], w1.of(t[1]), t[2], activation, w2.of(t[3]), t[4],
                                             residual ? t[5] : Tensor());
                       },
                   .reference =
                       [=](Inputs t) {
                         const Tensor hidden = naive_linear(t[0], t[1], &t[2], activation, nullptr);
                         return naive_linear(hidden, t[3], &t[4], Activation::none, residual ? &t[5] : nullptr);
                       },
                   .rows = rows,
                   .flops = 4.0 * static_cast<double>(tokens * width * inner)});
}

// a [batch, M, K] times b [batch, K, N], batch axes stretched; optionally given as transposed views.
void add_matmul(std::vector<OpCase>& cases, const Shape& a, const Shape& b, bool transposed_a = false,
                bool transposed_b = false) {
  std::ostringstream name;
  name << a << (transposed_a ? "^T" : "") << " x " << b << (transposed_b ? "^T" : "");
  auto run = [=](Inputs t) {
    return matmul(transposed_a ? transpose(t[0], -1, -2) : t[0], transposed_b ? transpose(t[1], -1, -2) : t[1]);
  };
  auto reference = [=](Inputs t) {
    const std::int64_t M = transposed_a ? a[-1] : a[-2], K = transposed_a ? a[-2] : a[-1],
                       N = transposed_b ? b[-2] : b[-1];
    const Shape batch = broadcast_shapes("test", a.with(-1, 1).with(-2, 1), b.with(-1, 1).with(-2, 1));
    const Tensor left = t[0].detached_expand(batch.with(-2, a[-2]).with(-1, a[-1])).detached_contiguous();
    const Tensor right = t[1].detached_expand(batch.with(-2, b[-2]).with(-1, b[-1])).detached_contiguous();
    return generate(batch.with(-2, M).with(-1, N), [&](std::int64_t i) {
      const std::int64_t n = i % N, m = i / N % M, at = i / (M * N);
      double sum = 0;
      for (std::int64_t k = 0; k < K; ++k) {
        sum += f64(left)[at * M * K + (transposed_a ? k * M + m : m * K + k)] *
               f64(right)[at * K * N + (transposed_b ? n * K + k : k * N + n)];
      }
      return sum;
    });
  };
  const bool rows = a.rank() == 2 && b.rank() == 2 && !transposed_a;
  cases.push_back({.op = "matmul",
                   .name = name.str(),
                   .inputs = {value_input("a", a), value_input("b", b)},
                   .run = run,
                   .reference = reference,
                   .rows = rows ? std::vector<bool>{true, false} : std::vector<bool>{},
                   .flops = 2.0 * static_cast<double>(a.count() * (transposed_b ? b[-2] : b[-1]))});
}

}  // namespace

void add_matmul_cases(std::vector<OpCase>& cases, CaseSize size) {
  if (size == CaseSize::large) {
    add_linear(cases, {128, 768}, 768, Activation::none, true, true);
    add_linear(cases, {128, 768}, 3072, Activation::gelu, true, false);
    add_linear_transposed(cases, {128, 768}, 768);
    add_feed_forward(cases, 128, 768, 3072, Activation::gelu, true);
    add_matmul(cases, {12, 128, 64}, {12, 128, 64}, false, true);
    add_matmul(cases, {12, 128, 128}, {12, 128, 64});
    return;
  }
  for (Activation activation : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh,
                                Activation::silu, Activation::tanh, Activation::sigmoid}) {
    add_linear(cases, {3, 5}, 4, activation, true, true);
    add_linear(cases, {7, 3}, 17, activation, false, false);
    add_feed_forward(cases, 3, 4, 7, activation, activation != Activation::relu);
  }
  add_linear(cases, {2, 3, 5}, 4, Activation::gelu, true, true);
  add_linear(cases, {5}, 3, Activation::none, true, false);
  add_linear(cases, {1, 1}, 1, Activation::none, true, false);
  add_linear(cases, {0, 4}, 3, Activation::gelu, true, false);
  add_linear(cases, {3, 0}, 2, Activation::none, true, false);
  add_linear(cases, {9, 20}, 33, Activation::none, false, true);
  for (const Shape& x : {Shape{3, 5}, Shape{2, 3, 5}, Shape{5}, Shape{0, 4}, Shape{3, 0}, Shape{9, 20}}) {
    add_linear_transposed(cases, x, 7);
  }
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      add_matmul(cases, ta ? Shape{5, 4} : Shape{4, 5}, tb ? Shape{3, 5} : Shape{5, 3}, ta, tb);
      add_matmul(cases, ta ? Shape{2, 5, 4} : Shape{2, 4, 5}, tb ? Shape{2, 3, 5} : Shape{2, 5, 3}, ta, tb);
    }
  }
  add_matmul(cases, {2, 3, 4, 5}, {5, 2});     // the matrix stretches over the batch
  add_matmul(cases, {2, 1, 3, 4}, {3, 4, 2});  // both stretch
  add_matmul(cases, {1, 1}, {1, 1});
  add_matmul(cases, {3, 0}, {0, 4});  // a sum of nothing is 0
  add_matmul(cases, {0, 3}, {3, 4});
  add_matmul(cases, {17, 9}, {9, 19});
}

}  // namespace heed::testing
