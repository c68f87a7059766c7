#include "heed/ops/normalize.h"

#include "heed/base/error.h"
#include "heed/kernels/norm.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/checks.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

kernels::RowShape rows_of(const char* op, const Tensor& x) {
  check_defined(op, x);
  HEED_CHECK(x.rank() >= 1, "[", op, "] a scalar has no last axis");
  return {x.shape().product(0, x.rank() - 1), x.size(-1)};
}

void check_scale(const char* op, const Tensor& x, const Tensor& scale) {
  if (!scale.defined()) return;
  check_same_dtype(op, x, scale);
  HEED_CHECK(scale.shape() == Shape({x.size(-1)}), "[", op, "] input ", x.shape(), " with gamma or beta ",
             scale.shape(), ", expected [", x.size(-1), "]");
}

template <class T>
const T* optional_data(const Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}

// What a norm saw and what its gradient needs.
struct Normalized {
  Tensor input, y, mean, rstd;  // mean is undefined for RMS norm
  Tensor gamma;
  kernels::RowShape shape;
};

// gamma, beta undefined: 1, 0. `residual` undefined: plain norm of x; else input = x + residual in the same pass.
Normalized normalize(const char* op, bool centered, const Tensor& x, const Tensor& residual, const Tensor& gamma,
                     const Tensor& beta, double epsilon) {
  const kernels::RowShape shape = rows_of(op, x);
  check_scale(op, x, gamma);
  check_scale(op, x, beta);
  HEED_CHECK(epsilon >= 0, "[", op, "] epsilon ", epsilon, " is negative");
  if (residual.defined()) check_same_shape(op, x, residual);
  const Tensor plain = x.detached_contiguous(), added = residual.defined() ? residual.detached_contiguous() : residual;
  const Tensor offset = beta.defined() ? beta.detached_contiguous() : beta;
  Normalized n;
  n.shape = shape;
  n.gamma = gamma.defined() ? gamma.detached_contiguous() : gamma;
  n.input = residual.defined() ? Tensor::empty(x.shape(), x.dtype()) : plain;
  n.y = Tensor::empty(x.shape(), x.dtype());
  n.rstd = Tensor::empty({shape.rows}, x.dtype());
  if (centered) n.mean = Tensor::empty({shape.rows}, x.dtype());
  visit_float(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *in = plain.data<T>(), *g = optional_data<T>(n.gamma), *b = optional_data<T>(offset);
    T *y = n.y.mutable_data<T>(), *rstd = n.rstd.mutable_data<T>();
    T* mean = centered ? n.mean.mutable_data<T>() : nullptr;
    if (residual.defined()) {
      T* sum = n.input.mutable_data<T>();
      if (centered) return kernels::add_layer_norm<T>(in, added.data<T>(), g, b, epsilon, sum, y, mean, rstd, shape);
      return kernels::add_rms_norm<T>(in, added.data<T>(), g, epsilon, sum, y, rstd, shape);
    }
    if (centered) return kernels::layer_norm<T>(in, g, b, epsilon, y, mean, rstd, shape);
    kernels::rms_norm<T>(in, g, epsilon, y, rstd, shape);
  });
  return n;
}

// Inputs 0, 1, 2 of the recorded op are the norm's input, gamma, beta.
void give_norm_gradients(const char* op, const Normalized& n, Backward& g) {
  const std::int64_t width = n.shape.cols;
  Tensor dx = Tensor::empty(n.input.shape(), n.input.dtype());
  Tensor dgamma = g.wants(1) ? Tensor::zeros({width}, dx.dtype()) : Tensor();
  Tensor dbeta = g.wants(2) ? Tensor::zeros({width}, dx.dtype()) : Tensor();
  visit_float(op, dx.dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto wanted = [](Tensor& t) { return t.defined() ? t.mutable_data<T>() : nullptr; };
    const T *x = n.input.data<T>(), *gamma = optional_data<T>(n.gamma), *dy = g.grad().data<T>();
    if (n.mean.defined()) {
      kernels::layer_norm_backward<T>(x, gamma, dy, n.mean.data<T>(), n.rstd.data<T>(), dx.mutable_data<T>(),
                                      wanted(dgamma), wanted(dbeta), n.shape);
    } else {
      kernels::rms_norm_backward<T>(x, gamma, dy, n.rstd.data<T>(), dx.mutable_data<T>(), wanted(dgamma), n.shape);
    }
  });
  g.give(0, dx);
  if (g.wants(1)) g.give(1, dgamma);
  if (g.wants(2)) g.give(2, dbeta);
}

