#include "heed/attention/scores.h"

#include <cmath>

#include "heed/attention/relative_terms.h"
#include "heed/base/error.h"
#include "heed/ops/checks.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
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
  Tensor codes = Tensor::empty({2 * reach + 1, width}, DType::f64);
  double* out = codes.mutable_data<double>();
  for (std::int64_t r = 0; r <= 2 * reach; ++r) {
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle =
          static_cast<double>(reach - r) * std::pow(10000.0, -2 * static_cast<double>(i) / static_cast<double>(width));
      out[r * width + i] = std::sin(angle);
      out[r * width + half + i] = std::cos(angle);
    }
  }
  return codes.to(dtype);
}

AttentionInput with_transformer_xl_positions(AttentionInput input, const TransformerXlPositions& positions) {
  positions.projection.check_type("transformer_xl", input.q);
  check_same_dtype("transformer_xl", input.q, positions.content_bias);
  check_same_dtype("transformer_xl", input.q, positions.position_bias);
  HEED_CHECK(input.q.rank() == 3, "[transformer_xl] q ", input.q.shape(), ", expected [Nq, heads, D]");
  const std::int64_t heads = input.q.size(1), width = input.q.size(2);
  HEED_CHECK(positions.projection.out() == heads * width && positions.content_bias.shape() == Shape({heads, width}) &&
                 positions.position_bias.shape() == Shape({heads, width}),
             "[transformer_xl] projection ", positions.projection.shape(), ", biases ", positions.content_bias.shape(),
             " and ", positions.position_bias.shape(), " for q ", input.q.shape(),
             ": expected [heads D, C], [heads, D], [heads, D]");
  const std::int64_t reach = std::max(input.keys.longest(), input.queries.longest());
  const Tensor codes = distance_codes(reach, positions.projection.in(), input.q.dtype());
  const Tensor table = reshape(linear(codes, positions.projection), {2 * reach + 1, heads, width});
  input.terms.push_back(relative_key_term(add(input.q, positions.position_bias), table));
  input.q = add(input.q, positions.content_bias);
  return input;
}

Packed joined(const Packed& before, const Packed& after) {
  const std::int64_t sequences = after.offsets.sequences();
  HEED_CHECK(before.offsets.sequences() == sequences, "[joined] ", before.offsets.sequences(), " and ", sequences,
             " sequences");
  std::vector<std::int64_t> rows, lengths;
  for (std::int64_t b = 0; b < sequences; ++b) {
    for (std::int64_t i = before.offsets.begin(b); i < before.offsets.end(b); ++i) rows.push_back(i);
    for (std::int64_t i = after.offsets.begin(b); i < after.offsets.end(b); ++i) {
      rows.push_back(before.offsets.tokens() + i);
    }
    lengths.push_back(before.offsets.length(b) + after.offsets.length(b));
  }
  const std::vector<Tensor> both = {before.values, after.values};
  const auto count = static_cast<std::int64_t>(rows.size());
  return Packed(embedding(concat(both, 0), Tensor::from(rows, {count})),
                Offsets(std::span<const std::int64_t>(lengths)));
}

}  // namespace heed
