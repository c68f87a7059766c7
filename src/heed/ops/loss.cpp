#include "heed/ops/loss.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/checks.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

constexpr std::int64_t kLossGrain = 1 << 13;  // elements that are worth a thread

// Sums `losses` (f64, one per item) in order and shapes the result of a loss.
Tensor reduced(Reduction reduction, std::span<const double> losses, const Shape& shape, double divisor, DType dtype) {
  if (reduction == Reduction::none) return Tensor::from(losses, shape).detached_to(dtype);
  double total = 0;
  for (double loss : losses) total += loss;
  if (reduction == Reduction::mean) total = divisor > 0 ? total / divisor : 0;
  return Tensor::full({}, total, dtype);
}

// d loss / d (item i): the gradient of the reduced value, or of item i itself.
template <class T>
double item_gradient(Reduction reduction, const Tensor& grad, std::int64_t i, double divisor) {
  const T* g = grad.data<T>();
  if (reduction == Reduction::none) return static_cast<double>(g[i]);
  if (reduction == Reduction::sum) return static_cast<double>(g[0]);
  return divisor > 0 ? static_cast<double>(g[0]) / divisor : 0;
}

// What one row of cross_entropy contributes; a row that does not count has target -1.
struct ClassTargets {
  PoolVector<std::int64_t> index;
  PoolVector<double> weight;  // [classes], empty: all 1
  double weight_sum = 0;      // over the classes
  double divisor = 0;         // over the targets that count
  double weight_of(std::int64_t c) const { return weight.empty() ? 1 : weight[static_cast<std::size_t>(c)]; }
};

ClassTargets read_targets(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  check_defined("cross_entropy", logits);
  check_defined("cross_entropy", targets);
  HEED_CHECK(logits.rank() == 2 && targets.rank() == 1 && logits.size(0) == targets.size(0), "[cross_entropy] logits ",
             logits.shape(), " and targets ", targets.shape(), ": expected [N, classes] and [N]");
  HEED_CHECK(options.label_smoothing >= 0 && options.label_smoothing <= 1, "[cross_entropy] label smoothing ",
             options.label_smoothing, " outside 0..1");
  const std::int64_t classes = logits.size(1);
  ClassTargets result;
  if (options.class_weights.defined()) {
    HEED_CHECK(options.class_weights.shape() == Shape({classes}), "[cross_entropy] class weights ",
               options.class_weights.shape(), " for logits ", logits.shape());
    const Tensor weights = options.class_weights.detached_contiguous().detached_to(DType::f64);
    result.weight.assign(weights.data<double>(), weights.data<double>() + classes);
  }
  for (std::int64_t c = 0; c < classes; ++c) result.weight_sum += result.weight_of(c);
  const Tensor flat = targets.detached_contiguous();
  visit_index("cross_entropy", targets.dtype(), [&](auto zero) {
    const auto* target = flat.data<decltype(zero)>();
    for (std::int64_t i = 0; i < flat.count(); ++i) {
      const bool counts = target[i] != options.ignore_index;
      HEED_CHECK(!counts || (target[i] >= 0 && target[i] < classes), "[cross_entropy] target ", target[i],
                 " at position ", i, " is outside 0..", classes - 1, " and is not ignore_index ", options.ignore_index);
      result.index.push_back(counts ? static_cast<std::int64_t>(target[i]) : -1);
      if (counts) result.divisor += result.weight_of(static_cast<std::int64_t>(target[i]));
    }
  });
  return result;
}

}  // namespace

// Row i with target t, log-probabilities z - lse, smoothing e over C classes and weights w:
//   loss = (1-e) w_t (lse - z_t) + e/C * sum_c w_c (lse - z_c)
//   d loss / d z_j = ((1-e) w_t + e/C * sum_c w_c) p_j - (1-e) w_t [j=t] - e/C * w_j
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  ClassTargets target = read_targets(logits, targets, options);
  const Tensor z = logits.detached_contiguous();
  const std::int64_t rows = z.size(0), classes = z.size(1);
  const double smoothing = options.label_smoothing;
  const double spread = classes > 0 ? smoothing / static_cast<double>(classes) : 0;
  const Reduction reduction = options.reduction;
  Tensor lse = Tensor::empty({rows}, z.dtype());
  PoolVector<double> losses(static_cast<std::size_t>(rows), 0.0);
  visit_float("cross_entropy", z.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::log_sum_exp<T>(z.data<T>(), lse.mutable_data<T>(), rows, classes, classes);
    const T *logit = z.data<T>(), *log_sum = lse.data<T>();
    parallel_for(rows, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t t = target.index[static_cast<std::size_t>(i)];
        if (t < 0) continue;
        const T* row = logit + i * classes;
        const double top = static_cast<double>(log_sum[i]);
        double loss = (1 - smoothing) * target.weight_of(t) * (top - static_cast<double>(row[t]));
        if (smoothing > 0) {
          double all = 0;
          for (std::int64_t c = 0; c < classes; ++c) all += target.weight_of(c) * (top - static_cast<double>(row[c]));
          loss += spread * all;
        }
        losses[static_cast<std::size_t>(i)] = loss;
      }
    });
  });
  Tensor loss = reduced(reduction, losses, {rows}, target.divisor, z.dtype());
  return record("cross_entropy", loss, {logits}, [z, target, smoothing, spread, reduction](Backward& g) {
    const std::int64_t n = z.size(0), width = z.size(1);
    Tensor dz = Tensor::empty(z.shape(), z.dtype());
    visit_float("cross_entropy", z.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::softmax<T>(z.data<T>(), dz.mutable_data<T>(), n, width, width);
      T* out = dz.mutable_data<T>();
      parallel_for(n, 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t t = target.index[static_cast<std::size_t>(i)];
          const double up = t < 0 ? 0 : item_gradient<T>(reduction, g.grad(), i, target.divisor);
          const double hit = t < 0 ? 0 : (1 - smoothing) * target.weight_of(t);
          const T factor = static_cast<T>(up * (hit + spread * target.weight_sum));
          T* row = out + i * width;
          for (std::int64_t c = 0; c < width; ++c) row[c] *= factor;
          if (t < 0) continue;
          row[t] -= static_cast<T>(up * hit);
          if (smoothing > 0) {
            for (std::int64_t c = 0; c < width; ++c) row[c] -= static_cast<T>(up * spread * target.weight_of(c));
          }
        }
      });
    });
    g.give(0, dz);
  });
}

