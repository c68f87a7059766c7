#include "heed/attention/additive.h"

#include "heed/base/memory.h"
#include "heed/kernels/activation.h"
#include "heed/kernels/reduce.h"
#include "heed/ops/reduce.h"

namespace heed {

template <class T>
AdditiveFunction<T>::AdditiveFunction(const Tensor& q, const Tensor& k, Tensor weight, const AttentionLayout& layout)
    : q_(q.detached_contiguous()),
      k_(k.detached_contiguous()),
      weight_(std::move(weight)),
      layout_(layout),
      heads_(q_.size(1)),
      key_heads_(k_.size(1)),
      width_(q_.size(2)) {}

template <class T>
void AdditiveFunction<T>::prepare_backward() {
  dq_ = Tensor::zeros(q_.shape(), q_.dtype());
  dk_ = Tensor::zeros(k_.shape(), k_.dtype());
  d_weight_ = Tensor::zeros({layout_.queries.sequences(), heads_, width_}, q_.dtype());
}

template <class T>
const T* AdditiveFunction<T>::query_row(const kernels::ScoreTile<T>& tile, std::int64_t i) const {
  const std::int64_t token = layout_.queries.begin(tile.sequence) + tile.query_begin + i;
  return q_.data<T>() + (token * heads_ + tile.head) * width_;
}

template <class T>
const T* AdditiveFunction<T>::key_row(const kernels::ScoreTile<T>& tile, std::int64_t j) const {
  const std::int64_t token = layout_.keys.begin(tile.sequence) + tile.key_begin + j;
  return k_.data<T>() + (token * key_heads_ + tile.head / (heads_ / key_heads_)) * width_;
}

template <class T>
const T* AdditiveFunction<T>::weight_row(std::int64_t head) const {
  return weight_.data<T>() + (weight_.rank() == 2 ? head * width_ : 0);
}

// e_ij = sum_d w_d t_ijd,  t = tanh(q_i + k_j)
template <class T>
void AdditiveFunction<T>::scores(const kernels::ScoreTile<T>& tile) const {
  PoolVector<T> t(static_cast<std::size_t>(width_));
  const T* w = weight_row(tile.head);
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    const T* q = query_row(tile, i);
    for (std::int64_t j = 0; j < tile.keys; ++j) {
      const T* k = key_row(tile, j);
      for (std::int64_t d = 0; d < width_; ++d) t[static_cast<std::size_t>(d)] = q[d] + k[d];
      kernels::activate<T>(kernels::Activation::tanh, t.data(), t.data(), width_);
      tile.scores[i * tile.ld + j] = static_cast<T>(kernels::dot<T>(t.data(), w, width_));
    }
  }
}

// dw_d += de t_d;  dq_id = dk_jd += de w_d (1 - t_d^2)
template <class T>
void AdditiveFunction<T>::backward(const kernels::ScoreTile<T>& d_scores) {
  PoolVector<T> t(static_cast<std::size_t>(width_));
  const T* w = weight_row(d_scores.head);
  T* dw = d_weight_.mutable_data<T>() + (d_scores.sequence * heads_ + d_scores.head) * width_;
  T *dq_all = dq_.mutable_data<T>(), *dk_all = dk_.mutable_data<T>();
  for (std::int64_t i = 0; i < d_scores.queries; ++i) {
    const T* q = query_row(d_scores, i);
    T* dq = dq_all + (q - q_.data<T>());
    for (std::int64_t j = 0; j < d_scores.keys; ++j) {
      const T de = d_scores.scores[i * d_scores.ld + j];
      if (de == 0) continue;
      const T* k = key_row(d_scores, j);
      T* dk = dk_all + (k - k_.data<T>());
      for (std::int64_t d = 0; d < width_; ++d) t[static_cast<std::size_t>(d)] = q[d] + k[d];
      kernels::activate<T>(kernels::Activation::tanh, t.data(), t.data(), width_);
      for (std::int64_t d = 0; d < width_; ++d) {
        const T th = t[static_cast<std::size_t>(d)], through = de * w[d] * (1 - th * th);
        dw[d] += de * th;
        dq[d] += through;
        dk[d] += through;
      }
    }
  }
}

template <class T>
Tensor AdditiveFunction<T>::weight_gradient() const {
  const Tensor by_head = sum_over_axis(d_weight_, 0).detached_reshape({heads_, width_});
  return weight_.rank() == 2 ? by_head : sum_over_axis(by_head, 0).detached_reshape({width_});
}

template class AdditiveFunction<float>;
template class AdditiveFunction<double>;

}  // namespace heed
