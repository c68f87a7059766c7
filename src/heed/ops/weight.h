// A matrix [out, in] for products y = x W^T, together with what the GEMM kernel wants to have of it.
//
// It is one of two things. A parameter is a tensor that is trained, loaded and saved; products run on a packed form
// that is made on first use, and again after the parameter was written to or replaced. A stored weight is what a file
// holds, for inference: its parts are views of the mapped file, and 16-bit numbers are multiplied where they lie.
// Callers see shapes and products alone, so that another representation (int8 with scales) is a matter of this class.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

namespace kernels {
template <class T>
struct Epilogue;  // kernels/gemm.h; {} for none
struct StoredMatrix;
}  // namespace kernels

// Copying copies the handle: copies share packed forms. Any number of threads may multiply by one weight; if several
// want a form that is not there yet, one makes it and the others wait.
class Weight {
 public:
  // [out, in] with any strides, f32 or (for checks) f64.
  explicit Weight(Tensor parameter);
  // Rows one part below the other: one type, f32, f16 or bf16, and all [rows, in] or all transposed views of [in,
  // rows].
  static Weight stored(std::vector<Tensor> parts);

  std::int64_t out() const { return shape()[0]; }
  std::int64_t in() const { return shape()[1]; }
  const Shape& shape() const { return stored_ ? stored_shape_ : parameter_.shape(); }
  DType dtype() const;  // of x and y
  void check_type(const char* op, const Tensor& x) const;

  // y [rows, out] = epilogue(x [rows, in] W^T)
  template <class T>
  void apply(std::int64_t rows, const T* x, T* y, const kernels::Epilogue<T>& epilogue) const;
  // dx [rows, in] = epilogue(dy [rows, out] W)
  template <class T>
  void apply_transposed(std::int64_t rows, const T* dy, T* dx, const kernels::Epilogue<T>& epilogue) const;

  // For loaders and optimizers, which change or replace the tensor, and for ops, which record gradients for it. Not
  // defined for a stored weight.
  Tensor& parameter() { return parameter_; }
  const Tensor& parameter() const { return parameter_; }
  // The parts of a stored weight; none of a parameter.
  std::span<const Tensor> parts() const {
    return stored_ ? std::span<const Tensor>(*stored_) : std::span<const Tensor>();
  }
  // The matrix, or what there is of it: the parameter, or the parts.
  std::span<const Tensor> tensors() const { return stored_ ? parts() : std::span<const Tensor>(&parameter_, 1); }
  // The same without history: what a gradient rule keeps.
  Weight detach() const;
  // Some of the rows, at least one: of a parameter with history, of a stored weight without a copy. Their packed forms
  // are their own.
  Weight rows(std::int64_t begin, std::int64_t end) const;

 private:
  class Form;
  struct Forms;

  Weight() = default;
  template <class T>
  void multiply(bool transposed, std::int64_t rows, const T* x, T* y, const kernels::Epilogue<T>& epilogue) const;
  kernels::StoredMatrix halves() const;

  Tensor parameter_;
  std::shared_ptr<const std::vector<Tensor>> stored_;  // null: it is a parameter
  Shape stored_shape_;
  std::shared_ptr<Forms> forms_;
};

}  // namespace heed
