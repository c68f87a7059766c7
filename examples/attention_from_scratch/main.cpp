// Self-attention step by step on ten tokens of width 3, every step as a table, and at the end the same in one call.
#include <heed/attention/attend.h>
#include <heed/base/error.h>
#include <heed/ops/elementwise.h>
#include <heed/ops/matmul.h>
#include <heed/ops/normalize.h>
#include <heed/ops/shape_ops.h>

#include <cmath>
#include <cstdio>

using heed::Tensor;

constexpr std::int64_t kTokens = 10, kWidth = 3;

void print(const char* title, const Tensor& x) {
  std::printf("\n%s  [%d, %d]\n", title, static_cast<int>(x.size(0)), static_cast<int>(x.size(1)));
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    for (std::int64_t j = 0; j < x.size(1); ++j) std::printf(" %6.3f", x.at({i, j}));
    std::printf("\n");
  }
}

int main() try {
  // Ten tokens, and the four matrices a model would have learned: x W is linear(x, W^T) or matmul(x, W).
  const Tensor x = Tensor::from<float>({1, 0, 2, 0, 2, 1, 1, 1, 0, 2, 0, 1, 0, 1, 1,  //
                                        1, 2, 0, 2, 1, 1, 0, 0, 2, 1, 1, 2, 2, 2, 0},
                                       {kTokens, kWidth});
  const Tensor w_q = Tensor::from<float>({0.5f, -0.2f, 0.1f, 0.3f, 0.8f, -0.4f, -0.6f, 0.2f, 0.7f}, {kWidth, kWidth});
  const Tensor w_k = Tensor::from<float>({0.9f, 0.1f, -0.3f, -0.5f, 0.6f, 0.2f, 0.4f, -0.1f, 0.8f}, {kWidth, kWidth});
  const Tensor w_v = Tensor::from<float>({0.2f, 0.7f, 0.5f, 0.6f, -0.3f, 0.1f, -0.4f, 0.9f, 0.3f}, {kWidth, kWidth});
  const Tensor w_o = Tensor::from<float>({1.0f, 0.2f, -0.5f, 0.3f, 0.8f, 0.4f, -0.2f, 0.1f, 0.9f}, {kWidth, kWidth});
  print("x", x);

  // Each token asks (q), says what it has to offer (k), and what it hands over (v).
  const Tensor q = matmul(x, w_q), k = matmul(x, w_k), v = matmul(x, w_v);
  print("q = x W_Q", q);
  print("k = x W_K", k);
  print("v = x W_V", v);

  // How well every question fits every offer: a row for each query, a column for each key.
  const Tensor scores = matmul(q, transpose(k, 0, 1));
  print("S = q k^T", scores);
  const double scale = 1 / std::sqrt(static_cast<double>(kWidth));  // keeps scores of wide heads small
  const Tensor scaled = heed::scale(scores, scale);
  print("S / sqrt(3)", scaled);

  // A row of weights is a distribution over the keys.
  const Tensor weights = softmax(scaled);
  print("A = softmax(S / sqrt(3))", weights);
  std::printf("rows sum to");
  for (std::int64_t i = 0; i < kTokens; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < kTokens; ++j) sum += weights.at({i, j});
    std::printf(" %.6f", sum);
  }
  std::printf("\n");

  // What each token takes home is the weighted sum of what all hand over.
  const Tensor mixed = matmul(weights, v);
  print("Z = A v", mixed);
  const Tensor projected = matmul(mixed, w_o);
  print("Z W_O", projected);
  print("y = x + Z W_O", add(x, projected));

  // The same in one call, which never holds the 10 x 10 matrix: [tokens, heads, width of a head].
  auto one_head = [](const Tensor& t) { return reshape(t, {kTokens, 1, kWidth}); };
  const Tensor attended =
      heed::attend({.q = one_head(q), .k = one_head(k), .v = one_head(v), .queries = {kTokens}, .keys = {kTokens}});
  double largest = 0;
  for (std::int64_t i = 0; i < kTokens; ++i) {
    for (std::int64_t j = 0; j < kWidth; ++j) {
      largest = std::fmax(largest, std::fabs(attended.at({i, 0, j}) - mixed.at({i, j})));
    }
  }
  std::printf("\nheed::attend gives the same Z: largest difference %.1e\n", largest);
  return largest < 1e-6 ? 0 : 1;
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
