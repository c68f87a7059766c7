#include "heed/nn/initializer.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"

namespace heed {
namespace {

double bound_of(const Initializer& initializer, const Shape& shape) {
  if (initializer.kind == Initializer::Kind::uniform) return initializer.value;
  HEED_CHECK(shape.rank() == 2, "[Initializer] fan-in and fan-out need a weight [out, in], found ", shape);
  const double in = static_cast<double>(shape[1]), out = static_cast<double>(shape[0]);
  return std::sqrt(6.0 / (initializer.kind == Initializer::Kind::xavier_uniform ? in + out : in));
}

}  // namespace

void Initializer::fill(Tensor& parameter, std::uint64_t seed, std::uint64_t stream) const {
  HEED_CHECK(parameter.is_contiguous(), "[Initializer] cannot fill a strided view ", parameter.shape());
  const bool is_uniform = kind == Kind::uniform || kind == Kind::xavier_uniform || kind == Kind::kaiming_uniform;
  const double bound = is_uniform ? bound_of(*this, parameter.shape()) : 0;
  auto draw = [&](std::int64_t i) {
    const auto index = static_cast<std::uint64_t>(i);
    if (kind == Kind::constant) return value;
    if (kind == Kind::normal) return value * heed::normal(seed, stream, index);
    return bound * (2 * uniform_double(seed, stream, index) - 1);
  };
  visit_float("Initializer", parameter.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* out = parameter.mutable_data<T>();
    parallel_for(parameter.count(), 4096, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(draw(i));
    });
  });
}

}  // namespace heed
