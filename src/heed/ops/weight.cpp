#include "heed/ops/weight.h"

#include <algorithm>
#include <mutex>

#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/stored_matrix.h"
#include "heed/ops/checks.h"
#include "heed/ops/shape_ops.h"

namespace heed {
namespace {

bool is_half(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16;
}

// Whether the rows (by_columns: columns) of all these matrices are runs in memory.
bool have_runs(std::span<const Tensor> matrices, bool by_columns) {
  const int along = by_columns ? 0 : 1;
  return std::ranges::all_of(matrices, [&](const Tensor& each) {
    return each.strides()[static_cast<std::size_t>(along)] == 1 || each.size(along) <= 1;
  });
}

const std::uint16_t* half_bits(const Tensor& x) {
  return x.dtype() == DType::f16 ? &x.data<Float16>()->bits : &x.data<BFloat16>()->bits;
}

// One below the other, as one contiguous tensor.
Tensor joined(std::span<const Tensor> parts, const Shape& shape) {
  if (parts.size() == 1) return parts[0].detached_contiguous();
  Tensor whole = Tensor::empty(shape, parts[0].dtype());
  std::int64_t row = 0;
  for (const Tensor& part : parts) {
    Tensor rows = whole.detached_slice(0, row, row + part.size(0));
    rows.copy_from(part);
    row += part.size(0);
  }
  return whole;
}

// A tensor as it was at a time: its bytes may go, and no later storage is mistaken for it.
class Trace {
 public:
  explicit Trace(const Tensor& tensor)
      : storage_(tensor.storage()),
        version_(tensor.storage()->version()),
        offset_(tensor.offset()),
        shape_(tensor.shape()),
        strides_(tensor.strides()) {}

  bool is_of(const Tensor& tensor) const {
    const auto& storage = tensor.storage();
    return !storage_.owner_before(storage) && !storage.owner_before(storage_) && version_ == storage->version() &&
           offset_ == tensor.offset() && shape_ == tensor.shape() && strides_ == tensor.strides();
  }

