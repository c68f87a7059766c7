// How each ONNX operator is done with heed: one function an operator, one line in the table. onnx_ops_test.cpp runs the
// published operator tests through them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/tensor/tensor.h"

namespace heed::onnx {

struct Node {
  std::string name, op;
  std::int64_t opset = 0;
  Json attributes;
  std::vector<Tensor> inputs;        // in the operator's order, undefined where absent; f16 already as f32, bool as i32
  std::vector<std::string> outputs;  // names in the operator's order, "" where not wanted

  template <class T>
  T attribute(const std::string& key, T fallback) const {
    return json_optional<T>(attributes, key, fallback, name);
  }
  // Undefined beyond the last input.
  Tensor input(std::size_t i) const { return i < inputs.size() ? inputs[i] : Tensor(); }
  bool wants(std::size_t i) const { return i < outputs.size() && !outputs[i].empty(); }
};

// Outputs in the operator's order; those not wanted may be undefined or left out at the end.
using Handler = std::vector<Tensor> (*)(const Node&);

std::vector<Tensor> attention_node(const Node& node);  // attention_handler.cpp

const std::map<std::string, Handler, std::less<>>& handlers();

}  // namespace heed::onnx
