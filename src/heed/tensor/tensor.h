// Tensor: a value with shape, strides and element type over shared bytes.
//
// Copying a Tensor copies the handle, not the bytes; a view (transpose, slice, expand, reshape of contiguous bytes) is
// another handle on the same bytes. Bytes are changed only through mutable_data(), which nothing but initialisers,
// loaders and optimizers call: every op returns a new tensor. Methods named detached_ lose the history of gradients;
// reshape(x, ..), transpose, slice and contiguous of ops/shape_ops.h keep it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/tensor/dtype.h"
#include "heed/tensor/shape.h"
#include "heed/tensor/storage.h"

namespace heed {

struct Autograd;  // tensor/autograd.h

class Tensor {
 public:
  Tensor() = default;  // not defined: no bytes

  static Tensor empty(const Shape& shape, DType dtype = DType::f32);
  static Tensor zeros(const Shape& shape, DType dtype = DType::f32);
  static Tensor full(const Shape& shape, double value, DType dtype = DType::f32);
  // Copies values.size() == shape.count() elements.
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape);
  template <class T>
  static Tensor from(const std::vector<T>& values, const Shape& shape) {
    return from(std::span<const T>(values), shape);
  }
  template <class T>
  static Tensor from(std::initializer_list<T> values, const Shape& shape) {
    return from(std::span<const T>(values.begin(), values.size()), shape);
  }
  // A read-only tensor over bytes that `owner` keeps alive; `bytes` is aligned for the type.
  static Tensor borrow(const void* bytes, const Shape& shape, DType dtype, std::shared_ptr<const void> owner);

  bool defined() const { return storage_ != nullptr; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  std::int64_t size(int axis) const { return shape_[axis]; }
  std::int64_t count() const { return shape_.count(); }
  DType dtype() const { return dtype_; }
  const Strides& strides() const { return strides_; }
  bool is_contiguous() const;
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  // First element, in elements from the start of the storage.
  std::int64_t offset() const { return offset_; }

  // The first element; the type must match. data() of a strided tensor is to be walked by strides().
  template <class T>
  const T* data() const;
  template <class T>
  T* mutable_data();

  // One element, converted; for tests, printing and scalars.
  double at(std::initializer_list<std::int64_t> index) const;
  double item() const;  // of a tensor with one element
  // All elements in row-major order.
  template <class T>
  std::vector<T> to_vector() const;

  // Views: the same bytes.
  Tensor detached_view(const Shape& shape, const Strides& strides, std::int64_t offset) const;
  Tensor detached_reshape(const Shape& shape) const;  // of a contiguous tensor
  Tensor detached_transpose(int axis_a, int axis_b) const;
  Tensor detached_slice(int axis, std::int64_t begin, std::int64_t end) const;
  Tensor detached_expand(const Shape& shape) const;  // stride 0 where a size 1 is stretched
  // The same values without history.
  Tensor detach() const;

  // The same values in new contiguous bytes.
  Tensor detached_clone() const;
  // Itself if contiguous, else a clone.
  Tensor detached_contiguous() const;
  // Converted to another type (the same bytes if it is of that type already); floats round to nearest even.
  Tensor detached_to(DType dtype) const;
  // Overwrites the elements with those of `source` (same shape, any type).
  void copy_from(const Tensor& source);

  // Gradients (tensor/autograd.h). A leaf that requires them accumulates into grad() on backward().
  Tensor& set_requires_grad(bool wanted = true);
  bool requires_grad() const;
  Tensor grad() const;  // not defined before the first backward()
  void set_grad(const Tensor& grad);
  void clear_grad();
  const std::shared_ptr<Autograd>& autograd() const { return autograd_; }
  void set_autograd(std::shared_ptr<Autograd> state) { autograd_ = std::move(state); }

 private:
  std::shared_ptr<Storage> storage_;
  std::shared_ptr<Autograd> autograd_;
  Shape shape_;
  Strides strides_{};
  std::int64_t offset_ = 0;
  DType dtype_ = DType::f32;
};

// Same shape, type and bytes (all zero bits differ from negative zero): what "same bits" means in tests.
bool same_bits(const Tensor& a, const Tensor& b);

}  // namespace heed
