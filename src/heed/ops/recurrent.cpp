#include "heed/ops/recurrent.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/kernels/gather.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/recurrent.h"
#include "heed/kernels/reduce.h"
#include "heed/ops/checks.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

enum class Cell { rnn, gru };

// The tokens in the order of time: all first tokens, all second tokens ... With the longest sequences first, those
// alive at a step are the first rows of the step before, so that no step has to collect its rows.
//
// Step t has count(t) rows. Matrices of gates have N rows, those of step t from gate_row(t) on. Matrices of states have
// the initial states of step 0 before them: the state after step t is at state_row(t), the one before it at
// previous_row(t).
class TimeOrder {
 public:
  TimeOrder(const Offsets& offsets, bool reverse) {
    sequences_.resize(static_cast<std::size_t>(offsets.sequences()));
    std::iota(sequences_.begin(), sequences_.end(), 0);
    std::ranges::sort(sequences_, [&](std::int64_t a, std::int64_t b) {
      return offsets.length(a) != offsets.length(b) ? offsets.length(a) > offsets.length(b) : a < b;
    });
    tokens_.reserve(static_cast<std::size_t>(offsets.tokens()));
    rows_.resize(tokens_.capacity());
    starts_.push_back(0);
    for (std::int64_t t = 0; t < offsets.longest(); ++t) {
      for (std::int64_t sequence : sequences_) {
        if (offsets.length(sequence) <= t) break;
        const std::int64_t token = reverse ? offsets.end(sequence) - 1 - t : offsets.begin(sequence) + t;
        rows_[static_cast<std::size_t>(token)] = static_cast<std::int64_t>(tokens_.size());
        tokens_.push_back(token);
      }
      starts_.push_back(static_cast<std::int64_t>(tokens_.size()));
    }
  }

  std::int64_t tokens() const { return starts_.back(); }
  std::int64_t steps() const { return static_cast<std::int64_t>(starts_.size()) - 1; }
  // Sequences that are not empty: rows of initial states.
  std::int64_t initial_rows() const { return steps() > 0 ? count(0) : 0; }
  std::int64_t states() const { return initial_rows() + tokens(); }
  std::int64_t count(std::int64_t t) const { return start(t + 1) - start(t); }
  std::int64_t gate_row(std::int64_t t) const { return start(t); }
  std::int64_t state_row(std::int64_t t) const { return initial_rows() + start(t); }
  std::int64_t previous_row(std::int64_t t) const { return t == 0 ? 0 : state_row(t - 1); }

  const std::int64_t* token_of_row() const { return tokens_.data(); }
  const std::int64_t* row_of_token() const { return rows_.data(); }
  const std::int64_t* sequence_of_initial_row() const { return sequences_.data(); }

 private:
  std::int64_t start(std::int64_t t) const { return starts_[static_cast<std::size_t>(t)]; }

  PoolVector<std::int64_t> sequences_, tokens_, rows_, starts_;
};

// What forward leaves for backward, rows in the order of time.
struct Trace {
  TimeOrder order;
  Tensor states;  // [initial + N, C]
  Tensor gates;   // GRU: r, z, n [N, 3C]
  Tensor kept_u;  // GRU: W_n h' + b_n [N, C]
};

template <class T>
void walk_forward(Cell cell, const Packed& input, const Weight& weight, const Tensor& bias, const Tensor& initial,
                  Trace& trace, bool keep) {
  const TimeOrder& order = trace.order;
  const std::int64_t C = weight.in(), G = weight.out();
  trace.gates = Tensor::empty({order.tokens(), G}, weight.dtype());
  trace.states = Tensor::empty({order.states(), C}, weight.dtype());
  if (keep && cell == Cell::gru) trace.kept_u = Tensor::empty({order.tokens(), C}, weight.dtype());
  T* gates = trace.gates.mutable_data<T>();
  T* states = trace.states.mutable_data<T>();
  T* kept_u = trace.kept_u.defined() ? trace.kept_u.mutable_data<T>() : nullptr;
  kernels::gather_rows(input.values.data<T>(), order.token_of_row(), gates, order.tokens(), G);
  if (initial.defined()) {
    kernels::gather_rows(initial.data<T>(), order.sequence_of_initial_row(), states, order.initial_rows(), C);
  } else {
    std::fill_n(states, order.initial_rows() * C, T{0});
  }
  kernels::PoolArray<T> hidden_part(order.initial_rows() * G);
  kernels::Epilogue<T> epilogue;
  if (bias.defined()) epilogue.bias = bias.data<T>();
  for (std::int64_t t = 0; t < order.steps(); ++t) {
    const std::int64_t count = order.count(t), row = order.gate_row(t);
    const T* previous = states + order.previous_row(t) * C;
    T* state = states + order.state_row(t) * C;
    T* u = hidden_part.data();
    weight.apply<T>(count, previous, u, epilogue);
    if (cell == Cell::rnn) {
      kernels::rnn_cell(gates + row * C, u, state, count * C);
    } else {
      kernels::gru_cell(gates + row * G, u, previous, kept_u ? kept_u + row * C : nullptr, state, count, C);
    }
  }
}

