// One time step of recurrent cells, between the matrix products: elementwise, forward and gradient. Rows are the
// sequences of the step, C the width of the hidden state.
#pragma once

#include <cstdint>

namespace heed::kernels {

// h[i] = tanh(x[i] + u[i]): x is the input's part, u the hidden state's (W h + b).
template <class T>
void rnn_cell(const T* x, const T* u, T* h, std::int64_t n);

// da[i] = dh[i] (1 - h[i]^2), the gradient of x and of u
template <class T>
void rnn_cell_backward(const T* h, const T* dh, T* da, std::int64_t n);

// Gates in the order r, z, n:
//   r = sigmoid(x_r + u_r),  z = sigmoid(x_z + u_z),  n = tanh(x_n + r u_n),  h = (1 - z) n + z previous
// gates [rows, 3C] holds x and is overwritten by r, z, n; u [rows, 3C]; previous, h [rows, C]. kept_u [rows, C] gets
// u_n, which the gradient needs; it may be null.
template <class T>
void gru_cell(T* gates, const T* u, const T* previous, T* kept_u, T* h, std::int64_t rows, std::int64_t C);

// From dh [rows, C]: dx and du [rows, 3C], and dprevious [rows, C] += dh z, the part that does not go through u.
template <class T>
void gru_cell_backward(const T* gates, const T* kept_u, const T* previous, const T* dh, T* dx, T* du, T* dprevious,
                       std::int64_t rows, std::int64_t C);

}  // namespace heed::kernels
