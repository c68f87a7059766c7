#include "heed/nn/layers.h"

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/normalize.h"

namespace heed {
namespace {

void make_one(const char* layer, const Weight& table, Weight& weight) {
  HEED_CHECK(table.shape() == weight.shape(), "[", layer, "] tied to a table ", table.shape(), ", expected ",
             weight.shape());
  weight = table;
}

}  // namespace

Linear::Linear(std::int64_t in, std::int64_t out, bool with_bias, Initializer weight_initializer)
    : weight(zero_parameter({out, in})), weight_initializer_(weight_initializer) {
  if (with_bias) bias = Tensor::zeros({out});
}

Tensor Linear::forward(const Tensor& x, Activation activation, const Tensor& residual) const {
  return linear(x, weight, bias, activation, residual);
}

void Linear::tie(const Embedding& table) {
  make_one("Linear", table.weight, weight);
}

void Linear::visit(Visitor& visitor) const {
  visitor.weight("weight", weight, weight_initializer_);
  visitor.parameter("bias", bias, Initializer::zeros());
}

Embedding::Embedding(std::int64_t vocabulary, std::int64_t width, Initializer initializer)
    : weight(zero_parameter({vocabulary, width})), initializer_(initializer) {}

Tensor Embedding::forward(const Tensor& ids) const {
  return take_rows(weight, ids);
}

void Embedding::tie(const Embedding& other) {
  make_one("Embedding", other.weight, weight);
}

void Embedding::visit(Visitor& visitor) const {
  visitor.weight("weight", weight, initializer_);
}

Tensor OneHot::forward(const Tensor& ids) const {
  return one_hot(ids, vocabulary_);
}

Norm::Norm(std::int64_t width, const NormConfig& config)
    : weight(Tensor::full({width}, config.plus_one ? 0.0 : 1.0)), config_(config) {
  HEED_CHECK(!config.plus_one || config.kind == NormKind::rms, "[Norm] only an rms norm has factors of 1 + weight");
  if (config.kind == NormKind::layer) bias = Tensor::zeros({width});
}

Tensor Norm::factors() const {
  return config_.plus_one ? add(weight, Tensor::full({1}, 1.0, weight.dtype())) : weight;
}

Tensor Norm::forward(const Tensor& x) const {
  if (config_.kind == NormKind::rms) return rms_norm(x, factors(), config_.epsilon);
  return layer_norm(x, weight, bias, config_.epsilon);
}

Tensor Norm::forward(const Tensor& x, const Tensor& added) const {
  if (config_.kind == NormKind::rms) return add_rms_norm(x, added, factors(), config_.epsilon).normalized;
  return add_layer_norm(x, added, weight, bias, config_.epsilon).normalized;
}

void Norm::visit(Visitor& visitor) const {
  visitor.parameter("weight", weight, config_.plus_one ? Initializer::zeros() : Initializer::ones());
  visitor.parameter("bias", bias, Initializer::zeros());
}

Tensor Dropout::forward(const Tensor& x, const Context& context) const {
  return context.is_training() ? dropout(x, probability_, context.dropout_key()) : x;
}

}  // namespace heed
