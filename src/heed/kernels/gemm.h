// Matrix products with fused epilogues, float and double.
//
// Summation rule: before its epilogue every C[m,n] is one chain of fused multiply-adds in ascending k,
//   s = 0; for k in 0..K-1: s = fma(A[m,k], B[k,n], s)
// whatever M, N, the tile, the thread count, the packing or the layout. Its bits depend on row m of A and column n of
// B alone, and are the same on every instruction set that has a fused multiply-add (on SSE2, which has none, the
// product is rounded before it is added). The epilogue is elementwise, with the vector functions of activation-inl.h.
//
// M = rows of C, N = columns of C, K = length of the sums. All matrices are row-major; ld is the distance of two rows.
#pragma once

#include <cstdint>

#include "heed/kernels/activation.h"
#include "heed/kernels/pool_array.h"

namespace heed::kernels {

struct StoredMatrix;  // stored_matrix.h

// A K x N matrix B laid out for the kernel. Packed once, used by any number of products, from any threads.
template <class T>
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // b is K x N, or, if transposed, N x K (the weight [out, in] of a linear layer).
  static PackedMatrix pack(const T* b, std::int64_t K, std::int64_t N, std::int64_t ld, bool transposed);

  std::int64_t rows() const { return rows_; }        // K
  std::int64_t columns() const { return columns_; }  // N

  // Columns come in panels of 64 bytes: panel p holds columns p * kPanel ..., element [k, j] at k * kPanel + j. The
  // last panel is filled up with zeros.
  static constexpr std::int64_t kPanel = 64 / static_cast<std::int64_t>(sizeof(T));
  std::int64_t panels() const { return (columns_ + kPanel - 1) / kPanel; }
  const T* panel(std::int64_t p) const { return data_.data() + p * rows_ * kPanel; }

 private:
  std::int64_t rows_ = 0, columns_ = 0;
  PoolArray<T> data_;
};

// What happens to each sum, in this order: + bias[n]; store the derivative of the activation; activation;
// * factor[m,n]; + residual[m,n]; + old C[m,n]. Pointers that are null leave their step out. All matrices are M x N.
// residual and factor may be C itself.
template <class T>
struct Epilogue {
  const T* bias = nullptr;  // [N]
  Activation activation = Activation::none;
  // The backward pass of linear + activation needs f' alone: next to f it costs little, and there it is the factor.
  T* derivative = nullptr;
  std::int64_t derivative_ld = 0;
  const T* factor = nullptr;
  std::int64_t factor_ld = 0;
  const T* residual = nullptr;
  std::int64_t residual_ld = 0;
  bool accumulate = false;  // C += instead of C =
};

// C[M,N] = epilogue(op(A)[M,K] * B). op(A) is A (M x K), or, if transposed_a, the transpose of A (K x M): the
// gradient of a weight. M, N and K may be 0.
template <class T>
void gemm(std::int64_t M, const T* a, std::int64_t lda, bool transposed_a, const PackedMatrix<T>& b, T* c,
          std::int64_t ldc, const Epilogue<T>& epilogue = {});

// The same for a B that is used once: K x N, or N x K if transposed_b.
template <class T>
void gemm(std::int64_t M, std::int64_t N, std::int64_t K, const T* a, std::int64_t lda, bool transposed_a, const T* b,
          std::int64_t ldb, bool transposed_b, T* c, std::int64_t ldc, const Epilogue<T>& epilogue = {});

// The same for weights as they are stored: C[M,N] = epilogue(A[M,K] * W^T) if transposed, else epilogue(A * W). The
// bits are those of the product with W converted to floats.
void gemm(std::int64_t M, const float* a, std::int64_t lda, const StoredMatrix& w, bool transposed, float* c,
          std::int64_t ldc, const Epilogue<float>& epilogue = {});

// One operand of a batched product: matrix i starts at data + i * stride.
template <class T>
struct BatchedOperand {
  T* data = nullptr;
  std::int64_t ld = 0;
  std::int64_t stride = 0;
  bool transposed = false;
};

// C_i = op(A_i) * op(B_i), or C_i += if accumulate, for i in 0..batch-1: attention-sized products. c is not transposed.
template <class T>
void gemm_batched(std::int64_t batch, std::int64_t M, std::int64_t N, std::int64_t K, BatchedOperand<const T> a,
                  BatchedOperand<const T> b, BatchedOperand<T> c, bool accumulate = false);

}  // namespace heed::kernels
