// Recurrent layers over packed sequences: the baselines that attention replaced.
//
// The input's part of the gates comes ready, one linear() over all tokens; these ops walk time and add the hidden
// state's part. All sequences that are still alive at a step are one small batch, and the row of a sequence has the
// same bits whatever else is in it. Gradients are backpropagation through time over the whole sequence.
//
// N tokens, B sequences, C width of the hidden state. Results are the hidden states after each token, [N, C]; the last
// one of a sequence is a row of it. `initial` [B, C] may be undefined (zeros), as may bias_hh. With `reverse` each
// sequence is read from its end. The formulas and the order of the gates are PyTorch's.
#pragma once

#include "heed/ops/weight.h"
#include "heed/tensor/packed.h"
#include "heed/tensor/tensor.h"

namespace heed {

// h = tanh(x + W h' + b): input [N, C], weight_hh [C, C], bias_hh [C].
Tensor rnn_sequence(const Packed& input, const Weight& weight_hh, const Tensor& bias_hh,
                    const Tensor& initial = Tensor(), bool reverse = false);

// r = sigmoid(x_r + W_r h' + b_r),  z = sigmoid(x_z + W_z h' + b_z),  n = tanh(x_n + r (W_n h' + b_n)),
// h = (1 - z) n + z h': input [N, 3C], weight_hh [3C, C], bias_hh [3C], each in the order r, z, n.
Tensor gru_sequence(const Packed& input, const Weight& weight_hh, const Tensor& bias_hh,
                    const Tensor& initial = Tensor(), bool reverse = false);

}  // namespace heed
