// The ONNX Attention operator (opsets 23 and 24) with heed: batches become packed sequences.
#include <limits>

#include "heed/attention/attend.h"
#include "heed/attention/reference.h"
#include "heed/base/error.h"
#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/shape_ops.h"
#include "onnx/handlers.h"

namespace heed::onnx {
namespace {

// [batch, length, heads * width] or [batch, heads, length, width] as [batch, heads, length, width].
Tensor four_axes(const Tensor& x, std::int64_t heads) {
  if (x.rank() == 4) return x;
  HEED_CHECK(x.rank() == 3 && heads > 0 && x.size(2) % heads == 0, "[Attention] input ", x.shape(), " with ", heads,
             " heads");
  return transpose(reshape(x, {x.size(0), x.size(1), heads, -1}), 1, 2);
}

// [batch, heads, length, width] to packed tokens [batch * length, heads, width], and back.
Tensor packed_tokens(const Tensor& x) {
  return reshape(transpose(x, 1, 2), {x.size(0) * x.size(2), x.size(1), x.size(3)});
}
Tensor from_packed(const Tensor& tokens, std::int64_t batch) {
  return transpose(reshape(tokens, {batch, -1, tokens.size(1), tokens.size(2)}), 1, 2);
}

// Everything a node says, in heed's terms.
struct Call {
  AttentionInput input;
  std::int64_t batch = 0;
  Tensor present_key, present_value;  // [batch, key heads, keys, width]
  Tensor bias;                        // additive mask, four axes, undefined: none
  double softcap = 0;
};

// The mask as something to add: 0 where a boolean allows, -inf where not. A mask that is shorter than the keys hides
// the rest of them.
Tensor additive_mask(const Tensor& mask, std::int64_t keys) {
  Tensor bias = mask;
  if (mask.dtype() == DType::i32) {
    bias = Tensor::empty(mask.shape());
    for (std::int64_t i = 0; i < mask.count(); ++i) {
      const bool allowed = mask.detached_contiguous().data<std::int32_t>()[i] != 0;
      bias.mutable_data<float>()[i] = allowed ? 0 : -std::numeric_limits<float>::infinity();
    }
  }
  if (bias.size(-1) >= keys || bias.size(-1) == 1) return bias;
  const Shape rest = bias.shape().with(-1, keys - bias.size(-1));
  return concat(std::vector<Tensor>{bias, Tensor::full(rest, -std::numeric_limits<double>::infinity(), bias.dtype())},
                bias.rank() - 1);
}

Call read_call(const Node& node) {
  Call call;
  const Tensor q = four_axes(node.inputs.at(0), node.attribute<std::int64_t>("q_num_heads", 0));
  Tensor k = four_axes(node.inputs.at(1), node.attribute<std::int64_t>("kv_num_heads", 0));
  Tensor v = four_axes(node.inputs.at(2), node.attribute<std::int64_t>("kv_num_heads", 0));
  const Tensor past_key = node.input(4), past_value = node.input(5), lengths = node.input(6);
  if (past_key.defined()) {
    k = concat(std::vector<Tensor>{past_key, k}, 2);
    v = concat(std::vector<Tensor>{past_value, v}, 2);
  }
  call.present_key = k, call.present_value = v;
  call.batch = q.size(0);
  const std::int64_t queries = q.size(2), keys = k.size(2);
  AttentionInput& in = call.input;
  in.q = packed_tokens(q), in.k = packed_tokens(k), in.v = packed_tokens(v);
  in.queries = Offsets(std::vector<std::int64_t>(static_cast<std::size_t>(call.batch), queries));
  in.keys = Offsets(std::vector<std::int64_t>(static_cast<std::size_t>(call.batch), keys));
  if (node.attributes.contains("scale")) in.scale = node.attribute<double>("scale", 1);
  // The first query comes after the past, or, with lengths, so that the last one is the last real key.
  std::vector<std::int64_t> starts(static_cast<std::size_t>(call.batch), past_key.defined() ? past_key.size(2) : 0);
  if (lengths.defined()) {
    const auto real = lengths.to_vector<std::int64_t>();
    in.mask = Mask::lengths(real);
    for (std::size_t b = 0; b < real.size(); ++b) starts[b] = real[b] - queries;
  }
  in.query_start = starts;
  if (node.attribute("is_causal", 0) != 0) in.mask = in.mask & Mask::causal();
  call.softcap = node.attribute<double>("softcap", 0);
  if (call.softcap > 0) in.terms.push_back(soft_cap_term(call.softcap));
  if (node.input(3).defined()) {
    call.bias = additive_mask(node.input(3), keys);
    in.terms.push_back(bias_term(call.bias));
  }
  return call;
}

// The scores on their way to the softmax: 0 scaled, 1 soft-capped, 2 with mask, 3 the weights. [batch, heads, q, k]
Tensor matmul_output(const Call& call, std::int64_t mode) {
  AttentionInput in = call.input;
  if (mode == 3) {
    std::vector<Tensor> weights;
    attend_reference(in, &weights);
    for (Tensor& w : weights) w = w.detached_contiguous().detached_reshape({1, w.size(0), w.size(1), w.size(2)});
    return concat(weights, 0);
  }
  const Tensor q = from_packed(in.q, call.batch), k = call.present_key;
  const std::int64_t group = q.size(1) / k.size(1);
  const Tensor grouped = reshape(q, {call.batch, k.size(1), group * q.size(2), q.size(3)});
  const double factor = in.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(3))));
  Tensor scores = reshape(scale(matmul(grouped, transpose(k, 2, 3)), factor), {call.batch, q.size(1), q.size(2), -1});
  if (mode >= 1 && call.softcap > 0) scores = scale(tanh(scale(scores, 1 / call.softcap)), call.softcap);
  if (mode >= 2 && call.bias.defined()) scores = add(scores, call.bias);
  if (mode < 2 || in.mask.allows_all()) return scores;
  const AttentionLayout layout{in.queries, in.keys, {in.query_start.begin(), in.query_start.end()}};
  std::vector<std::int64_t> begin(static_cast<std::size_t>(in.q.size(0))), end(begin);
  in.mask.intervals(layout, begin, end);
  Tensor hidden = Tensor::zeros({call.batch, 1, q.size(2), k.size(2)});
  for (std::int64_t i = 0; i < hidden.count(); ++i) {
    const auto token = static_cast<std::size_t>(i / k.size(2));
    const bool seen = i % k.size(2) >= begin[token] && i % k.size(2) < end[token];
    if (!seen) hidden.mutable_data<float>()[i] = -std::numeric_limits<float>::infinity();
  }
  return add(scores, hidden);
}

}  // namespace

std::vector<Tensor> attention_node(const Node& node) {
  const Call call = read_call(node);
  Tensor y = from_packed(attend(call.input), call.batch);
  if (node.inputs.at(0).rank() == 3) y = reshape(transpose(y, 1, 2), {call.batch, y.size(2), -1});
  std::vector<Tensor> outputs = {y, call.present_key, call.present_value, Tensor()};
  if (node.wants(3)) outputs[3] = matmul_output(call, node.attribute<std::int64_t>("qk_matmul_output_mode", 0));
  return outputs;
}

}  // namespace heed::onnx
