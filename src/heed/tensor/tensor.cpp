#include "heed/tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/kernels/convert.h"
#include "heed/kernels/transpose.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

// Calls body(T{}) for any element type.
template <class Body>
void visit_any(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::f32: return body(float{});
    case DType::f64: return body(double{});
    case DType::i32: return body(std::int32_t{});
    case DType::i64: return body(std::int64_t{});
    case DType::f16: return body(Float16{});
    case DType::bf16: return body(BFloat16{});
  }
}

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// Element-wise conversion of contiguous elements. Half types convert through f32 in the kernels.
void convert(const Tensor& from, Tensor& to) {
  const std::int64_t n = from.count();
  visit_any(from.dtype(), [&](auto from_zero) {
    using From = decltype(from_zero);
    visit_any(to.dtype(), [&](auto to_zero) {
      using To = decltype(to_zero);
      const From* source = from.data<From>();
      To* target = to.mutable_data<To>();
      if constexpr (std::is_same_v<From, To>) {
        std::memcpy(target, source, static_cast<std::size_t>(n) * sizeof(To));
      } else if constexpr ((std::is_same_v<From, float> && !std::is_integral_v<To>) ||
                           (std::is_same_v<To, float> && !std::is_integral_v<From>)) {
        kernels::convert(source, target, n);
      } else if constexpr (kIsHalf<From> || kIsHalf<To>) {
        to.copy_from(from.detached_to(DType::f32));
      } else {
        for (std::int64_t i = 0; i < n; ++i) target[i] = static_cast<To>(source[i]);
      }
    });
  });
}

std::int64_t byte_count(const Shape& shape, DType dtype) {
  std::int64_t bytes = 0;
  HEED_CHECK(!__builtin_mul_overflow(shape.count(), element_size(dtype), &bytes), "[Tensor] ", dtype, shape,
             " is too large");
  return bytes;
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype) {
  Tensor result;
  result.storage_ = Storage::allocate(byte_count(shape, dtype));
  result.shape_ = shape;
  result.strides_ = contiguous_strides(shape);
  result.dtype_ = dtype;
  return result;
}

Tensor Tensor::zeros(const Shape& shape, DType dtype) {
  Tensor result = empty(shape, dtype);
  std::memset(result.storage_->mutable_bytes(), 0, static_cast<std::size_t>(result.storage_->size()));
  return result;
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype) {
  Tensor result = empty(shape, dtype);
  visit_any(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kIsHalf<T>) {
      result.copy_from(full(shape, value, DType::f32));
    } else {
      std::fill_n(result.mutable_data<T>(), result.count(), static_cast<T>(value));
    }
  });
  return result;
}

template <class T>
Tensor Tensor::from(std::span<const T> values, const Shape& shape) {
  HEED_CHECK(static_cast<std::int64_t>(values.size()) == shape.count(), "[Tensor] ", values.size(),
             " values for shape ", shape);
  Tensor result = empty(shape, kDTypeOf<T>);
  std::copy(values.begin(), values.end(), result.mutable_data<T>());
  return result;
}

Tensor Tensor::borrow(const void* bytes, const Shape& shape, DType dtype, std::shared_ptr<const void> owner) {
  HEED_CHECK(owner != nullptr, "[Tensor] borrowed bytes need an owner that keeps them alive");
  HEED_CHECK(reinterpret_cast<std::uintptr_t>(bytes) % static_cast<std::uintptr_t>(element_size(dtype)) == 0,
             "[Tensor] borrowed bytes are not aligned for ", dtype);
  Tensor result;
  result.storage_ =
      std::allocate_shared<Storage>(PoolAllocator<Storage>(), bytes, byte_count(shape, dtype), std::move(owner));
  result.shape_ = shape;
  result.strides_ = contiguous_strides(shape);
  result.dtype_ = dtype;
  return result;
}

