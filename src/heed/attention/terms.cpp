#include "heed/attention/terms.h"

#include <bit>
#include <cmath>
#include <limits>

#include "heed/attention/term_base.h"
#include "heed/base/error.h"
#include "heed/kernels/activation.h"
#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/shape_ops.h"

namespace heed {
namespace {

// ---- soft-cap: y = c tanh(x / c),  dx = dy (1 - (y / c)^2)

class SoftCap;
template <class T>
class SoftCapRule : public TermRule<T> {
 public:
  SoftCapRule(const SoftCap& term, const TermCall&);
  void apply(const kernels::ScoreTile<T>& tile) const override {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      T* row = tile.scores + i * tile.ld;
      for (std::int64_t j = 0; j < tile.keys; ++j) row[j] /= limit_;
      kernels::activate<T>(Activation::tanh, row, row, tile.keys);
      for (std::int64_t j = 0; j < tile.keys; ++j) row[j] *= limit_;
    }
  }
  void backward(const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>& after,
                const kernels::ScoreTile<T>& d) override {
    for_each_score(d, [&](T& ds, std::int64_t i, std::int64_t j) {
      const T y = after.scores[(i - d.query_begin) * after.ld + j - d.key_begin] / limit_;
      ds *= 1 - y * y;
    });
  }

 private:
  T limit_;
};

class SoftCap : public TermOf<SoftCap, SoftCapRule> {
 public:
  explicit SoftCap(double cap) : limit(cap) {}
  const char* name() const override { return "soft_cap"; }
  Tensor reference(const Tensor& scores, std::int64_t, const TermCall&) const override {
    return scale(tanh(scale(scores, 1 / limit)), limit);
  }
  const double limit;
};

template <class T>
SoftCapRule<T>::SoftCapRule(const SoftCap& term, const TermCall&) : limit_(static_cast<T>(term.limit)) {}

// ---- dense bias: y = x + bias[b, h, i, j]

// Row-major strides, 0 for axes of size 1: those stretch.
Strides stretched_strides(const Shape& shape) {
  Strides strides = contiguous_strides(shape);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) strides[static_cast<std::size_t>(axis)] = 0;
  }
  return strides;
}

class Bias;
template <class T>
class BiasRule : public TermRule<T> {
 public:
  BiasRule(const Bias& term, const TermCall& call);
  void apply(const kernels::ScoreTile<T>& tile) const override {
    const T* bias = bias_.data<T>() + base(tile);
    for_each_score(tile, [&](T& s, std::int64_t i, std::int64_t j) { s += bias[i * strides_[2] + j * strides_[3]]; });
  }
  // Heads are walked by different threads: a bias that heads share has one gradient per head until gradients().
  void prepare_backward() override {
    const Shape by_head = shape_.with(1, heads_);
    gradient_ = Tensor::zeros(by_head, bias_.dtype());
    gradient_strides_ = stretched_strides(by_head);
  }
  void backward(const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>& d) override {
    T* gradient = gradient_.mutable_data<T>() + d.sequence * gradient_strides_[0] + d.head * gradient_strides_[1];
    for_each_score(d, [&](const T& ds, std::int64_t i, std::int64_t j) {
      gradient[i * gradient_strides_[2] + j * gradient_strides_[3]] += ds;
    });
  }
  bool has_shared_parameters() const override { return true; }
  std::vector<Tensor> gradients() override { return {sum_to(gradient_, shape_).detached_reshape(given_shape_)}; }

 private:
  std::int64_t base(const kernels::ScoreTile<T>& tile) const {
    return tile.sequence * strides_[0] + tile.head * strides_[1];
  }
  Tensor bias_, gradient_;
  Shape shape_, given_shape_;             // with four axes, and as the user gave it
  Strides strides_, gradient_strides_{};  // 0 where a size of 1 stretches
  std::int64_t heads_;
};

Shape with_four_axes(const Shape& shape) {
  std::array<std::int64_t, 4> sizes{1, 1, 1, 1};
  for (int back = 1; back <= shape.rank(); ++back) sizes[static_cast<std::size_t>(4 - back)] = shape[-back];
  return Shape(std::span<const std::int64_t>(sizes));
}

