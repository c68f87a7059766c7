// A matrix [out, in] for products y = x W^T, together with the packed forms that the GEMM kernel wants.
//
// The parameter is the tensor that is trained, loaded and saved. What products run on is made from it on first use, and
// again after the parameter was written to or replaced. Callers see shapes and products alone, so that another
// representation (bf16, f16, int8 with scales) is a matter of this class.
#pragma once

#include <memory>

#include "heed/tensor/tensor.h"

namespace heed {

namespace kernels {
template <class T>
struct Epilogue;  // kernels/gemm.h; {} for none
}

// Copying copies the handle: copies share packed forms. Any number of threads may multiply by one weight; if several
// want a form that is not there yet, one makes it and the others wait.
class Weight {
 public:
  // [out, in] with any strides, f32 or (for checks) f64.
  explicit Weight(Tensor matrix);

  std::int64_t out() const { return parameter_.size(0); }
  std::int64_t in() const { return parameter_.size(1); }
  const Shape& shape() const { return parameter_.shape(); }
  DType dtype() const { return parameter_.dtype(); }  // of x and y
  void check_type(const char* op, const Tensor& x) const;

  // y [rows, out] = epilogue(x [rows, in] W^T)
  template <class T>
  void apply(std::int64_t rows, const T* x, T* y, const kernels::Epilogue<T>& epilogue) const;
  // dx [rows, in] = epilogue(dy [rows, out] W)
  template <class T>
  void apply_transposed(std::int64_t rows, const T* dy, T* dx, const kernels::Epilogue<T>& epilogue) const;

  // For loaders and optimizers, which change or replace the tensor, and for ops, which record gradients for it.
  Tensor& parameter() { return parameter_; }
  const Tensor& parameter() const { return parameter_; }
  // The same without history: what a gradient rule keeps.
  Weight detach() const;

 private:
  class Form;
  struct Forms;

  Tensor parameter_;
  std::shared_ptr<Forms> forms_;
};

}  // namespace heed
