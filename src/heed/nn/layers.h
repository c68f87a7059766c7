// The layers every model is built of. N tokens, C width.
#pragma once

#include "heed/nn/context.h"
#include "heed/nn/module.h"
#include "heed/ops/linear.h"
#include "heed/tensor/tensor.h"

namespace heed {

class Embedding;

// activation(x W^T + bias) + residual: [..., in] to [..., out].
class Linear : public Module {
 public:
  Linear(std::int64_t in, std::int64_t out, bool with_bias = true,
         Initializer weight_initializer = Initializer::xavier_uniform());
  Tensor forward(const Tensor& x, Activation activation = Activation::none, const Tensor& residual = Tensor()) const;
  // The table [out, in] becomes the weight: one parameter, trained and saved once.
  void tie(const Embedding& table);
  void visit(Visitor& visitor) const override;

  Weight weight;  // [out, in]
  Tensor bias;    // [out] or undefined

 private:
  Initializer weight_initializer_;
};

// Row ids[i] of a trained table: ids [...] to [..., C].
class Embedding : public Module {
 public:
  Embedding(std::int64_t vocabulary, std::int64_t width, Initializer initializer = Initializer::normal(0.02));
  Tensor forward(const Tensor& ids) const;
  void tie(const Embedding& other);
  void visit(Visitor& visitor) const override;

  Weight weight;  // [V, C]

 private:
  Initializer initializer_;
};

// Ids as rows of 0 and 1, [..., V]: the encoding that embeddings replaced. No parameters.
class OneHot : public Module {
 public:
  explicit OneHot(std::int64_t vocabulary) : vocabulary_(vocabulary) {}
  Tensor forward(const Tensor& ids) const;
  void visit(Visitor&) const override {}

 private:
  std::int64_t vocabulary_;
};

enum class NormKind { layer, rms };

struct NormConfig {
  NormKind kind = NormKind::layer;
  double epsilon = 1e-5;
  bool plus_one = false;  // rms: the factors are 1 + weight (Gemma)
};

class Norm : public Module {
 public:
  explicit Norm(std::int64_t width, const NormConfig& config = {});
  Tensor forward(const Tensor& x) const;
  // The norm of x + added, in one pass.
  Tensor forward(const Tensor& x, const Tensor& added) const;
  void visit(Visitor& visitor) const override;

  Tensor weight;  // [C]
  Tensor bias;    // [C], layer norm only

 private:
  Tensor factors() const;

  NormConfig config_;
};

class Dropout : public Module {
 public:
  explicit Dropout(double probability) : probability_(probability) {}
  // Itself outside training; else depends on (seed, step, place) of the context only.
  Tensor forward(const Tensor& x, const Context& context) const;
  void visit(Visitor&) const override {}

 private:
  double probability_;
};

}  // namespace heed