class Bias : public TermOf<Bias, BiasRule> {
 public:
  explicit Bias(Tensor tensor) : bias(std::move(tensor)) {}
  const char* name() const override { return "bias"; }
  std::vector<Tensor> tensors() const override { return {bias}; }
  void check(const TermCall& call) const {
    HEED_CHECK(bias.rank() >= 2 && bias.rank() <= 4, "[attend] bias ", bias.shape(),
               ": expected [queries, keys], [heads, queries, keys] or [batch, heads, queries, keys]");
    const Shape four = with_four_axes(bias.shape());
    const AttentionLayout& layout = call.layout;
    HEED_CHECK((four[0] == 1 || four[0] == layout.queries.sequences()) && (four[1] == 1 || four[1] == call.query_heads),
               "[attend] bias ", bias.shape(), " for ", layout.queries.sequences(), " sequences and ", call.query_heads,
               " heads");
    for (std::int64_t b = 0; b < layout.queries.sequences(); ++b) {
      HEED_CHECK(
          (four[2] == 1 || four[2] >= layout.queries.length(b)) && (four[3] == 1 || four[3] >= layout.keys.length(b)),
          "[attend] bias ", bias.shape(), " for sequence ", b, " of ", layout.queries.length(b), " queries and ",
          layout.keys.length(b), " keys");
    }
  }
  Tensor reference(const Tensor& scores, std::int64_t sequence, const TermCall& call) const override {
    check(call);
    const Shape four = with_four_axes(bias.shape());
    Tensor part = reshape(bias.dtype() == scores.dtype() ? bias : bias.detached_to(scores.dtype()), four.sizes());
    part = slice(part, 0, four[0] == 1 ? 0 : sequence, (four[0] == 1 ? 0 : sequence) + 1);
    if (four[2] > scores.size(1)) part = slice(part, 2, 0, scores.size(1));
    if (four[3] > scores.size(2)) part = slice(part, 3, 0, scores.size(2));
    return add(scores, reshape(part, {part.size(1), part.size(2), part.size(3)}));
  }
  const Tensor bias;
};

template <class T>
BiasRule<T>::BiasRule(const Bias& term, const TermCall& call)
    : bias_(term.bias.detached_contiguous().detached_to(kDTypeOf<T>)),
      shape_(with_four_axes(term.bias.shape())),
      given_shape_(term.bias.shape()),
      strides_(stretched_strides(shape_)),
      heads_(call.query_heads) {
  term.check(call);
  HEED_CHECK(!term.bias.requires_grad() || term.bias.dtype() == kDTypeOf<T>, "[attend] a trained bias of type ",
             term.bias.dtype(), " for ", kDTypeOf<T>, " scores");
}

// ---- ALiBi: y = x - slope_h |distance|

class Alibi;
template <class T>
class AlibiRule : public TermRule<T> {
 public:
  AlibiRule(const Alibi& term, const TermCall& call);
  void apply(const kernels::ScoreTile<T>& tile) const override {
    const T slope = static_cast<T>(slopes_[static_cast<std::size_t>(tile.head)]);
    for_each_score(tile, [&](T& s, std::int64_t i, std::int64_t j) {
      s -= slope * static_cast<T>(std::abs(j - layout_.position(tile.sequence, i)));
    });
  }
  void backward(const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>&) override {}

 private:
  std::vector<double> slopes_;
  const AttentionLayout& layout_;
};

class Alibi : public TermOf<Alibi, AlibiRule> {
 public:
  explicit Alibi(std::vector<double> slopes) : given_(std::move(slopes)) {}
  const char* name() const override { return "alibi"; }
  std::vector<double> slopes(std::int64_t heads) const {
    if (!given_.empty()) {
      HEED_CHECK(static_cast<std::int64_t>(given_.size()) == heads, "[attend] ", given_.size(), " ALiBi slopes for ",
                 heads, " heads");
      return given_;
    }
    // The series of the largest power of two, and for further heads every second one of the series of the next.
    const auto whole = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
    std::vector<double> series;
    for (std::int64_t h = 1; h <= heads; ++h) {
      const std::int64_t number = h <= whole ? h : 2 * (h - whole) - 1, of = h <= whole ? whole : 2 * whole;
      series.push_back(std::exp2(-8.0 * static_cast<double>(number) / static_cast<double>(of)));
    }
    return series;
  }
  Tensor reference(const Tensor& scores, std::int64_t sequence, const TermCall& call) const override {
    const auto slope = slopes(call.query_heads);
    return add(scores, score_constant(scores, [&](std::int64_t h, std::int64_t i, std::int64_t j) {
                 return -slope[static_cast<std::size_t>(h)] *
                        static_cast<double>(std::abs(j - call.layout.position(sequence, i)));
               }));
  }

 private:
  std::vector<double> given_;
};

template <class T>
AlibiRule<T>::AlibiRule(const Alibi& term, const TermCall& call)
    : slopes_(term.slopes(call.query_heads)), layout_(call.layout) {}

}  // namespace

Term soft_cap_term(double limit) {
  HEED_CHECK(limit > 0, "[attend] soft-cap ", limit, ", expected more than 0");
  return std::make_shared<SoftCap>(limit);
}

Term bias_term(Tensor bias) {
  HEED_CHECK(bias.defined(), "[attend] the bias has no value");
  return std::make_shared<Bias>(std::move(bias));
}

Term mask_term(const Tensor& mask) {
  HEED_CHECK(mask.defined(), "[attend] the mask has no value");
  Tensor bias = Tensor::zeros(mask.shape());
  visit_index("attend", mask.dtype(), [&](auto zero) {
    const Tensor flat = mask.detached_contiguous();
    const auto* allowed = flat.data<decltype(zero)>();
    float* value = bias.mutable_data<float>();
    for (std::int64_t i = 0; i < flat.count(); ++i) {
      if (allowed[i] == 0) value[i] = -std::numeric_limits<float>::infinity();
    }
  });
  return bias_term(bias);
}

Term alibi_term(std::vector<double> slopes) {
  return std::make_shared<Alibi>(std::move(slopes));
}

}  // namespace heed
