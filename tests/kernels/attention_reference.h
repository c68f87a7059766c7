// Attention by its definition: the whole matrix, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "heed/kernels/attention.h"

namespace heed::kernels::testing {

// One attention problem with the memory it lives in.
template <class T>
struct AttentionCase {
  std::vector<std::int64_t> queries, keys;  // lengths of the sequences
  std::int64_t query_heads = 1, key_heads = 1, width = 8, value_width = 8;
  std::vector<std::int64_t> query_offsets = {0}, key_offsets = {0};
  std::vector<std::int64_t> visible_begin, visible_end;  // empty: all
  std::vector<T> q, k, v, d_out;
  double scale = 1;

  std::int64_t query_tokens() const { return query_offsets.back(); }
  std::int64_t key_tokens() const { return key_offsets.back(); }
  std::int64_t q_stride() const { return query_heads * width + 3; }
  std::int64_t k_stride() const { return key_heads * width + 1; }
  std::int64_t v_stride() const { return key_heads * value_width + 2; }
  std::int64_t out_stride() const { return query_heads * value_width + 5; }

  AttentionInputs<T> inputs() const {
    AttentionInputs<T> in;
    in.q = q.data(), in.k = k.data(), in.v = v.data();
    in.q_stride = q_stride(), in.k_stride = k_stride(), in.v_stride = v_stride();
    in.query_heads = query_heads, in.key_heads = key_heads;
    in.width = width, in.value_width = value_width;
    in.query_offsets = query_offsets, in.key_offsets = key_offsets;
    in.scale = scale;
    if (!visible_begin.empty()) in.visible_begin = visible_begin.data();
    if (!visible_end.empty()) in.visible_end = visible_end.data();
    return in;
  }
};

// s = rule(raw, sequence, head, query, key), ds_raw = slope(...) * ds.
struct NaiveRule {
  std::function<double(double, std::int64_t, std::int64_t, std::int64_t, std::int64_t)> value, slope;
};

struct NaiveAttention {
  std::vector<double> out, log_sum, entropy, maximum, dq, dk, dv;
  std::vector<std::vector<double>> weights;  // [query token * heads + head]
};

template <class T>
NaiveAttention naive_attention(const AttentionCase<T>& c, const NaiveRule* rule = nullptr) {
  NaiveAttention result;
  const auto at = [](const std::vector<T>& x, std::int64_t i) {
    return static_cast<double>(x[static_cast<std::size_t>(i)]);
  };
  const auto zeros = [](std::int64_t n) { return std::vector<double>(static_cast<std::size_t>(n), 0.0); };
  const std::int64_t N = c.query_tokens(), M = c.key_tokens(), H = c.query_heads, D = c.width, E = c.value_width;
  result.out = zeros(N * c.out_stride());
  result.dq = zeros(N * c.q_stride());
  result.dk = zeros(M * c.k_stride());
  result.dv = zeros(M * c.v_stride());
  result.log_sum = std::vector<double>(static_cast<std::size_t>(N * H), -INFINITY);
  result.entropy = result.maximum = zeros(N * H);
  result.weights.resize(static_cast<std::size_t>(N * H));
  for (std::size_t b = 0; b < c.queries.size(); ++b) {
    const std::int64_t first_key = c.key_offsets[b];
    for (std::int64_t h = 0; h < H; ++h) {
      const std::int64_t kh = h / (H / c.key_heads);
      for (std::int64_t i = 0; i < c.queries[b]; ++i) {
        const std::int64_t t = c.query_offsets[b] + i;
        const auto index = static_cast<std::size_t>(t * H + h);
        const std::int64_t begin = c.visible_begin.empty() ? 0 : c.visible_begin[static_cast<std::size_t>(t)];
        const std::int64_t end =
            c.visible_end.empty() ? c.keys[b] : std::min(c.keys[b], c.visible_end[static_cast<std::size_t>(t)]);
        std::vector<double>& p = result.weights[index];
        p = zeros(c.keys[b]);
        std::vector<double> raw = p, s = p;
        double maximum = -INFINITY, sum = 0;
        for (std::int64_t j = begin; j < end; ++j) {
          const auto x = static_cast<std::size_t>(j);
          for (std::int64_t d = 0; d < D; ++d) {
            raw[x] +=
                c.scale * at(c.q, t * c.q_stride() + h * D + d) * at(c.k, (first_key + j) * c.k_stride() + kh * D + d);
          }
          s[x] = rule ? rule->value(raw[x], static_cast<std::int64_t>(b), h, i, j) : raw[x];
          maximum = std::max(maximum, s[x]);
        }
        if (maximum == -INFINITY) continue;
        for (std::int64_t j = begin; j < end; ++j) sum += std::exp(s[static_cast<std::size_t>(j)] - maximum);
        result.log_sum[index] = maximum + std::log(sum);
        result.maximum[index] = 1 / sum;
        double delta = 0;
        std::vector<double> dp = zeros(c.keys[b]);
        for (std::int64_t j = begin; j < end; ++j) {
          const auto x = static_cast<std::size_t>(j);
          p[x] = std::exp(s[x] - maximum) / sum;
          if (p[x] > 0) result.entropy[index] -= p[x] * std::log(p[x]);
          for (std::int64_t d = 0; d < E; ++d) {
            const double value = at(c.v, (first_key + j) * c.v_stride() + kh * E + d);
            const double g = at(c.d_out, t * c.out_stride() + h * E + d);
            result.out[static_cast<std::size_t>(t * c.out_stride() + h * E + d)] += p[x] * value;
            result.dv[static_cast<std::size_t>((first_key + j) * c.v_stride() + kh * E + d)] += p[x] * g;
            dp[x] += value * g;
          }
          delta += p[x] * dp[x];
        }
        for (std::int64_t j = begin; j < end; ++j) {
          const auto x = static_cast<std::size_t>(j);
          double ds = p[x] * (dp[x] - delta);
          if (rule && p[x] > 0) ds *= rule->slope(raw[x], static_cast<std::int64_t>(b), h, i, j);
          for (std::int64_t d = 0; d < D; ++d) {
            const std::int64_t qi = t * c.q_stride() + h * D + d, ki = (first_key + j) * c.k_stride() + kh * D + d;
            result.dq[static_cast<std::size_t>(qi)] += c.scale * ds * at(c.k, ki);
            result.dk[static_cast<std::size_t>(ki)] += c.scale * ds * at(c.q, qi);
          }
        }
      }
    }
  }
  return result;
}

}  // namespace heed::kernels::testing
