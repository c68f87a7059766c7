#include "heed/ops/linear.h"

#include "heed/base/error.h"
#include "heed/kernels/activation.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/reduce.h"
#include "heed/ops/checks.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

// x as [tokens, width]; copies only a strided view.
Tensor flat(const Tensor& x) {
  const std::int64_t width = x.size(-1);
  return x.detached_contiguous().detached_reshape({x.shape().product(0, x.rank() - 1), width});
}

// dW [out, in] = dy^T x, summed over the tokens in order.
Tensor weight_gradient(const Tensor& dy, const Tensor& x) {
  const std::int64_t tokens = x.size(0), out = dy.size(1), in = x.size(1);
  Tensor gradient = Tensor::empty({out, in}, x.dtype());
  visit_float("linear", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::gemm<T>(out, in, tokens, dy.data<T>(), out, true, x.data<T>(), in, false, gradient.mutable_data<T>(), in);
  });
  return gradient;
}

Tensor bias_gradient(const Tensor& dy) {
  Tensor gradient = Tensor::empty({dy.size(1)}, dy.dtype());
  visit_float("linear", dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::sum_columns<T>(dy.data<T>(), gradient.mutable_data<T>(), dy.size(0), dy.size(1));
  });
  return gradient;
}

// y W, times factor where that is given: the gradient of x, from that of y = x W^T.
Tensor times(const Tensor& y, const Weight& weight, const Tensor& factor = Tensor()) {
  Tensor product = Tensor::empty({y.size(0), weight.in()}, y.dtype());
  visit_float("linear", y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::Epilogue<T> epilogue;
    if (factor.defined()) {
      epilogue.factor = factor.data<T>();
      epilogue.factor_ld = factor.size(1);
    }
    weight.apply_transposed<T>(y.size(0), y.data<T>(), product.mutable_data<T>(), epilogue);
  });
  return product;
}

// y = activation(x W^T + b) + residual; fills `derivative` (of the activation, for backward) if it is defined.
Tensor forward(const Tensor& x, const Weight& weight, const Tensor& bias, Activation activation, const Tensor& residual,
               Tensor derivative) {
  Tensor y = Tensor::empty({x.size(0), weight.out()}, x.dtype());
  visit_float("linear", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::Epilogue<T> epilogue;
    epilogue.activation = activation;
    if (bias.defined()) epilogue.bias = bias.data<T>();
    if (derivative.defined()) {
      epilogue.derivative = derivative.mutable_data<T>();
      epilogue.derivative_ld = derivative.size(1);
    }
    if (residual.defined()) {
      epilogue.residual = residual.data<T>();
      epilogue.residual_ld = residual.size(1);
    }
    weight.apply<T>(x.size(0), x.data<T>(), y.mutable_data<T>(), epilogue);
  });
  return y;
}

void check_linear(const char* op, const Tensor& x, std::int64_t in, const Weight& weight, const Tensor& bias) {
  weight.check_type(op, x);
  HEED_CHECK(in == weight.in(), "[", op, "] input ", x.shape(), " and weight ", weight.shape(),
             ": expected [..., in] and [out, in]");
  if (!bias.defined()) return;
  check_same_dtype(op, x, bias);
  HEED_CHECK(bias.rank() == 1 && bias.size(0) == weight.out(), "[", op, "] bias ", bias.shape(), " for weight ",
             weight.shape());
}

void check_residual(const char* op, const Tensor& residual, const Shape& expected, DType dtype) {
  if (!residual.defined()) return;
  HEED_CHECK(residual.shape() == expected && residual.dtype() == dtype, "[", op, "] residual ", residual.dtype(),
             residual.shape(), ", expected ", dtype, expected);
}

Tensor optional_contiguous(const Tensor& x) {
  return x.defined() ? x.detached_contiguous() : x;
}

Tensor optional_flat(const Tensor& x) {
  return x.defined() ? flat(x) : x;
}

}  // namespace