// Gradients in the order of time. d_states holds the gradient of the outputs below its initial rows, which are zero,
// and is overwritten; its initial rows become the gradient of the initial states. d_input and d_hidden [N, G] are the
// gradients of the two parts of the gates; for the RNN they are one tensor.
template <class T>
void walk_backward(Cell cell, const Trace& trace, const Weight& weight, Tensor& d_states, Tensor& d_input,
                   Tensor& d_hidden) {
  const TimeOrder& order = trace.order;
  const std::int64_t C = weight.in(), G = weight.out();
  const T* states = trace.states.data<T>();
  T *dh = d_states.mutable_data<T>(), *dx = d_input.mutable_data<T>(), *du = d_hidden.mutable_data<T>();
  kernels::Epilogue<T> onto_previous;
  onto_previous.accumulate = true;
  for (std::int64_t t = order.steps() - 1; t >= 0; --t) {
    const std::int64_t count = order.count(t), row = order.gate_row(t);
    const std::int64_t state = order.state_row(t) * C, previous = order.previous_row(t) * C;
    if (cell == Cell::rnn) {
      kernels::rnn_cell_backward(states + state, dh + state, dx + row * C, count * C);
    } else {
      kernels::gru_cell_backward(trace.gates.data<T>() + row * G, trace.kept_u.data<T>() + row * C, states + previous,
                                 dh + state, dx + row * G, du + row * G, dh + previous, count, C);
    }
    weight.apply_transposed<T>(count, du + row * G, dh + previous, onto_previous);
  }
}

// dW [G, C] = sum over rows of d_hidden^T times the state before.
template <class T>
Tensor weight_gradient(const Trace& trace, const Tensor& d_hidden, std::int64_t C) {
  const TimeOrder& order = trace.order;
  const std::int64_t G = d_hidden.size(1);
  kernels::PoolArray<T> before(order.tokens() * C);
  for (std::int64_t t = 0; t < order.steps(); ++t) {
    const T* from = trace.states.data<T>() + order.previous_row(t) * C;
    std::copy(from, from + order.count(t) * C, before.data() + order.gate_row(t) * C);
  }
  Tensor gradient = Tensor::empty({G, C}, d_hidden.dtype());
  kernels::gemm<T>(G, C, order.tokens(), d_hidden.data<T>(), G, true, before.data(), C, false,
                   gradient.mutable_data<T>(), C);
  return gradient;
}

// Gradients of input, weight, bias and initial state.
template <class T>
void give_gradients(Backward& g, Cell cell, const Trace& trace, const Weight& weight, std::int64_t sequences) {
  const TimeOrder& order = trace.order;
  const std::int64_t C = weight.in(), G = weight.out();
  Tensor d_states = Tensor::empty({order.states(), C}, weight.dtype());
  T* rows = d_states.mutable_data<T>();
  std::fill_n(rows, order.initial_rows() * C, T{0});
  kernels::gather_rows(g.grad().data<T>(), order.token_of_row(), rows + order.initial_rows() * C, order.tokens(), C);
  Tensor d_input = Tensor::empty({order.tokens(), G}, weight.dtype());
  Tensor d_hidden = cell == Cell::rnn ? d_input : Tensor::empty({order.tokens(), G}, weight.dtype());
  walk_backward<T>(cell, trace, weight, d_states, d_input, d_hidden);

  if (g.wants(0)) {
    Tensor gradient = Tensor::empty(d_input.shape(), weight.dtype());
    kernels::gather_rows(d_input.data<T>(), order.row_of_token(), gradient.mutable_data<T>(), order.tokens(), G);
    g.give(0, gradient);
  }
  if (g.wants(1)) g.give(1, weight_gradient<T>(trace, d_hidden, C));
  if (g.wants(2)) {
    Tensor gradient = Tensor::empty({G}, weight.dtype());
    kernels::sum_columns(d_hidden.data<T>(), gradient.mutable_data<T>(), order.tokens(), G);
    g.give(2, gradient);
  }
  if (g.wants(3)) {
    Tensor gradient = Tensor::zeros({sequences, C}, weight.dtype());  // what an empty sequence keeps
    kernels::scatter_add_rows(d_states.data<T>(), order.sequence_of_initial_row(), gradient.mutable_data<T>(),
                              order.initial_rows(), C);
    g.give(3, gradient);
  }
}

