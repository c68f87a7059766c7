// A score of one's own: similarity fades with the square of the distance, and only every second key is seen. The
// gradient follows from the function itself.
#include <heed/attention/attend.h>
#include <heed/attention/custom.h>
#include <heed/base/error.h>
#include <heed/ops/reduce.h>
#include <heed/tensor/autograd.h>

#include <cstdio>

struct Fading {
  template <class Number>
  Number operator()(Number score, const heed::ScorePosition& at) const {
    const auto distance = static_cast<double>(at.distance());
    return score - 0.05 * distance * distance;
  }
};

int main() try {
  auto ramp = [](double step) {
    heed::Tensor x = heed::Tensor::empty({6, 1, 4});
    for (int i = 0; i < 24; ++i) x.mutable_data<float>()[i] = static_cast<float>(step * (i % 7 - 3));
    return x.set_requires_grad();
  };
  const heed::Tensor q = ramp(0.3), k = ramp(0.2), v = ramp(1);

  heed::AttentionInput input{.q = q, .k = k, .v = v, .queries = {6}, .keys = {6}};
  input.mask = heed::Mask::causal();
  input.terms.push_back(heed::custom_score(Fading{}));
  input.terms.push_back(heed::custom_mask([](const heed::ScorePosition& at) { return at.distance() % 2 == 0; }));
  const heed::Tensor out = attend(input);
  heed::backward(sum(out));

  const heed::Tensor weights = attention_rows(input, /*sequence=*/0, /*head=*/0, 5, 6);
  for (int j = 0; j < 6; ++j) std::printf("%.3f ", weights.at({0, j}));
  std::printf("\n");
  return weights.at({0, 4}) == 0 && weights.at({0, 5}) > 0 && q.grad().defined() ? 0 : 1;
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
