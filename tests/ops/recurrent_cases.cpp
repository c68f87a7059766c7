#include "heed/ops/recurrent.h"

#include <cmath>

#include "ops/op_case.h"

namespace heed::testing {
namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// One sequence after the other, one token after the other. in: input [N, gates C], weight, bias, initial.
Tensor naive(bool gru, const Offsets& offsets, bool reverse, Inputs in) {
  const std::int64_t C = in[1].size(1), G = in[1].size(0);
  Tensor y = Tensor::zeros({offsets.tokens(), C}, DType::f64);
  for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
    std::vector<double> h(f64(in[3]) + b * C, f64(in[3]) + (b + 1) * C);
    for (std::int64_t t = 0; t < offsets.length(b); ++t) {
      const std::int64_t token = reverse ? offsets.end(b) - 1 - t : offsets.begin(b) + t;
      const double* x = f64(in[0]) + token * G;
      auto hidden_part = [&](std::int64_t gate) {
        double sum = f64(in[2])[gate];
        for (std::int64_t c = 0; c < C; ++c) sum += f64(in[1])[gate * C + c] * h[static_cast<std::size_t>(c)];
        return sum;
      };
      double* out = y.mutable_data<double>() + token * C;
      for (std::int64_t c = 0; c < C; ++c) {
        if (!gru) {
          out[c] = std::tanh(x[c] + hidden_part(c));
          continue;
        }
        const double r = sigmoid(x[c] + hidden_part(c)), z = sigmoid(x[C + c] + hidden_part(C + c));
        const double n = std::tanh(x[2 * C + c] + r * hidden_part(2 * C + c));
        out[c] = (1 - z) * n + z * h[static_cast<std::size_t>(c)];
      }
      h.assign(out, out + C);
    }
  }
  return y;
}

void add_sequences(std::vector<OpCase>& cases, const std::vector<std::int64_t>& lengths, std::int64_t C) {
  const Offsets offsets{std::span<const std::int64_t>(lengths)};
  for (bool gru : {false, true}) {
    for (bool reverse : {false, true}) {
      const std::int64_t G = gru ? 3 * C : C;
      cases.push_back({.op = gru ? "gru_sequence" : "rnn_sequence",
                       .name = std::to_string(lengths.size()) + " sequences, " + std::to_string(offsets.tokens()) +
                               " tokens, C " + std::to_string(C) + (reverse ? " reverse" : ""),
                       .inputs = {value_input("x", {offsets.tokens(), G}),
                                  value_input("weight", {G, C}, 1 / std::sqrt(static_cast<double>(C))),
                                  value_input("bias", {G}, 0.5), value_input("initial", {offsets.sequences(), C})},
                       .run =
                           [=, weight = CaseWeight()](Inputs in) {
                             const Packed packed(in[0], offsets);
                             return gru ? gru_sequence(packed, weight.of(in[1]), in[2], in[3], reverse)
                                        : rnn_sequence(packed, weight.of(in[1]), in[2], in[3], reverse);
                           },
                       .reference = [=](Inputs in) { return naive(gru, offsets, reverse, in); },
                       .flops = 2 * static_cast<double>(offsets.tokens() * G * C)});
    }
  }
}

}  // namespace

void add_recurrent_cases(std::vector<OpCase>& cases, CaseSize size) {
  if (size == CaseSize::large) {
    add_sequences(cases, {20, 32, 1, 32, 17, 7, 25, 32}, 256);
    return;
  }
  add_sequences(cases, {3, 1, 0, 4, 3}, 3);
  add_sequences(cases, {5}, 1);
  add_sequences(cases, {1, 2}, 17);
  add_sequences(cases, {0}, 2);
}

}  // namespace heed::testing
