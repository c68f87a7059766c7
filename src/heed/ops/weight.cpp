#include "heed/ops/weight.h"

#include <mutex>

#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/kernels/gemm.h"
#include "heed/ops/checks.h"

namespace heed {

// One packed form and what it was made from.
class Weight::Form {
 public:
  // b = W^T if transposed, else W.
  template <class T>
  std::shared_ptr<const kernels::PackedMatrix<T>> of(const Tensor& parameter, bool transposed) {
    using Matrix = kernels::PackedMatrix<T>;
    // Packing happens under the lock: a second thread that wants the form waits instead of packing again.
    std::lock_guard lock(mutex_);
    if (!is_made_from(parameter)) {
      matrix_.reset();  // so that its memory serves the new one
      remember(parameter);
      const Tensor w = parameter.detached_contiguous();
      const std::int64_t out = w.size(0), in = w.size(1);
      matrix_ = std::allocate_shared<const Matrix>(
          PoolAllocator<Matrix>(),
          Matrix::pack(w.data<T>(), transposed ? in : out, transposed ? out : in, in, transposed));
    }
    return std::static_pointer_cast<const Matrix>(matrix_);
  }

 private:
  bool is_made_from(const Tensor& parameter) const {
    const auto& storage = parameter.storage();
    return matrix_ && !storage_.owner_before(storage) && !storage.owner_before(storage_) &&
           version_ == storage->version() && offset_ == parameter.offset() && shape_ == parameter.shape() &&
           strides_ == parameter.strides();
  }

  void remember(const Tensor& parameter) {
    storage_ = parameter.storage();
    version_ = parameter.storage()->version();
    offset_ = parameter.offset();
    shape_ = parameter.shape();
    strides_ = parameter.strides();
  }

  std::mutex mutex_;
  std::shared_ptr<const void> matrix_;  // PackedMatrix of the storage's type
  std::weak_ptr<Storage> storage_;      // its bytes may go; no later storage is mistaken for it
  std::uint64_t version_ = 0;
  std::int64_t offset_ = 0;
  Shape shape_;
  Strides strides_{};
};

struct Weight::Forms {
  Form forward, backward;
};

Weight::Weight(Tensor matrix) : parameter_(std::move(matrix)), forms_(std::make_shared<Forms>()) {
  HEED_CHECK(parameter_.defined() && parameter_.rank() == 2, "[Weight] ", parameter_.shape(), ", expected [out, in]");
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

template <class T>
void Weight::apply(std::int64_t rows, const T* x, T* y, const kernels::Epilogue<T>& epilogue) const {
  kernels::gemm<T>(rows, x, in(), false, *forms_->forward.of<T>(parameter_, true), y, out(), epilogue);
}

template <class T>
void Weight::apply_transposed(std::int64_t rows, const T* dy, T* dx, const kernels::Epilogue<T>& epilogue) const {
  kernels::gemm<T>(rows, dy, out(), false, *forms_->backward.of<T>(parameter_, false), dx, in(), epilogue);
}

template void Weight::apply(std::int64_t, const float*, float*, const kernels::Epilogue<float>&) const;
template void Weight::apply(std::int64_t, const double*, double*, const kernels::Epilogue<double>&) const;
template void Weight::apply_transposed(std::int64_t, const float*, float*, const kernels::Epilogue<float>&) const;
template void Weight::apply_transposed(std::int64_t, const double*, double*, const kernels::Epilogue<double>&) const;

}  // namespace heed