// loss = max(z, 0) - z t + log(1 + exp(-|z|));  d loss / d z = sigmoid(z) - t
Tensor binary_cross_entropy(const Tensor& logits, const Tensor& targets, Reduction reduction) {
  check_same_shape("binary_cross_entropy", logits, targets);
  const Tensor z = logits.detached_contiguous(), t = targets.detached_contiguous();
  PoolVector<double> losses(static_cast<std::size_t>(z.count()));
  visit_float("binary_cross_entropy", z.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < z.count(); ++i) {
      const double x = static_cast<double>(z.data<T>()[i]), y = static_cast<double>(t.data<T>()[i]);
      losses[static_cast<std::size_t>(i)] = std::max(x, 0.0) - x * y + std::log1p(std::exp(-std::abs(x)));
    }
  });
  const auto divisor = static_cast<double>(z.count());
  return record("binary_cross_entropy", reduced(reduction, losses, z.shape(), divisor, z.dtype()), {logits},
                [z, t, reduction, divisor](Backward& g) {
                  Tensor dz = Tensor::empty(z.shape(), z.dtype());
                  visit_float("binary_cross_entropy", z.dtype(), [&](auto zero) {
                    using T = decltype(zero);
                    T* out = dz.mutable_data<T>();
                    for (std::int64_t i = 0; i < z.count(); ++i) {
                      const double p = 1 / (1 + std::exp(-static_cast<double>(z.data<T>()[i])));
                      out[i] = static_cast<T>(item_gradient<T>(reduction, g.grad(), i, divisor) *
                                              (p - static_cast<double>(t.data<T>()[i])));
                    }
                  });
                  g.give(0, dz);
                });
}

// loss = (p - t)^2;  d loss / d p = 2 (p - t) = -d loss / d t
Tensor mean_squared_error(const Tensor& prediction, const Tensor& target, Reduction reduction) {
  check_same_shape("mean_squared_error", prediction, target);
  const Tensor p = prediction.detached_contiguous(), t = target.detached_contiguous();
  PoolVector<double> losses(static_cast<std::size_t>(p.count()));
  visit_float("mean_squared_error", p.dtype(), [&](auto zero) {
    const auto *from = p.data<decltype(zero)>(), *to = t.data<decltype(zero)>();
    parallel_for(p.count(), kLossGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const double difference = static_cast<double>(from[i]) - static_cast<double>(to[i]);
        losses[static_cast<std::size_t>(i)] = difference * difference;
      }
    });
  });
  const auto divisor = static_cast<double>(p.count());
  return record("mean_squared_error", reduced(reduction, losses, p.shape(), divisor, p.dtype()), {prediction, target},
                [p, t, reduction, divisor](Backward& g) {
                  for (std::size_t input : {0u, 1u}) {
                    if (!g.wants(input)) continue;
                    const double sign = input == 0 ? 2 : -2;
                    Tensor d = Tensor::empty(p.shape(), p.dtype());
                    visit_float("mean_squared_error", p.dtype(), [&](auto zero) {
                      using T = decltype(zero);
                      const T *from = p.data<T>(), *to = t.data<T>();
                      T* out = d.mutable_data<T>();
                      parallel_for(p.count(), kLossGrain, [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t i = begin; i < end; ++i) {
                          const double difference = static_cast<double>(from[i]) - static_cast<double>(to[i]);
                          out[i] =
                              static_cast<T>(item_gradient<T>(reduction, g.grad(), i, divisor) * sign * difference);
                        }
                      });
                    });
                    g.give(input, d);
                  }
                });
}

}  // namespace heed
