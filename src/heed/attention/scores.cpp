#include "heed/attention/scores.h"

#include <cmath>

#include "heed/attention/relative_terms.h"
#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/ops/checks.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/linear.h"
#include "heed/ops/matmul.h"
#include "heed/ops/shape_ops.h"

namespace heed {

AttentionInput with_bilinear_score(AttentionInput input, const Tensor& weight) {
  check_same_dtype("bilinear", input.q, weight);
  const bool shared = weight.rank() == 2;
  HEED_CHECK(input.q.rank() == 3 && (shared || (weight.rank() == 3 && weight.size(0) == input.q.size(1))) &&
                 weight.size(-2) == input.q.size(2),
             "[bilinear] weight ", weight.shape(), " for q ", input.q.shape(),
             ": expected [D, K] or [heads, D, K] and [Nq, heads, D]");
  const Tensor by_head = transpose(input.q, 0, 1);  // [H, Nq, D]
  input.q = transpose(matmul(by_head, weight), 0, 1);
  input.scale = 1;
  return input;
}

Tensor distance_codes(std::int64_t reach, std::int64_t width, DType dtype) {
  HEED_CHECK(reach >= 0 && width > 0 && width % 2 == 0, "[distance_codes] reach ", reach, " and width ", width,
             ": expected at least 0, and an even width");
  const std::int64_t half = width / 2;
  PoolVector<double> frequencies;
  for (std::int64_t i = 0; i < half; ++i) {
    frequencies.push_back(std::pow(10000.0, -2 * static_cast<double>(i) / static_cast<double>(width)));
  }
  Tensor codes = Tensor::empty({2 * reach + 1, width}, DType::f64);
  double* out = codes.mutable_data<double>();
  constexpr std::int64_t kLeastRows = 16;
  parallel_for(reach + 1, kLeastRows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t d = begin; d < end; ++d) {
      double *before = out + (reach - d) * width, *after = out + (reach + d) * width;
      for (std::int64_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(d) * frequencies[static_cast<std::size_t>(i)];
        const double sine = std::sin(angle), cosine = std::cos(angle);
        after[i] = -sine;
        before[i] = sine;  // the same row for d = 0
        before[half + i] = after[half + i] = cosine;
      }
    }
  });
  return codes.detached_to(dtype);
}

Tensor distance_table(const Tensor& codes, const Weight& projection, std::int64_t heads) {
  projection.check_type("distance_table", codes);
  HEED_CHECK(codes.rank() == 2 && codes.size(1) == projection.in() && heads > 0 && projection.out() % heads == 0,
             "[distance_table] codes ", codes.shape(), " and projection ", projection.shape(), " for ", heads,
             " heads: expected [rows, C] and [heads D, C]");
  return reshape(linear(codes, projection), {codes.size(0), heads, projection.out() / heads});
}

AttentionInput with_transformer_xl_positions(AttentionInput input, const TransformerXlPositions& positions) {
  check_same_dtype("transformer_xl", input.q, positions.content_bias);
  check_same_dtype("transformer_xl", input.q, positions.position_bias);
  HEED_CHECK(input.q.rank() == 3, "[transformer_xl] q ", input.q.shape(), ", expected [Nq, heads, D]");
  const Shape bias{input.q.size(1), input.q.size(2)};
  HEED_CHECK(positions.content_bias.shape() == bias && positions.position_bias.shape() == bias,
             "[transformer_xl] biases ", positions.content_bias.shape(), " and ", positions.position_bias.shape(),
             " for q ", input.q.shape(), ": expected [heads, D]");
  input.terms.push_back(relative_key_term(add(input.q, positions.position_bias), positions.table));
  input.q = add(input.q, positions.content_bias);
  return input;
}

}  // namespace heed
