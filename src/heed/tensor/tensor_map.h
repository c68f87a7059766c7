// Tensors by name: the state of a module, the contents of a file.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "heed/tensor/tensor.h"

namespace heed {

using TensorMap = std::map<std::string, Tensor, std::less<>>;

}  // namespace heed