 private:
  std::weak_ptr<Storage> storage_;
  std::uint64_t version_;
  std::int64_t offset_;
  Shape shape_;
  Strides strides_;
};

}  // namespace

// One packed form and what it was made from.
class Weight::Form {
 public:
  // b = W^T if transposed, else W.
  template <class T>
  std::shared_ptr<const kernels::PackedMatrix<T>> of(const Weight& weight, bool transposed) {
    using Matrix = kernels::PackedMatrix<T>;
    // Packing happens under the lock: a second thread that wants the form waits instead of packing again.
    std::lock_guard lock(mutex_);
    const std::span<const Tensor> tensors = weight.tensors();
    if (!matrix_ || !std::ranges::equal(made_from_, tensors, &Trace::is_of)) {
      matrix_.reset();  // so that its memory serves the new one
      made_from_.clear();
      for (const Tensor& tensor : tensors) made_from_.emplace_back(tensor);
      const Tensor w = joined(tensors, weight.shape());
      const std::int64_t out = w.size(0), in = w.size(1);
      matrix_ = std::allocate_shared<const Matrix>(
          PoolAllocator<Matrix>(),
          Matrix::pack(w.data<T>(), transposed ? in : out, transposed ? out : in, in, transposed));
    }
    return std::static_pointer_cast<const Matrix>(matrix_);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const void> matrix_;  // PackedMatrix of the storage's type
  PoolVector<Trace> made_from_;
};

struct Weight::Forms {
  Form forward, backward;
};

Weight::Weight(Tensor parameter) : parameter_(std::move(parameter)), forms_(std::make_shared<Forms>()) {
  HEED_CHECK(parameter_.defined() && parameter_.rank() == 2, "[Weight] ", parameter_.shape(), ", expected [out, in]");
}

Weight Weight::stored(std::vector<Tensor> parts) {
  HEED_CHECK(!parts.empty(), "[Weight] is stored in no part");
  const Tensor& first = parts.front();
  std::int64_t rows = 0;
  for (const Tensor& part : parts) {
    HEED_CHECK(part.defined() && part.rank() == 2, "[Weight] ", part.shape(), ", expected [out, in]");
    HEED_CHECK(part.size(1) == first.size(1) && part.dtype() == first.dtype(), "[Weight] parts ", first.dtype(),
               first.shape(), " and ", part.dtype(), part.shape(), ", expected one type and width");
    rows += part.size(0);
  }
  Weight weight;
  weight.stored_shape_ = first.shape().with(0, rows);
  if (!have_runs(parts, false) && !have_runs(parts, true)) {
    for (Tensor& part : parts) part = part.detached_contiguous();
  }
  weight.stored_ = std::make_shared<const std::vector<Tensor>>(std::move(parts));
  weight.forms_ = std::make_shared<Forms>();
  return weight;
}

DType Weight::dtype() const {
  const DType stored = tensors().front().dtype();
  return is_half(stored) ? DType::f32 : stored;
}

void Weight::check_type(const char* op, const Tensor& x) const {
  check_defined(op, x);
  HEED_CHECK(x.dtype() == dtype(), "[", op, "] types differ: ", x.dtype(), x.shape(), " and weight ", dtype(), shape());
}

Weight Weight::detach() const {
  Weight detached = *this;
  detached.parameter_ = parameter_.detach();
  return detached;
}

Weight Weight::rows(std::int64_t begin, std::int64_t end) const {
  HEED_CHECK(0 <= begin && begin < end && end <= out(), "[Weight] rows ", begin, " to ", end, " of ", shape());
  if (!stored_) return Weight(slice(parameter_, 0, begin, end));
  std::vector<Tensor> chosen;
  std::int64_t first = 0;  // row of the part
  for (const Tensor& part : parts()) {
    const std::int64_t from = std::max(begin - first, std::int64_t{0}), to = std::min(end - first, part.size(0));
    if (from < to) chosen.push_back(part.detached_slice(0, from, to));
    first += part.size(0);
  }
  return stored(std::move(chosen));
}

kernels::StoredMatrix Weight::halves() const {
  kernels::StoredMatrix w{.format = parts().front().dtype() == DType::f16 ? kernels::StoredMatrix::Format::f16
                                                                          : kernels::StoredMatrix::Format::bf16,
                          .rows = out(),
                          .columns = in(),
                          .by_columns = !have_runs(parts(), false)};
  for (const Tensor& part : parts()) {
    // The stride of an axis of size 1 is anything.
    const int across = w.by_columns ? 1 : 0, along = 1 - across;
    const std::int64_t ld = part.size(across) > 1 ? part.strides()[static_cast<std::size_t>(across)] : part.size(along);
    w.parts.push_back({half_bits(part), part.size(0), ld});
  }
  return w;
}

template <class T>
void Weight::multiply(bool transposed, std::int64_t rows, const T* x, T* y,
                      const kernels::Epilogue<T>& epilogue) const {
  const std::int64_t from = transposed ? in() : out(), to = transposed ? out() : in();
  if constexpr (std::is_same_v<T, float>) {
    if (stored_ && is_half(stored_->front().dtype())) {
      return kernels::gemm(rows, x, from, halves(), transposed, y, to, epilogue);
    }
  }
  Form& form = transposed ? forms_->forward : forms_->backward;
  kernels::gemm<T>(rows, x, from, false, *form.of<T>(*this, transposed), y, to, epilogue);
}

template <class T>
void Weight::apply(std::int64_t rows, const T* x, T* y, const kernels::Epilogue<T>& epilogue) const {
  multiply<T>(true, rows, x, y, epilogue);
}

template <class T>
void Weight::apply_transposed(std::int64_t rows, const T* dy, T* dx, const kernels::Epilogue<T>& epilogue) const {
  multiply<T>(false, rows, dy, dx, epilogue);
}

template void Weight::apply(std::int64_t, const float*, float*, const kernels::Epilogue<float>&) const;
template void Weight::apply(std::int64_t, const double*, double*, const kernels::Epilogue<double>&) const;
template void Weight::apply_transposed(std::int64_t, const float*, float*, const kernels::Epilogue<float>&) const;
template void Weight::apply_transposed(std::int64_t, const double*, double*, const kernels::Epilogue<double>&) const;

}  // namespace heed
