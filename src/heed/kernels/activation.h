// The activation functions that layers and fused epilogues know.
#pragma once

namespace heed::kernels {

// gelu is the exact one (erf); gelu_tanh is its tanh approximation.
enum class Activation { none, relu, gelu, gelu_tanh, silu, tanh, sigmoid };

}  // namespace heed::kernels