void check_inputs(const char* op, Cell cell, const Packed& input, const Weight& weight, const Tensor& bias,
                  const Tensor& initial) {
  weight.check_type(op, input.values);
  const std::int64_t gates = cell == Cell::rnn ? 1 : 3;
  HEED_CHECK(weight.out() == gates * weight.in(), "[", op, "] weight_hh ", weight.shape(), ", expected [",
             gates == 1 ? "" : "3 ", "C, C]");
  HEED_CHECK(input.values.rank() == 2 && input.values.size(1) == weight.out(), "[", op, "] input ",
             input.values.shape(), " for weight_hh ", weight.shape(), ", expected [N, ", weight.out(), "]");
  if (bias.defined()) {
    check_same_dtype(op, input.values, bias);
    HEED_CHECK(bias.shape() == Shape({weight.out()}), "[", op, "] bias_hh ", bias.shape(), " for weight_hh ",
               weight.shape());
  }
  if (initial.defined()) {
    check_same_dtype(op, input.values, initial);
    const Shape expected = {input.offsets.sequences(), weight.in()};
    HEED_CHECK(initial.shape() == expected, "[", op, "] initial state ", initial.shape(), ", expected ", expected);
  }
}

Tensor optional_contiguous(const Tensor& x) {
  return x.defined() ? x.detached_contiguous() : x;
}

Tensor sequence_op(const char* op, Cell cell, const Packed& input, const Weight& weight, const Tensor& bias_hh,
                   const Tensor& initial, bool reverse) {
  check_inputs(op, cell, input, weight, bias_hh, initial);
  const Packed flat_input(input.values.detached_contiguous(), input.offsets);
  const bool recorded = records({input.values, weight.parameter(), bias_hh, initial});
  Trace trace{TimeOrder(input.offsets, reverse), {}, {}, {}};
  Tensor y = Tensor::empty({input.offsets.tokens(), weight.in()}, weight.dtype());
  visit_float(op, weight.dtype(), [&](auto zero) {
    using T = decltype(zero);
    walk_forward<T>(cell, flat_input, weight, optional_contiguous(bias_hh), optional_contiguous(initial), trace,
                    recorded);
    const T* after_steps = trace.states.data<T>() + trace.order.initial_rows() * weight.in();
    kernels::gather_rows(after_steps, trace.order.row_of_token(), y.mutable_data<T>(), y.size(0), y.size(1));
  });
  if (cell == Cell::rnn) trace.gates = Tensor();  // its gradient needs the states alone
  return record(op, y, {input.values, weight.parameter(), bias_hh, initial},
                [op, cell, trace = std::move(trace), weight = weight.detach(),
                 sequences = input.offsets.sequences()](Backward& g) {
                  visit_float(op, weight.dtype(),
                              [&](auto zero) { give_gradients<decltype(zero)>(g, cell, trace, weight, sequences); });
                });
}

}  // namespace

Tensor rnn_sequence(const Packed& input, const Weight& weight_hh, const Tensor& bias_hh, const Tensor& initial,
                    bool reverse) {
  return sequence_op("rnn_sequence", Cell::rnn, input, weight_hh, bias_hh, initial, reverse);
}

Tensor gru_sequence(const Packed& input, const Weight& weight_hh, const Tensor& bias_hh, const Tensor& initial,
                    bool reverse) {
  return sequence_op("gru_sequence", Cell::gru, input, weight_hh, bias_hh, initial, reverse);
}

}  // namespace heed