bool Tensor::is_contiguous() const {
  std::int64_t expected = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    if (shape_[axis] != 1 && strides_[static_cast<std::size_t>(axis)] != expected) return count() == 0;
    expected *= shape_[axis];
  }
  return true;
}

template <class T>
const T* Tensor::data() const {
  HEED_CHECK(defined(), "[Tensor] data() of a tensor that was never given a value");
  HEED_CHECK(dtype_ == kDTypeOf<T>, "[Tensor] data<", kDTypeOf<T>, ">() of a ", dtype_, " tensor ", shape_);
  return reinterpret_cast<const T*>(storage_->bytes()) + offset_;
}

template <class T>
T* Tensor::mutable_data() {
  const T* elements = data<T>();
  storage_->mutable_bytes();
  return const_cast<T*>(elements);
}

double Tensor::at(std::initializer_list<std::int64_t> index) const {
  HEED_CHECK(static_cast<int>(index.size()) == rank(), "[Tensor::at] ", index.size(), " indices for shape ", shape_);
  std::int64_t position = offset_;
  int axis = 0;
  for (std::int64_t i : index) {
    HEED_CHECK(i >= 0 && i < shape_[axis], "[Tensor::at] index ", i, " outside axis ", axis, " of ", shape_);
    position += i * strides_[static_cast<std::size_t>(axis++)];
  }
  return detached_view(Shape(), Strides{}, position).item();
}

double Tensor::item() const {
  HEED_CHECK(count() == 1, "[Tensor::item] shape ", shape_, " has not one element");
  return *detached_contiguous().detached_to(DType::f64).data<double>();
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  const Tensor flat = detached_contiguous();
  const T* elements = flat.data<T>();
  return std::vector<T>(elements, elements + count());
}

Tensor Tensor::detached_view(const Shape& shape, const Strides& strides, std::int64_t offset) const {
  Tensor result;
  result.storage_ = storage_;
  result.shape_ = shape;
  result.strides_ = strides;
  result.offset_ = offset;
  result.dtype_ = dtype_;
  return result;
}

Tensor Tensor::detached_reshape(const Shape& shape) const {
  HEED_CHECK(shape.count() == count(), "[reshape] ", shape_, " has not the elements of ", shape);
  HEED_CHECK_AS(internal, is_contiguous(), "[reshape] a strided view ", shape_, " cannot be reshaped without a copy");
  return detached_view(shape, contiguous_strides(shape), offset_);
}

Tensor Tensor::detached_transpose(int axis_a, int axis_b) const {
  const int a = shape_.normalize_axis(axis_a), b = shape_.normalize_axis(axis_b);
  Strides strides = strides_;
  std::swap(strides[static_cast<std::size_t>(a)], strides[static_cast<std::size_t>(b)]);
  return detached_view(shape_.with(a, shape_[b]).with(b, shape_[a]), strides, offset_);
}

Tensor Tensor::detached_slice(int axis, std::int64_t begin, std::int64_t end) const {
  const int a = shape_.normalize_axis(axis);
  HEED_CHECK(begin >= 0 && begin <= end && end <= shape_[a], "[slice] range ", begin, "..", end, " outside axis ", axis,
             " of ", shape_);
  return detached_view(shape_.with(a, end - begin), strides_, offset_ + begin * strides_[static_cast<std::size_t>(a)]);
}

Tensor Tensor::detached_expand(const Shape& shape) const {
  Strides strides{};
  const int added = shape.rank() - rank();
  HEED_CHECK(added >= 0, "[expand] ", shape_, " to ", shape, ": fewer axes");
  for (int axis = 0; axis < rank(); ++axis) {
    HEED_CHECK(shape_[axis] == shape[axis + added] || shape_[axis] == 1, "[expand] ", shape_, " does not stretch to ",
               shape);
    strides[static_cast<std::size_t>(axis + added)] =
        shape_[axis] == shape[axis + added] ? strides_[static_cast<std::size_t>(axis)] : 0;
  }
  return detached_view(shape, strides, offset_);
}

