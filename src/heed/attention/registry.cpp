#include "heed/attention/registry.h"

#include <cmath>

#include "heed/attention/custom.h"
#include "heed/attention/positions.h"
#include "heed/attention/relative_terms.h"
#include "heed/attention/rotary.h"
#include "heed/attention/scores.h"
#include "heed/base/random.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/shape_ops.h"

namespace heed {
namespace {

// Made-up values of a trained parameter.
Tensor trained(const char* name, const Shape& shape, DType dtype) {
  Tensor x = Tensor::empty(shape, DType::f64);
  for (std::int64_t i = 0; i < x.count(); ++i) {
    x.mutable_data<double>()[i] = normal(1, stream_id(name), static_cast<std::uint64_t>(i));
  }
  return x.detached_to(dtype);
}

AttentionInput with_term(AttentionInput in, Term term) {
  in.terms.push_back(std::move(term));
  return in;
}
AttentionInput with_mask(AttentionInput in, const Mask& mask) {
  in.mask = in.mask & mask;
  return in;
}

std::int64_t heads(const AttentionInput& in) {
  return in.q.size(1);
}
std::int64_t width(const AttentionInput& in) {
  return in.q.size(2);
}

AttentionInput plain_product(AttentionInput in) {
  in.scale = 1;
  return in;
}

AttentionInput additive(AttentionInput in) {
  in.additive = AdditiveScore{trained("additive", {width(in)}, in.q.dtype())};
  return in;
}

AttentionInput bilinear(AttentionInput in) {
  const Tensor weight = scale(trained("bilinear", {width(in), width(in)}, in.q.dtype()), 0.3);
  return with_bilinear_score(std::move(in), weight);
}

AttentionInput absolute(AttentionInput in) {
  const Tensor codes = sinusoidal_positions(in.queries.longest(), width(in), in.q.dtype());
  const Tensor rows = reshape(take_rows(codes, position_ids(in.queries)), {in.queries.tokens(), 1, width(in)});
  in.q = add(in.q, rows);
  in.k = add(in.k, rows);
  return in;
}

AttentionInput rotated(AttentionInput in) {
  const Tensor positions = position_ids(in.queries);
  in.q = rotary(in.q, positions);
  in.k = rotary(in.k, positions);
  return in;
}

AttentionInput shaw(AttentionInput in) {
  const Term keys = relative_key_term(in.q, trained("shaw keys", {5, width(in)}, in.q.dtype()));
  in.relative_values = trained("shaw values", {5, in.v.size(2)}, in.q.dtype());
  return with_term(std::move(in), keys);
}

AttentionInput transformer_xl(AttentionInput in) {
  const Weight projection(scale(trained("W_r", {heads(in) * width(in), 8}, in.q.dtype()), 0.4));
  const Tensor codes = distance_codes(in.keys.longest(), projection.in(), in.q.dtype());
  const TransformerXlPositions positions{distance_table(codes, projection, heads(in)),
                                         trained("u", {heads(in), width(in)}, in.q.dtype()),
                                         trained("v", {heads(in), width(in)}, in.q.dtype())};
  return with_transformer_xl_positions(std::move(in), positions);
}

AttentionInput segments(AttentionInput in) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t b = 0; b < in.queries.sequences(); ++b) {
    for (std::int64_t i = 0; i < in.queries.length(b); ++i) numbers.push_back(i / 3);
  }
  return with_mask(std::move(in), Mask::segments(numbers));
}

AttentionInput without_every_third(AttentionInput in) {
  std::vector<std::int64_t> seen;
  const std::int64_t keys = in.keys.longest();
  for (std::int64_t j = 0; j < keys; ++j) seen.push_back(j % 3 != 1);
  return with_term(std::move(in), mask_term(Tensor::from(seen, {1, keys})));
}

AttentionInput one_key_head(AttentionInput in) {
  in.k = slice(in.k, 1, 0, 1);
  in.v = slice(in.v, 1, 0, 1);
  return in;
}

struct Fading {
  template <class Number>
  Number operator()(Number score, const ScorePosition& at) const {
    return score * std::exp(-0.2 * static_cast<double>(std::abs(at.distance())));
  }
};

using In = AttentionInput;
constexpr AttentionVariant kVariants[] = {
    {"scaled dot product", "softmax_j(q_i . k_j / sqrt(D))", "attend.h", [](In in) { return in; }},
    {"dot product", "softmax_j(q_i . k_j)", "attend.h", plain_product},
    {"additive", "softmax_j(w . tanh(q_i + k_j))", "attend.h", additive},
    {"bilinear", "softmax_j(q_i^T W k_j)", "scores.h", bilinear},
    {"causal", "keys j <= i", "mask.h", [](In in) { return with_mask(std::move(in), Mask::causal()); }},
    {"window", "keys i - 2 <= j <= i + 1", "mask.h",
     [](In in) { return with_mask(std::move(in), Mask::window(2, 1)); }},
    {"prefix", "keys j <= i, or j < 6", "mask.h", [](In in) { return with_mask(std::move(in), Mask::prefix(6)); }},
    {"segments", "keys of the query's own segment", "mask.h", segments},
    {"mask tensor", "keys where the mask is 1", "terms.h", without_every_third},
    {"soft-cap", "c tanh(score / c)", "terms.h", [](In in) { return with_term(std::move(in), soft_cap_term(0.5)); }},
    {"ALiBi", "score - slope_h |j - i|", "terms.h", [](In in) { return with_term(std::move(in), alibi_term()); }},
    {"T5 buckets", "score + table[bucket(j - i), h]", "relative_terms.h",
     [](In in) {
       const Tensor table = trained("buckets", {8, heads(in)}, in.q.dtype());
       return with_term(std::move(in), bucket_bias_term(table, {.max_distance = 16}));
     }},
    {"sinusoidal", "q and k of x + PE(position)", "positions.h", absolute},
    {"rotary", "q and k turned by their positions", "rotary.h", rotated},
    {"Shaw", "q_i . (k_j + a_{j-i}); sum A_ij (v_j + b_{j-i})", "relative_terms.h", shaw},
    {"Transformer-XL", "(q_i + u) . k_j + (q_i + v) . W_r R_{i-j}", "scores.h", transformer_xl},
    {"multi-query", "all heads read one head of keys and values", "attend.h", one_key_head},
    {"user's own", "any function of score and positions", "custom.h",
     [](In in) { return with_term(std::move(in), custom_score(Fading{})); }},
};

}  // namespace

std::span<const AttentionVariant> attention_variants() {
  return kVariants;
}

}  // namespace heed
