// Recurrent layers, stacked and in one or both directions; parameters named, shaped and started as PyTorch's.
#pragma once

#include <vector>

#include "heed/nn/context.h"
#include "heed/nn/module.h"
#include "heed/ops/weight.h"
#include "heed/tensor/packed.h"

namespace heed {

struct RecurrentOptions {
  std::int64_t layers = 1;
  bool bidirectional = false;  // a second pass reads each sequence from its end; outputs side by side
  double dropout = 0;          // of what one layer hands to the next, in training
};

// What Rnn and Gru share: the stack. weight_ih_l0 [gates C, in], weight_hh_l0 [gates C, C], bias_ih_l0 and bias_hh_l0
// [gates C]; "_reverse" is appended for the second direction, and l1, l2 ... take the outputs of the layer below.
class RecurrentStack : public Module {
 public:
  // Values [N, in] to the last layer's hidden states [N, C], or [N, 2C] if bidirectional.
  Packed forward(const Packed& x, const Context& context) const;
  void visit(Visitor& visitor) const override;

 protected:
  RecurrentStack(std::int64_t in, std::int64_t width, std::int64_t gates, const RecurrentOptions& options);

 private:
  virtual Tensor run(const Packed& gates, const Weight& weight_hh, const Tensor& bias_hh, bool reverse) const = 0;

  struct Direction {
    Weight weight_ih, weight_hh;
    Tensor bias_ih, bias_hh;
  };
  std::vector<Direction> directions_;  // layer by layer, forward before reverse
  std::int64_t width_;
  RecurrentOptions options_;
};

// h = tanh(W_ih x + b_ih + W_hh h' + b_hh)
class Rnn : public RecurrentStack {
 public:
  Rnn(std::int64_t in, std::int64_t width, const RecurrentOptions& options = {})
      : RecurrentStack(in, width, 1, options) {}

 private:
  Tensor run(const Packed& gates, const Weight& weight_hh, const Tensor& bias_hh, bool reverse) const override;
};

// The gated recurrent unit (Cho et al. 2014), in the form that resets after the product (ops/recurrent.h).
class Gru : public RecurrentStack {
 public:
  Gru(std::int64_t in, std::int64_t width, const RecurrentOptions& options = {})
      : RecurrentStack(in, width, 3, options) {}

 private:
  Tensor run(const Packed& gates, const Weight& weight_hh, const Tensor& bias_hh, bool reverse) const override;
};

}  // namespace heed
