#include "heed/nn/recurrent.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/dropout.h"
#include "heed/ops/linear.h"
#include "heed/ops/recurrent.h"
#include "heed/ops/shape_ops.h"

namespace heed {

RecurrentStack::RecurrentStack(std::int64_t in, std::int64_t width, std::int64_t gates, const RecurrentOptions& options)
    : width_(width), options_(options) {
  HEED_CHECK(in >= 1 && width >= 1 && options.layers >= 1, "[RecurrentStack] in ", in, ", width ", width, ", layers ",
             options.layers, ": expected at least 1 of each");
  const std::int64_t per_layer = options.bidirectional ? 2 : 1;
  for (std::int64_t i = 0; i < options.layers * per_layer; ++i) {
    const std::int64_t layer_in = i < per_layer ? in : per_layer * width;
    directions_.push_back({Weight(zero_parameter({gates * width, layer_in})),
                           Weight(zero_parameter({gates * width, width})), Tensor::zeros({gates * width}),
                           Tensor::zeros({gates * width})});
  }
}

Packed RecurrentStack::forward(const Packed& x, const Context& context) const {
  const std::size_t per_layer = options_.bidirectional ? 2 : 1;
  Tensor values = x.values;
  for (std::size_t first = 0; first < directions_.size(); first += per_layer) {
    if (first > 0 && context.is_training() && options_.dropout > 0) {
      values = dropout(values, options_.dropout, context.child("dropout", first / per_layer - 1).dropout_key());
    }
    std::vector<Tensor> outputs;
    for (std::size_t i = first; i < first + per_layer; ++i) {
      const Direction& d = directions_[i];
      outputs.push_back(
          run(Packed(linear(values, d.weight_ih, d.bias_ih), x.offsets), d.weight_hh, d.bias_hh, i > first));
    }
    values = per_layer == 1 ? outputs[0] : concat(outputs, 1);
    context.at_layer(static_cast<std::int64_t>(first / per_layer)).tap(Tap::Kind::hidden, values);
  }
  return {values, x.offsets};
}

void RecurrentStack::visit(Visitor& visitor) const {
  const Initializer uniform = Initializer::uniform(1 / std::sqrt(static_cast<double>(width_)));
  const std::size_t per_layer = options_.bidirectional ? 2 : 1;
  for (std::size_t i = 0; i < directions_.size(); ++i) {
    std::string suffix = "_l";
    suffix += std::to_string(i / per_layer);
    if (i % per_layer == 1) suffix += "_reverse";
    visitor.weight("weight_ih" + suffix, directions_[i].weight_ih, uniform);
    visitor.weight("weight_hh" + suffix, directions_[i].weight_hh, uniform);
    visitor.parameter("bias_ih" + suffix, directions_[i].bias_ih, uniform);
    visitor.parameter("bias_hh" + suffix, directions_[i].bias_hh, uniform);
  }
}

Tensor Rnn::run(const Packed& gates, const Weight& weight_hh, const Tensor& bias_hh, bool reverse) const {
  return rnn_sequence(gates, weight_hh, bias_hh, Tensor(), reverse);
}

Tensor Gru::run(const Packed& gates, const Weight& weight_hh, const Tensor& bias_hh, bool reverse) const {
  return gru_sequence(gates, weight_hh, bias_hh, Tensor(), reverse);
}

}  // namespace heed
