// How a parameter starts: seeded, documented, without hidden state.
#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed {

struct Initializer {
  enum class Kind { constant, normal, uniform, xavier_uniform, kaiming_uniform };
  Kind kind = Kind::constant;
  double value = 0;  // constant: the value; normal: the standard deviation; uniform: the bound

  static Initializer zeros() { return {Kind::constant, 0}; }
  static Initializer ones() { return {Kind::constant, 1}; }
  // Mean 0; BERT starts all weights with a standard deviation of 0.02.
  static Initializer normal(double standard_deviation) { return {Kind::normal, standard_deviation}; }
  static Initializer uniform(double bound) { return {Kind::uniform, bound}; }  // in [-bound, bound)
  // Uniform in +-sqrt(6 / (in + out)) for a weight [out, in]: keeps the variance in both directions (Glorot).
  static Initializer xavier_uniform() { return {Kind::xavier_uniform, 0}; }
  // Uniform in +-sqrt(6 / in): keeps the variance through ReLU (He).
  static Initializer kaiming_uniform() { return {Kind::kaiming_uniform, 0}; }

  // Element i is a function of (seed, stream, i) alone.
  void fill(Tensor& parameter, std::uint64_t seed, std::uint64_t stream) const;
};

}  // namespace heed