Tensor linear(const Tensor& x, const Weight& weight, const Tensor& bias, Activation activation,
              const Tensor& residual) {
  check_defined("linear", x);
  HEED_CHECK(x.rank() >= 1, "[linear] input ", x.shape(), " has no axis to multiply");
  check_linear("linear", x, x.size(-1), weight, bias);
  const Shape shape = x.shape().with(-1, weight.out());
  check_residual("linear", residual, shape, x.dtype());

  const Tensor input = flat(x);
  Tensor derivative;  // kept only where the gradient needs it
  if (activation != Activation::none && records({x, weight.parameter(), bias, residual})) {
    derivative = Tensor::empty({input.size(0), weight.out()}, x.dtype());
  }
  const Tensor y = forward(input, weight, optional_contiguous(bias), activation, optional_flat(residual), derivative);
  return record("linear", y.detached_reshape(shape), {x, weight.parameter(), bias, residual},
                [input, weight = weight.detach(), derivative, x_shape = x.shape()](Backward& g) {
                  Tensor dy = flat(g.grad());
                  g.give(3, g.grad());
                  if (derivative.defined()) {
                    Tensor through = Tensor::empty(dy.shape(), dy.dtype());
                    visit_float("linear", dy.dtype(), [&](auto zero) {
                      using T = decltype(zero);
                      kernels::binary<T>(kernels::Binary::mul, dy.data<T>(), derivative.data<T>(),
                                         through.mutable_data<T>(), dy.count());
                    });
                    dy = through;
                  }
                  if (g.wants(0)) g.give(0, times(dy, weight).detached_reshape(x_shape));
                  if (g.wants(1)) g.give(1, weight_gradient(dy, input));
                  if (g.wants(2)) g.give(2, bias_gradient(dy));
                });
}

Tensor linear_transposed(const Tensor& x, const Weight& weight) {
  weight.check_type("linear_transposed", x);
  HEED_CHECK(x.rank() >= 1 && x.size(-1) == weight.out(), "[linear_transposed] input ", x.shape(), " and weight ",
             weight.shape(), ": expected [..., out] and [out, in]");
  const Tensor input = flat(x);
  const Tensor y = times(input, weight).detached_reshape(x.shape().with(-1, weight.in()));
  return record("linear_transposed", y, {x, weight.parameter()},
                [input, weight = weight.detach(), x_shape = x.shape()](Backward& g) {
                  const Tensor dy = flat(g.grad());
                  if (g.wants(0)) {
                    const Tensor dx = forward(dy, weight, Tensor(), Activation::none, Tensor(), Tensor());
                    g.give(0, dx.detached_reshape(x_shape));
                  }
                  if (g.wants(1)) g.give(1, weight_gradient(input, dy));
                });
}

Tensor feed_forward(const Tensor& x, const Weight& w1, const Tensor& b1, Activation activation, const Weight& w2,
                    const Tensor& b2, const Tensor& residual) {
  check_defined("feed_forward", x);
  HEED_CHECK(x.rank() >= 1, "[feed_forward] input ", x.shape(), " has no axis to multiply");
  check_linear("feed_forward", x, x.size(-1), w1, b1);
  check_linear("feed_forward", x, w1.out(), w2, b2);
  const Shape shape = x.shape().with(-1, w2.out());
  check_residual("feed_forward", residual, shape, x.dtype());

  const Tensor input = flat(x);
  const bool recorded = records({x, w1.parameter(), b1, w2.parameter(), b2, residual});
  Tensor derivative;
  if (recorded) derivative = Tensor::empty({input.size(0), w1.out()}, x.dtype());
  Tensor hidden = forward(input, w1, optional_contiguous(b1), activation, Tensor(), derivative);
  const Tensor y = forward(hidden, w2, optional_contiguous(b2), Activation::none, optional_flat(residual), Tensor());
  return record("feed_forward", y.detached_reshape(shape), {x, w1.parameter(), b1, w2.parameter(), b2, residual},
                [input, w1 = w1.detach(), w2 = w2.detach(), derivative, hidden, x_shape = x.shape()](Backward& g) {
                  const Tensor dy = flat(g.grad());
                  g.give(5, g.grad());
                  if (g.wants(4)) g.give(4, bias_gradient(dy));
                  if (g.wants(3)) g.give(3, weight_gradient(dy, hidden));
                  if (!g.wants(0) && !g.wants(1) && !g.wants(2)) return;
                  const Tensor d_pre = times(dy, w2, derivative);
                  if (g.wants(2)) g.give(2, bias_gradient(d_pre));
                  if (g.wants(1)) g.give(1, weight_gradient(d_pre, input));
                  if (g.wants(0)) g.give(0, times(d_pre, w1).detached_reshape(x_shape));
                });
}

}  // namespace heed
