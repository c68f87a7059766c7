// Gradients of modules against finite differences.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "heed/base/random.h"
#include "heed/nn/module.h"
#include "heed/tensor/autograd.h"

namespace heed::testing {

// Standard normal values, a function of the name.
inline Tensor noise(const char* name, const Shape& shape, DType dtype = DType::f32) {
  Tensor x = Tensor::empty(shape, dtype);
  Initializer::normal(1).fill(x, 1, stream_id(name));
  return x;
}

// Central differences of loss() against the gradients it recorded, for some elements of every parameter.
inline void expect_gradients(Module& module, const std::function<Tensor()>& loss) {
  backward(loss());
  constexpr double kStep = 1e-6;
  for (const NamedParameter& named : named_parameters(module)) {
    Tensor* parameter = named.parameter;
    ASSERT_TRUE(parameter->grad().defined()) << named.name;
    const Tensor gradient = parameter->grad().detached_contiguous();
    const std::int64_t stride = std::max<std::int64_t>(1, parameter->count() / 5);
    for (std::int64_t i = 0; i < parameter->count(); i += stride) {
      auto at = [&](double shift) {
        NoGrad no_grad;
        const double kept = parameter->data<double>()[i];
        parameter->mutable_data<double>()[i] = kept + shift;
        const double value = loss().item();
        parameter->mutable_data<double>()[i] = kept;
        return value;
      };
      const double numeric = (at(kStep) - at(-kStep)) / (2 * kStep);
      ASSERT_NEAR(gradient.data<double>()[i], numeric, 1e-5 + 1e-3 * std::abs(numeric))
          << named.name << " element " << i;
    }
  }
}

}  // namespace heed::testing
