#include <cmath>

#include "heed/ops/activation.h"
#include "heed/ops/dropout.h"
#include "heed/ops/elementwise.h"
#include "ops/op_case.h"

namespace heed::testing {
namespace {

// Element i of `shape` read from a tensor that stretches to it.
double stretched(const Tensor& x, const Shape& shape, std::int64_t i) {
  std::int64_t position = 0, stride = 1;
  for (int back = 1; back <= shape.rank(); ++back) {
    const std::int64_t along = i % shape[-back];
    i /= shape[-back];
    if (back > x.rank()) continue;
    if (x.size(-back) != 1) position += along * stride;
    stride *= x.size(-back);
  }
  return f64(x)[position];
}

struct BinaryOp {
  const char* name;
  Tensor (*run)(const Tensor&, const Tensor&);
  double (*value)(double, double);
};
const BinaryOp kBinary[] = {{"add", add, [](double a, double b) { return a + b; }},
                            {"subtract", subtract, [](double a, double b) { return a - b; }},
                            {"multiply", multiply, [](double a, double b) { return a * b; }},
                            {"divide", divide, [](double a, double b) { return a / b; }}};

void add_binary(std::vector<OpCase>& cases, const BinaryOp& op, const Shape& a, const Shape& b, bool rows) {
  const Shape shape = broadcast_shapes(op.name, a, b);
  // Divisors well away from 0, so that finite differences hold.
  const Input divisor([b] {
    const Tensor noise = values("right", b, 0.2);
    return generate(b, [&](std::int64_t i) { return (i % 2 ? 1.5 : -1.5) + f64(noise)[i]; });
  });
  cases.push_back({.op = op.name,
                   .name = text(a) + text(b),
                   .inputs = {value_input("left", a), op.run == divide ? divisor : value_input("right", b)},
                   .run = [f = op.run](Inputs in) { return f(in[0], in[1]); },
                   .reference =
                       [f = op.value, shape](Inputs in) {
                         return generate(shape, [&](std::int64_t i) {
                           return f(stretched(in[0], shape, i), stretched(in[1], shape, i));
                         });
                       },
                   .rows = rows ? std::vector<bool>{true, b.rank() == a.rank() && b[0] == a[0]} : std::vector<bool>{}});
}

}  // namespace

void add_elementwise_cases(std::vector<OpCase>& cases, CaseSize size) {
  const bool small = size == CaseSize::small;
  for (const BinaryOp& op : kBinary) {
    if (small) {
      add_binary(cases, op, {2, 3}, {2, 3}, true);
      add_binary(cases, op, {3, 17}, {17}, true);       // a row, as a bias
      add_binary(cases, op, {3, 5}, {3, 1}, true);      // a column
      add_binary(cases, op, {2, 1, 4}, {3, 1}, false);  // both stretch
      add_binary(cases, op, {4}, {2, 3, 4}, false);     // the left one stretches
      add_binary(cases, op, {2, 3}, {}, false);         // a scalar
      add_binary(cases, op, {1}, {1}, true);
      add_binary(cases, op, {0, 3}, {3}, false);  // empty
    } else {
      add_binary(cases, op, {512, 768}, {512, 768}, true);
      add_binary(cases, op, {512, 768}, {768}, true);
    }
  }
  const std::vector<Shape> shapes =
      small ? std::vector<Shape>{{3, 5}, {1}, {2, 33}, {0}} : std::vector<Shape>{{512, 3072}};
  for (const Shape& shape : shapes) {
    for (Activation a : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu,
                         Activation::tanh, Activation::sigmoid}) {
      const std::string name(kernels::to_string(a));
      const Input x([name, shape] {
        const Tensor all = values(name, shape, 1.5);
        // Not at the kink of ReLU.
        return generate(shape, [&](std::int64_t i) { return std::abs(f64(all)[i]) < 1e-3 ? 0.1 : f64(all)[i]; });
      });
      cases.push_back({.op = "activate",
                       .name = name + text(shape),
                       .inputs = {x},
                       .run = [a](Inputs in) { return activate(in[0], a); },
                       .reference =
                           [a](Inputs in) {
                             return generate(in[0].shape(),
                                             [&](std::int64_t i) { return activation_value(a, f64(in[0])[i]); });
                           },
                       .rows = {true}});
    }
    cases.push_back(
        {.op = "scale",
         .name = text(shape),
         .inputs = {value_input("scale", shape)},
         .run = [](Inputs in) { return scale(in[0], -2.5); },
         .reference =
             [](Inputs in) { return generate(in[0].shape(), [&](std::int64_t i) { return -2.5 * f64(in[0])[i]; }); },
         .rows = {true}});
    // Which elements survive is checked against Philox itself in tests/kernels; here: all or nothing, scaled.
    cases.push_back({.op = "dropout",
                     .name = text(shape),
                     .inputs = {Input([shape] {
                       return generate(shape, [](std::int64_t i) { return 1.0 + static_cast<double>(i % 7); });
                     })},
                     .run =
                         [](Inputs in) {
                           return dropout(in[0], 0.25, {5, 9});
                         },
                     .reference =
                         [](Inputs in) {
                           const Tensor y = dropout(in[0], 0.25, {5, 9});
                           return generate(in[0].shape(), [&](std::int64_t i) {
                             return f64(y)[i] == 0 ? 0 : f64(in[0])[i] * (1 / 0.75);
                           });
                         }});
  }
  if (small) {
    cases.push_back({.op = "broadcast_to",
                     .name = "[2, 1, 3] to [4, 2, 5, 3]",
                     .inputs = {value_input("broadcast", {2, 1, 3})},
                     .run =
                         [](Inputs in) {
                           return broadcast_to(in[0], {4, 2, 5, 3});
                         },
                     .reference =
                         [](Inputs in) {
                           const Shape shape{4, 2, 5, 3};
                           return generate(shape, [&](std::int64_t i) { return stretched(in[0], shape, i); });
                         }});
  }
}

}  // namespace heed::testing