// Records y as the norm of `input` (which may carry history of its own).
Tensor record_norm(const char* op, Normalized n, const Tensor& input, const Tensor& gamma, const Tensor& beta) {
  Tensor y = std::move(n.y);
  n.y = Tensor();
  return record(op, y, {input, gamma, beta}, [op, n](Backward& g) { give_norm_gradients(op, n, g); });
}

// Two recorded steps computed in one pass: sum = x + residual, then its norm.
ResidualNorm record_residual_norm(const char* op, const Normalized& n, const Tensor& x, const Tensor& residual,
                                  const Tensor& gamma, const Tensor& beta) {
  const Tensor sum = record(op, n.input.detach(), {x, residual}, [](Backward& g) {
    g.give(0, g.grad());
    g.give(1, g.grad());
  });
  return {sum, record_norm(op, n, sum, gamma, beta)};
}

enum class SoftmaxKind { plain, log };

Tensor softmax_of(const char* op, SoftmaxKind kind, const Tensor& x) {
  const auto [rows, cols] = rows_of(op, x);
  const Tensor input = x.detached_contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  visit_float(op, x.dtype(), [&, rows = rows, cols = cols](auto zero) {
    using T = decltype(zero);
    const auto kernel = kind == SoftmaxKind::plain ? kernels::softmax<T> : kernels::log_softmax<T>;
    kernel(input.data<T>(), y.mutable_data<T>(), rows, cols, cols);
  });
  return record(
      op, y, {x},
      [op, kind, rows = rows, cols = cols](Backward& g) {
        Tensor dx = Tensor::empty(g.grad().shape(), g.grad().dtype());
        visit_float(op, dx.dtype(), [&](auto zero) {
          using T = decltype(zero);
          const auto kernel =
              kind == SoftmaxKind::plain ? kernels::softmax_backward<T> : kernels::log_softmax_backward<T>;
          kernel(g.output().template data<T>(), g.grad().template data<T>(), dx.mutable_data<T>(), rows, cols, cols);
        });
        g.give(0, dx);
      },
      Keep::output);
}

}  // namespace

Tensor softmax(const Tensor& x) {
  return softmax_of("softmax", SoftmaxKind::plain, x);
}

Tensor log_softmax(const Tensor& x) {
  return softmax_of("log_softmax", SoftmaxKind::log, x);
}

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon) {
  return record_norm("layer_norm", normalize("layer_norm", true, x, {}, gamma, beta, epsilon), x, gamma, beta);
}

Tensor rms_norm(const Tensor& x, const Tensor& gamma, double epsilon) {
  return record_norm("rms_norm", normalize("rms_norm", false, x, {}, gamma, {}, epsilon), x, gamma, {});
}

ResidualNorm add_layer_norm(const Tensor& x, const Tensor& residual, const Tensor& gamma, const Tensor& beta,
                            double epsilon) {
  check_defined("add_layer_norm", residual);
  const Normalized n = normalize("add_layer_norm", true, x, residual, gamma, beta, epsilon);
  return record_residual_norm("add_layer_norm", n, x, residual, gamma, beta);
}

ResidualNorm add_rms_norm(const Tensor& x, const Tensor& residual, const Tensor& gamma, double epsilon) {
  check_defined("add_rms_norm", residual);
  const Normalized n = normalize("add_rms_norm", false, x, residual, gamma, {}, epsilon);
  return record_residual_norm("add_rms_norm", n, x, residual, gamma, {});
}

}  // namespace heed
