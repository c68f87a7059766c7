// The elementwise end of a matrix product: from the sums of a block to C. Included once per target.
#if defined(HEED_KERNELS_GEMM_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_GEMM_EPILOGUE_INL_H_
#undef HEED_KERNELS_GEMM_EPILOGUE_INL_H_
#else
#define HEED_KERNELS_GEMM_EPILOGUE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "heed/kernels/activation-inl.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows m .. m + rows - 1 and columns n .. n + columns - 1 of C. Their sums stand in their own block.
template <class T>
struct EpilogueBlock {
  std::int64_t m, n, rows, columns;
  const T* sum;
  std::int64_t sum_ld;
  T* c;  // all of C
  std::int64_t ldc;
};

// Fetches what the epilogue of these rows, one panel wide, will read and write beside the sums, while their products
// are computed: the distance of rows defeats the hardware.
template <class T>
HWY_INLINE void prefetch_operands(const Epilogue<T>& e, std::int64_t m, std::int64_t n, std::int64_t rows) {
  for (std::int64_t r = m; r < m + rows; ++r) {
    if (e.derivative) __builtin_prefetch(e.derivative + r * e.derivative_ld + n, 1);
    if (e.factor) __builtin_prefetch(e.factor + r * e.factor_ld + n);
    if (e.residual) __builtin_prefetch(e.residual + r * e.residual_ld + n);
  }
}

template <Activation A, bool kDerivative, class T>
void finish_block(const EpilogueBlock<T>& block, const Epilogue<T>& e) {
  const hn::ScalableTag<T> d;
  const std::int64_t vector = lanes(d);
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const std::int64_t m = block.m + r;
    for (std::int64_t j = 0; j < block.columns; j += vector) {
      const std::int64_t n = block.n + j, count = HWY_MIN(vector, block.columns - j);
      auto value = load_some(d, block.sum + r * block.sum_ld + j, count);
      if (e.bias) value = hn::Add(value, load_some(d, e.bias + n, count));
      if constexpr (kDerivative) {
        store_some(activate_derivative<A>(d, value), d, e.derivative + m * e.derivative_ld + n, count);
      }
      value = activate<A>(d, value);
      if (e.factor) value = hn::Mul(value, load_some(d, e.factor + m * e.factor_ld + n, count));
      if (e.residual) value = hn::Add(value, load_some(d, e.residual + m * e.residual_ld + n, count));
      T* c = block.c + m * block.ldc + n;
      if (e.accumulate) value = hn::Add(value, load_some(d, c, count));
      store_some(value, d, c, count);
    }
  }
}

template <Activation A, class T>
void finish_block(const EpilogueBlock<T>& block, const Epilogue<T>& e) {
  e.derivative ? finish_block<A, true>(block, e) : finish_block<A, false>(block, e);
}

template <class T>
void finish_block(const EpilogueBlock<T>& block, const Epilogue<T>& e) {
  switch (e.activation) {
    case Activation::none: return finish_block<Activation::none>(block, e);
    case Activation::relu: return finish_block<Activation::relu>(block, e);
    case Activation::gelu: return finish_block<Activation::gelu>(block, e);
    case Activation::gelu_tanh: return finish_block<Activation::gelu_tanh>(block, e);
    case Activation::silu: return finish_block<Activation::silu>(block, e);
    case Activation::tanh: return finish_block<Activation::tanh>(block, e);
    case Activation::sigmoid: return finish_block<Activation::sigmoid>(block, e);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