Tensor Tensor::detach() const {
  Tensor result = *this;
  result.autograd_.reset();
  return result;
}

Tensor Tensor::detached_clone() const {
  Tensor result = empty(shape_, dtype_);
  result.copy_from(*this);
  return result;
}

Tensor Tensor::detached_contiguous() const {
  return is_contiguous() ? detach() : detached_clone();
}

Tensor Tensor::detached_to(DType dtype) const {
  if (dtype == dtype_) return detach();
  Tensor result = empty(shape_, dtype);
  const Tensor source = detached_contiguous();
  convert(source, result);
  return result;
}

void Tensor::copy_from(const Tensor& source) {
  HEED_CHECK(source.shape() == shape_, "[copy] ", source.shape(), " into ", shape_);
  HEED_CHECK(is_contiguous(), "[copy] into a strided view ", shape_);
  if (source.dtype() != dtype_) return convert(source.detached_contiguous(), *this);
  visit_any(dtype_, [&](auto zero) {
    using T = decltype(zero);
    const T* from = source.data<T>();
    T* to = mutable_data<T>();
    if constexpr (kIsHalf<T>) {
      kernels::permuted_copy(&from->bits, shape_.begin(), source.strides_.data(), rank(), &to->bits);
    } else {
      kernels::permuted_copy(from, shape_.begin(), source.strides_.data(), rank(), to);
    }
  });
}

Tensor& Tensor::set_requires_grad(bool wanted) {
  HEED_CHECK(!wanted || dtype_ == DType::f32 || dtype_ == DType::f64, "[set_requires_grad] a ", dtype_,
             " tensor has no gradient");
  HEED_CHECK(!autograd_ || !autograd_->creator, "[set_requires_grad] the tensor is the result of \"",
             autograd_->creator->op, "\": detach() it first");
  if (!wanted) {
    autograd_.reset();
  } else if (!autograd_) {
    autograd_ = std::allocate_shared<Autograd>(PoolAllocator<Autograd>());
    autograd_->shape = shape_;
    autograd_->dtype = dtype_;
  }
  return *this;
}

bool Tensor::requires_grad() const {
  return autograd_ != nullptr;
}

Tensor Tensor::grad() const {
  return autograd_ ? autograd_->grad : Tensor();
}

void Tensor::set_grad(const Tensor& grad) {
  HEED_CHECK(autograd_ != nullptr, "[set_grad] the tensor does not require a gradient");
  HEED_CHECK(!grad.defined() || (grad.shape() == shape_ && grad.dtype() == dtype_), "[set_grad] gradient ",
             grad.dtype(), grad.shape(), " for ", dtype_, shape_);
  autograd_->grad = grad;
}

void Tensor::clear_grad() {
  if (autograd_) autograd_->grad = Tensor();
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor left = a.detached_contiguous(), right = b.detached_contiguous();
  const std::int64_t size = element_size(a.dtype());
  return std::memcmp(left.storage()->bytes() + left.offset() * size, right.storage()->bytes() + right.offset() * size,
                     static_cast<std::size_t>(a.count() * size)) == 0;
}

#define HEED_ELEMENT_TYPE(T)                                      \
  template Tensor Tensor::from(std::span<const T>, const Shape&); \
  template const T* Tensor::data<T>() const;                      \
  template T* Tensor::mutable_data<T>();                          \
  template std::vector<T> Tensor::to_vector<T>() const;
HEED_ELEMENT_TYPE(float)
HEED_ELEMENT_TYPE(double)
HEED_ELEMENT_TYPE(std::int32_t)
HEED_ELEMENT_TYPE(std::int64_t)
HEED_ELEMENT_TYPE(Float16)
HEED_ELEMENT_TYPE(BFloat16)
#undef HEED_ELEMENT_TYPE

}  // namespace heed
