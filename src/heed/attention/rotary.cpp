#include "heed/attention/rotary.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/ops/checks.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

// One head: (a, b) of each pair becomes (a cos - b sin, b cos + a sin). Two loops so that each has plain strides.
template <class T>
void turn_head(const T* x, const T* cosine, const T* sine, T sign, T* y, std::int64_t pairs, RotaryLayout layout) {
  if (layout == RotaryLayout::half) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      const T a = x[i], b = x[i + pairs], s = sign * sine[i];
      y[i] = a * cosine[i] - b * s;
      y[i + pairs] = b * cosine[i] + a * s;
    }
  } else {
    for (std::int64_t i = 0; i < pairs; ++i) {
      const T a = x[2 * i], b = x[2 * i + 1], s = sign * sine[i];
      y[2 * i] = a * cosine[i] - b * s;
      y[2 * i + 1] = b * cosine[i] + a * s;
    }
  }
}

// x [N, H, D] contiguous; sign -1 turns back.
Tensor turned(const Tensor& x, const RotaryTable& table, RotaryLayout layout, double sign) {
  const std::int64_t tokens = x.size(0), heads = x.size(1), width = x.size(2), pairs = table.cosines.size(1);
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  visit_float("rotary", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *from = x.data<T>(), *cosines = table.cosines.data<T>(), *sines = table.sines.data<T>();
    T* to = y.mutable_data<T>();
    const std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, heads * width));
    parallel_for(tokens, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin * heads; row < end * heads; ++row) {
        const T *head = from + row * width, *cosine = cosines + row / heads * pairs,
                *sine = sines + row / heads * pairs;
        turn_head<T>(head, cosine, sine, static_cast<T>(sign), to + row * width, pairs, layout);
        std::copy(head + 2 * pairs, head + width, to + row * width + 2 * pairs);
      }
    });
  });
  return y;
}

}  // namespace

RotaryTable rotary_table(const Tensor& positions, std::int64_t head_width, const RotaryOptions& options, DType dtype,
                         std::span<const std::int64_t> lengths) {
  check_defined("rotary", positions);
  const std::int64_t width = options.width == 0 ? head_width : options.width;
  HEED_CHECK(positions.rank() == 1, "[rotary] positions ", positions.shape(), ", expected [N]");
  HEED_CHECK(width >= 0 && width % 2 == 0 && width <= head_width, "[rotary] width ", width,
             ", expected an even number of at most ", head_width, " features");
  HEED_CHECK(!options.scaling.depends_on_length() || std::ssize(lengths) == positions.size(0),
             "[rotary] a scaling by length needs the lengths of ", positions.size(0), " tokens' sequences, got ",
             lengths.size());
  const std::int64_t tokens = positions.size(0), pairs = width / 2;
  Tensor cosines = Tensor::empty({tokens, pairs}, dtype), sines = Tensor::empty({tokens, pairs}, dtype);
  const auto length_of = [&](std::int64_t token) {
    return options.scaling.depends_on_length() ? lengths[static_cast<std::size_t>(token)] : 0;
  };
  const double factor = options.scaling.attention_factor;
  const Tensor flat = positions.detached_contiguous();
  visit_float("rotary", dtype, [&](auto zero) {
    visit_index("rotary", positions.dtype(), [&](auto index) {
      using T = decltype(zero);
      const auto* position = flat.data<decltype(index)>();
      T *cosine = cosines.mutable_data<T>(), *sine = sines.mutable_data<T>();
      std::vector<double> frequencies;
      for (std::int64_t token = 0; token < tokens; ++token) {
        if (token == 0 || length_of(token) != length_of(token - 1)) {
          frequencies = rope_frequencies(options.base, width, options.scaling, length_of(token));
        }
        for (std::int64_t i = 0; i < pairs; ++i) {
          const double angle = static_cast<double>(position[token]) * frequencies[static_cast<std::size_t>(i)];
          cosine[token * pairs + i] = static_cast<T>(factor * std::cos(angle));
          sine[token * pairs + i] = static_cast<T>(factor * std::sin(angle));
        }
      }
    });
  });
  return {cosines, sines};
}

// y = R x with a rotation R for each token, so dx = R^T dy: the same turn backwards.
Tensor rotary(const Tensor& x, const RotaryTable& table, RotaryLayout layout) {
  check_same_dtype("rotary", x, table.cosines);
  check_same_shape("rotary", table.cosines, table.sines);
  HEED_CHECK(x.rank() == 3 && table.cosines.rank() == 2 && table.cosines.size(0) == x.size(0) &&
                 2 * table.cosines.size(1) <= x.size(2),
             "[rotary] input ", x.shape(), " and cosines ", table.cosines.shape(),
             ": expected [N, H, D] and [N, width/2] with width at most D");
  HEED_CHECK(!table.cosines.requires_grad() && !table.sines.requires_grad(),
             "[rotary] the table requires a gradient, expected constants (detach() it)");
  const RotaryTable rows = {table.cosines.detached_contiguous(), table.sines.detached_contiguous()};
  return record("rotary", turned(x.detached_contiguous(), rows, layout, 1), {x},
                [rows, layout](Backward& g) { g.give(0, turned(g.grad(), rows, layout, -1)); });
}

Tensor rotary(const Tensor& x, const Tensor& positions, const RotaryOptions& options) {
  check_defined("rotary", x);
  HEED_CHECK(x.rank() == 3, "[rotary] input ", x.shape(), ", expected [N, H, D]");
  return rotary(x, rotary_table(positions, x.size(2), options, x.dtype()), options.layout);
}

}  // namespace heed
