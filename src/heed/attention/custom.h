// Score and mask functions of the user's own, inlined in the loop over a tile.
//
//   struct Warp {  // any function of the score and where it stands, written once for numbers and for dual numbers
//     template <class Number>
//     Number operator()(Number score, const ScorePosition& at) const { return score * score * 0.1 + 0.01 *
//     at.distance(); }
//   };
//   input.terms.push_back(custom_score(Warp{}));
//   input.terms.push_back(custom_mask([](const ScorePosition& at) { return at.distance() % 2 == 0; }));
//
// The gradient follows from the same function, called with a dual number; a type that has `derivative(score, at)` gives
// its own instead.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>

#include "heed/attention/term_base.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/autograd.h"

namespace heed {

// Where a score stands.
struct ScorePosition {
  std::int64_t sequence, head;
  std::int64_t query, key;  // positions in the sequence of keys
  std::int64_t distance() const { return key - query; }
};

// value and its derivative with respect to the score.
struct Dual {
  double value, slope = 0;
  Dual(double v) : value(v) {}  // a constant
  Dual(double v, double s) : value(v), slope(s) {}
  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
  friend Dual operator/(Dual a, Dual b) {
    return {a.value / b.value, (a.slope * b.value - a.value * b.slope) / (b.value * b.value)};
  }
  friend Dual operator-(Dual a) { return {-a.value, -a.slope}; }
  friend bool operator<(Dual a, Dual b) { return a.value < b.value; }
  friend bool operator>(Dual a, Dual b) { return a.value > b.value; }
  friend Dual exp(Dual a) { return {std::exp(a.value), a.slope * std::exp(a.value)}; }
  friend Dual log(Dual a) { return {std::log(a.value), a.slope / a.value}; }
  friend Dual sqrt(Dual a) { return {std::sqrt(a.value), a.slope / (2 * std::sqrt(a.value))}; }
  friend Dual tanh(Dual a) { return {std::tanh(a.value), a.slope * (1 - std::tanh(a.value) * std::tanh(a.value))}; }
};

// A score function: of numbers and dual numbers alike.
template <class F>
concept CustomScore = requires(const F f, double score, Dual dual, const ScorePosition at) {
  { f(score, at) } -> std::convertible_to<double>;
  { f(dual, at) } -> std::convertible_to<Dual>;
};

// One that brings its own derivative.
template <class F>
concept HasDerivative = requires(const F f, double score, const ScorePosition at) {
  { f(score, at) } -> std::convertible_to<double>;
  { f.derivative(score, at) } -> std::convertible_to<double>;
};

// true: attend.
template <class F>
concept CustomMask = requires(const F f, const ScorePosition at) {
  { f(at) } -> std::convertible_to<bool>;
};

namespace detail {

template <class F>
double score_derivative(const F& function, double score, const ScorePosition& at) {
  if constexpr (HasDerivative<F>) {
    return function.derivative(score, at);
  } else {
    return Dual(function(Dual(score, 1), at)).slope;
  }
}

template <class T, class F>
class CustomScoreRule : public TermRule<T> {
 public:
  CustomScoreRule(F function, const AttentionLayout& layout) : function_(std::move(function)), layout_(layout) {}
  void apply(const kernels::ScoreTile<T>& tile) const override {
    for_each_score(tile, [&](T& s, std::int64_t i, std::int64_t j) {
      s = static_cast<T>(function_(static_cast<double>(s), at(tile, i, j)));
    });
  }
  void backward(const kernels::ScoreTile<T>& before, const kernels::ScoreTile<T>&,
                const kernels::ScoreTile<T>& d) override {
    for_each_score(d, [&](T& ds, std::int64_t i, std::int64_t j) {
      if (ds == 0) return;
      const T score = before.scores[(i - d.query_begin) * before.ld + j - d.key_begin];
      ds *= static_cast<T>(score_derivative(function_, static_cast<double>(score), at(d, i, j)));
    });
  }

 private:
  ScorePosition at(const kernels::ScoreTile<T>& tile, std::int64_t i, std::int64_t j) const {
    return {tile.sequence, tile.head, layout_.position(tile.sequence, i), j};
  }
  F function_;
  const AttentionLayout& layout_;
};

template <class F>
class CustomScoreTerm : public ScoreTerm {
 public:
  CustomScoreTerm(const char* name, F function) : name_(name), function_(std::move(function)) {}
  const char* name() const override { return name_; }
  std::unique_ptr<TermRule<float>> rule_f32(const TermCall& call) const override {
    return std::make_unique<CustomScoreRule<float, F>>(function_, call.layout);
  }
  std::unique_ptr<TermRule<double>> rule_f64(const TermCall& call) const override {
    return std::make_unique<CustomScoreRule<double, F>>(function_, call.layout);
  }
  // Each score by itself, and its derivative kept for the gradient.
  Tensor reference(const Tensor& scores, std::int64_t sequence, const TermCall& call) const override {
    const Tensor x = scores.detached_contiguous().detached_to(DType::f64);
    auto per_score = [&](auto&& value) {
      return score_constant(scores, [&](std::int64_t h, std::int64_t i, std::int64_t j) {
        return value(x.at({h, i, j}), ScorePosition{sequence, h, call.layout.position(sequence, i), j});
      });
    };
    const Tensor slopes =
        per_score([&](double s, const ScorePosition& at) { return score_derivative(function_, s, at); });
    const Tensor result =
        per_score([&](double s, const ScorePosition& at) { return static_cast<double>(function_(s, at)); });
    return record(name_, result, {scores}, [slopes](Backward& g) { g.give(0, multiply(g.grad(), slopes)); });
  }

 private:
  const char* name_;
  F function_;
};

template <class F>
struct MaskAsScore {
  F function;
  double operator()(double score, const ScorePosition& at) const {
    return function(at) ? score : -std::numeric_limits<double>::infinity();
  }
  double derivative(double, const ScorePosition& at) const { return function(at) ? 1 : 0; }
};

}  // namespace detail

template <class F>
requires CustomScore<F> || HasDerivative<F> Term custom_score(F function) {
  return std::make_shared<detail::CustomScoreTerm<F>>("custom_score", std::move(function));
}

template <CustomMask F>
Term custom_mask(F function) {
  return std::make_shared<detail::CustomScoreTerm<detail::MaskAsScore<F>>>("custom_mask",
                                                                           detail::MaskAsScore<F>{std::move(function)});
}

}  // namespace heed
