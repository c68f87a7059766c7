// Weights that are functions of their names, as tools/huggingface_values.py makes them.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "heed/models/model.h"
#include "heed/models/published.h"
#include "heed/tensor/tensor.h"

namespace heed::test {

inline Tensor huggingface_weights(const std::string& name, const Shape& shape) {
  std::uint32_t seed = 2166136261U;
  for (const char byte : name) seed = (seed ^ static_cast<unsigned char>(byte)) * 16777619U;
  const double size = shape.rank() > 1 ? 2 / std::sqrt(static_cast<double>(shape[shape.rank() - 1])) : 0.3;
  const double middle = shape.rank() == 1 && name.ends_with("weight") ? 1 : 0;
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.count(); ++i) {
    std::uint32_t x = seed + static_cast<std::uint32_t>(i) * 0x9E3779B9U;
    x = (x ^ (x >> 16)) * 0x85EBCA6BU;
    x = (x ^ (x >> 13)) * 0xC2B2AE35U;
    x = (x ^ (x >> 16)) >> 8;
    values.push_back(static_cast<float>(size * (static_cast<double>(x) / (1 << 23) - 1) + middle));
  }
  return Tensor::from(values, shape);
}

inline void set_huggingface_weights(Model& model) {
  for (PublishedTensor& tensor : published_tensors(model)) {
    tensor.values.copy_from(tensor.arranged(huggingface_weights(tensor.name, tensor.shape())));
  }
}

}  // namespace heed::test
