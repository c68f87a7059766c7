#include "heed/nn/layers.h"

#include "heed/base/error.h"
#include "heed/ops/gather.h"
#include "heed/ops/normalize.h"

namespace heed {
namespace {

void make_one(const char* layer, const Tensor& table, Tensor& parameter) {
  HEED_CHECK(table.shape() == parameter.shape(), "[", layer, "] tied to a table ", table.shape(), ", expected ",
             parameter.shape());
  parameter = table;
}

}  // namespace

Linear::Linear(std::int64_t in, std::int64_t out, bool with_bias, Initializer weight_initializer)
    : weight(Tensor::zeros({out, in})), weight_initializer_(weight_initializer) {
  if (with_bias) bias = Tensor::zeros({out});
}

Tensor Linear::forward(const Tensor& x, Activation activation, const Tensor& residual) const {
  return linear(x, weight, bias, activation, residual);
}

void Linear::tie(const Embedding& table) {
  make_one("Linear", table.weight, weight.parameter());
}

void Linear::visit(Visitor& visitor) {
  visitor.parameter("weight", weight.parameter(), weight_initializer_);
  visitor.parameter("bias", bias, Initializer::zeros());
}

Embedding::Embedding(std::int64_t vocabulary, std::int64_t width, Initializer initializer)
    : weight(Tensor::zeros({vocabulary, width})), initializer_(initializer) {}

Tensor Embedding::forward(const Tensor& ids) const {
  return embedding(weight, ids);
}

void Embedding::tie(const Embedding& other) {
  make_one("Embedding", other.weight, weight);
}

void Embedding::visit(Visitor& visitor) {
  visitor.parameter("weight", weight, initializer_);
}

Tensor OneHot::forward(const Tensor& ids) const {
  return one_hot(ids, vocabulary_);
}

Norm::Norm(std::int64_t width, NormKind kind, double norm_epsilon)
    : weight(Tensor::full({width}, 1.0)), epsilon(norm_epsilon), kind_(kind) {
  if (kind == NormKind::layer) bias = Tensor::zeros({width});
}

Tensor Norm::forward(const Tensor& x) const {
  return kind_ == NormKind::layer ? layer_norm(x, weight, bias, epsilon) : rms_norm(x, weight, epsilon);
}

void Norm::visit(Visitor& visitor) {
  visitor.parameter("weight", weight, Initializer::ones());
  visitor.parameter("bias", bias, Initializer::zeros());
}

Tensor Dropout::forward(const Tensor& x, const Context& context) const {
  return context.is_training() ? dropout(x, probability_, context.dropout_key()) : x;
}

FeedForward::FeedForward(std::int64_t width, std::int64_t inner, Activation activation)
    : up(width, inner), down(inner, width), activation_(activation) {}

Tensor FeedForward::forward(const Tensor& x, const Tensor& residual) const {
  return feed_forward(x, up.weight, up.bias, activation_, down.weight, down.bias, residual);
}

void FeedForward::visit(Visitor& visitor) {
  visitor.child("up", up);
  visitor.child("down", down);
}

}  // namespace heed
