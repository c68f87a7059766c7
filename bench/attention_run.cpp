#include "bench/attention_run.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "heed/attention/attend.h"
#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/attention.h"
#include "heed/tensor/autograd.h"

namespace heed::bench {
namespace {

constexpr std::int64_t kHeads = 12, kWidth = 64, kModel = kHeads * kWidth, kLinks = 8;

Tensor random_heads(std::int64_t tokens, std::int64_t heads) {
  Tensor x = Tensor::empty({tokens, heads, kWidth});
  std::mt19937 generator(7);
  std::normal_distribution<float> normal;
  float* values = x.mutable_data<float>();
  std::generate_n(values, x.count(), [&] { return normal(generator); });
  return x;
}

Offsets same_lengths(std::int64_t sequences, std::int64_t length) {
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(sequences), length);
  return Offsets(std::span<const std::int64_t>(lengths));
}

}  // namespace

double AttentionCase::flops() const {
  const auto length = static_cast<double>(n);
  const double scores = causal ? length * (length + 1) / 2 : length * length;
  return (backward ? 6 : 2) * 2.0 * kModel * scores;
}

AttentionRun::AttentionRun(const AttentionCase& attention) : case_(attention), offsets_{0, attention.n} {
  HEED_CHECK(case_.n > 0 && case_.n <= 1 << 20, "[attention bench] n is ", case_.n, ", expected 1 to ", 1 << 20);
  const auto size = static_cast<std::size_t>(case_.n * kModel), rows = static_cast<std::size_t>(case_.n * kHeads);
  std::mt19937 generator(7);
  std::normal_distribution<float> normal;
  for (auto* x : {&q_, &k_, &v_}) {
    x->resize(size);
    for (float& value : *x) value = normal(generator);
  }
  out_.resize(size);
  if (case_.causal) {
    for (std::int64_t i = 0; i < case_.n; ++i) visible_end_.push_back(i + 1);
  }
  if (case_.backward) {
    log_sum_.resize(rows);
    d_out_.assign(size, 1.0F);
    for (auto* x : {&dq_, &dk_, &dv_}) x->resize(size);
  }
  if (case_.summary) {
    entropy_.resize(rows);
    keys_.resize(rows * kLinks);
    weights_.resize(rows * kLinks);
  }
}

void AttentionRun::run() {
  const ThreadLimit limit(case_.threads);
  kernels::AttentionInputs<float> in;
  in.q = q_.data(), in.k = k_.data(), in.v = v_.data();
  in.q_stride = in.k_stride = in.v_stride = kModel;
  in.query_heads = in.key_heads = kHeads;
  in.width = in.value_width = kWidth;
  in.query_offsets = in.key_offsets = offsets_;
  in.scale = 1 / std::sqrt(static_cast<double>(kWidth));
  if (case_.causal) in.visible_end = visible_end_.data();
  kernels::AttentionSummary<float> summary;
  if (case_.summary) summary = {entropy_.data(), nullptr, kLinks, keys_.data(), weights_.data()};
  kernels::attention<float>(in, out_.data(), kModel, case_.backward ? log_sum_.data() : nullptr, summary);
  if (case_.backward) {
    kernels::attention_backward<float>(in, out_.data(), d_out_.data(), kModel, log_sum_.data(),
                                       {dq_.data(), dk_.data(), dv_.data()});
  }
}

double DecodeCase::bytes() const {
  return static_cast<double>(batch * (n + 1) * key_heads * 2 * kWidth) * sizeof(float);
}

DecodeRun::DecodeRun(const DecodeCase& decode)
    : case_(decode),
      cache_(decode.key_heads, kWidth, kWidth),
      step_(same_lengths(decode.batch, 1)),
      q_(random_heads(decode.batch, kHeads)),
      k_(random_heads(decode.batch, decode.key_heads)) {
  HEED_CHECK(case_.n > 0 && case_.batch > 0 && case_.n * case_.batch <= 1 << 20, "[decode bench] ", case_.batch,
             " sequences of ", case_.n, " tokens, expected 1 to ", 1 << 20, " in all");
  const Tensor prompt = random_heads(case_.n * case_.batch, case_.key_heads);
  cache_.append(prompt, prompt, same_lengths(case_.batch, case_.n));
}

void DecodeRun::run() {
  const ThreadLimit limit(case_.threads);
  const NoGrad no_grad;
  cache_.append(k_, k_, step_);
  attend({.q = q_, .queries = step_, .keys = cache_.offsets(), .cache = &cache_, .mask = Mask::causal()});
  for (std::int64_t b = 0; b < case_.batch; ++b) cache_.truncate(b, case_.n);
}

}  // namespace heed::bench
