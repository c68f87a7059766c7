#include "bench/attention_run.h"

#include <cmath>
#include <random>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/attention.h"

namespace heed::bench {
namespace {

constexpr std::int64_t kHeads = 12, kWidth = 64, kModel = kHeads * kWidth, kLinks = 8;

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

}  // namespace heed::bench
