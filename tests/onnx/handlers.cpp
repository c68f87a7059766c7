#include "onnx/handlers.h"

#include <cmath>

#include "heed/attention/rotary.h"
#include "heed/base/error.h"
#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/loss.h"
#include "heed/ops/normalize.h"
#include "heed/ops/shape_ops.h"

namespace heed::onnx {
namespace {

std::vector<Tensor> softmax_node(const Node& node) {
  const int axis = node.attribute("axis", -1);
  const Tensor x = transpose(node.inputs.at(0), axis, -1);
  return {transpose(node.op == "Softmax" ? softmax(x) : log_softmax(x), axis, -1)};
}

// x as [rows, everything from `axis` on].
Tensor rows_from(const Tensor& x, int axis) {
  return reshape(x, {x.shape().product(0, x.shape().normalize_axis(axis)), -1});
}

Tensor flat(const Tensor& x) {
  return x.defined() ? reshape(x, {-1}) : x;
}

Tensor shaped_like(const Tensor& x, const Shape& shape) {
  return reshape(x, shape.sizes());
}

// Mean and 1 / standard deviation of each row, by the formula: heed's operator keeps them to itself.
std::vector<Tensor> row_statistics(const Tensor& x, int axis, double epsilon) {
  const Tensor rows = rows_from(x, axis).detached_to(DType::f64).detached_contiguous();
  const std::int64_t width = rows.size(1);
  Shape shape = x.shape();
  for (int a = shape.normalize_axis(axis); a < shape.rank(); ++a) shape = shape.with(a, 1);
  Tensor mean = Tensor::zeros(shape, DType::f64), deviation = Tensor::zeros(shape, DType::f64);
  for (std::int64_t r = 0; r < rows.size(0); ++r) {
    const double* row = rows.data<double>() + r * width;
    double sum = 0, square = 0;
    for (std::int64_t c = 0; c < width; ++c) sum += row[c] / static_cast<double>(width);
    for (std::int64_t c = 0; c < width; ++c) square += (row[c] - sum) * (row[c] - sum) / static_cast<double>(width);
    mean.mutable_data<double>()[r] = sum;
    deviation.mutable_data<double>()[r] = 1 / std::sqrt(square + epsilon);
  }
  return {mean, deviation};
}

std::vector<Tensor> layer_normalization(const Node& node) {
  const Tensor& x = node.inputs.at(0);
  const int axis = node.attribute("axis", -1);
  const double epsilon = node.attribute("epsilon", 1e-5);
  const Tensor y = layer_norm(rows_from(x, axis), flat(node.input(1)), flat(node.input(2)), epsilon);
  std::vector<Tensor> outputs = row_statistics(x, axis, epsilon);
  outputs.insert(outputs.begin(), shaped_like(y, x.shape()));
  return outputs;
}

std::vector<Tensor> rms_normalization(const Node& node) {
  const Tensor& x = node.inputs.at(0);
  const Tensor rows = rows_from(x, node.attribute("axis", -1));
  return {shaped_like(rms_norm(rows, flat(node.input(1)), node.attribute("epsilon", 1e-5)), x.shape())};
}

std::vector<Tensor> gelu_node(const Node& node) {
  const auto approximate = node.attribute<std::string>("approximate", "none");
  HEED_CHECK(approximate == "none" || approximate == "tanh", "[Gelu] approximate ", approximate);
  return {approximate == "tanh" ? gelu_tanh(node.inputs.at(0)) : gelu(node.inputs.at(0))};
}

Reduction reduction_of(const std::string& name) {
  if (name == "none") return Reduction::none;
  HEED_CHECK(name == "sum" || name == "mean", "[SoftmaxCrossEntropyLoss] reduction ", name);
  return name == "sum" ? Reduction::sum : Reduction::mean;
}

// Scores [N, C, d1, ...] and labels [N, d1, ...]: the classes go last and all else is rows.
std::vector<Tensor> softmax_cross_entropy_loss(const Node& node) {
  const Tensor &scores = node.inputs.at(0), &labels = node.inputs.at(1);
  const std::int64_t batch = scores.size(0), classes = scores.size(1);
  const std::int64_t places = scores.shape().product(2, scores.rank());
  const Tensor rows = reshape(transpose(reshape(scores, {batch, classes, places}), 1, 2), {batch * places, classes});
  CrossEntropyOptions options;
  options.reduction = reduction_of(node.attribute<std::string>("reduction", "mean"));
  options.class_weights = node.input(2);
  if (node.attributes.contains("ignore_index")) {
    options.ignore_index = node.attribute<std::int64_t>("ignore_index", 0);
  }
  Tensor loss = cross_entropy(rows, flat(labels), options);
  if (options.reduction == Reduction::none) loss = shaped_like(loss, labels.shape());
  const Tensor log_rows = reshape(log_softmax(rows), {batch, places, classes});
  return {loss, shaped_like(contiguous(transpose(log_rows, 1, 2)), scores.shape())};
}

// a sigmoid(alpha a) b
std::vector<Tensor> swiglu(const Node& node) {
  const Tensor& a = node.inputs.at(0);
  return {multiply(multiply(a, sigmoid(scale(a, node.attribute("alpha", 1.0)))), node.inputs.at(1))};
}

// Input [B, H, S, D], or [B, S, H * D] with num_heads; caches [positions, width/2] with position_ids [B, S], or
// [B, S, width/2] without.
std::vector<Tensor> rotary_embedding(const Node& node) {
  const Tensor &input = node.inputs.at(0), ids = node.input(3);
  const bool four = input.rank() == 4;
  const std::int64_t heads = four ? input.size(1) : node.attribute<std::int64_t>("num_heads", 0);
  const Tensor tokens_first = four ? transpose(input, 1, 2) : input;  // [B, S, ...]
  const std::int64_t batch = tokens_first.size(0), length = tokens_first.size(1), tokens = batch * length;
  const Tensor x = reshape(tokens_first, {tokens, heads, -1});
  const auto rows = [&](const Tensor& cache) {
    return ids.defined() ? take_rows(cache, flat(ids)) : reshape(cache, {tokens, -1});
  };
  const auto width = node.attribute<std::int64_t>("rotary_embedding_dim", 0);
  const RotaryTable table = {rows(node.inputs.at(1)), rows(node.inputs.at(2))};
  HEED_CHECK(2 * table.cosines.size(1) == (width ? width : x.size(2)), "[RotaryEmbedding] rotary_embedding_dim ", width,
             " with caches ", node.inputs.at(1).shape());
  const bool interleaved = node.attribute("interleaved", 0) != 0;
  const Tensor y = rotary(x, table, interleaved ? RotaryLayout::interleaved : RotaryLayout::half);
  if (!four) return {shaped_like(y, input.shape())};
  return {transpose(reshape(y, {batch, length, heads, -1}), 1, 2)};
}

}  // namespace

const std::map<std::string, Handler, std::less<>>& handlers() {
  static const std::map<std::string, Handler, std::less<>> table = {
      {"Attention", attention_node},
      {"Gelu", gelu_node},
      {"LayerNormalization", layer_normalization},
      {"LogSoftmax", softmax_node},
      {"RMSNormalization", rms_normalization},
      {"RotaryEmbedding", rotary_embedding},
      {"Softmax", softmax_node},
      {"SoftmaxCrossEntropyLoss", softmax_cross_entropy_loss},
      {"SwiGLU", swiglu},
  };
  return table;
}

}  // namespace heed::onnx
