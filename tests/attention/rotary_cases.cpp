#include <complex>

#include "heed/attention/rotary.h"
#include "ops/op_case.h"

namespace heed::testing {
namespace {

// Pair i of a head as one complex number times e^(i angle).
Tensor naive_rotary(const Tensor& x, const Tensor& positions, const RotaryOptions& options) {
  const std::int64_t heads = x.size(1), depth = x.size(2);
  const std::int64_t width = options.width ? options.width : depth;
  const bool half = options.layout == RotaryLayout::half;
  return generate(x.shape(), [&](std::int64_t i) {
    const std::int64_t token = i / (heads * depth), feature = i % depth;
    if (feature >= width) return f64(x)[i];
    const std::int64_t pair = half ? feature % (width / 2) : feature / 2;
    const std::int64_t first = i - feature + (half ? pair : 2 * pair), second = first + (half ? width / 2 : 1);
    const double position = static_cast<double>(i64(positions)[token]) / options.scaling.factor;
    const double angle =
        position / std::pow(options.base, 2.0 * static_cast<double>(pair) / static_cast<double>(width));
    const auto result = std::complex(f64(x)[first], f64(x)[second]) * std::polar(1.0, angle);
    return i == first ? result.real() : result.imag();
  });
}

void add_rotary(std::vector<OpCase>& cases, const std::string& name, const Shape& shape, const RotaryOptions& options) {
  for (RotaryLayout layout : {RotaryLayout::half, RotaryLayout::interleaved}) {
    RotaryOptions chosen = options;
    chosen.layout = layout;
    cases.push_back({.op = "rotary",
                     .name = name + (layout == RotaryLayout::half ? " half" : " interleaved"),
                     .inputs = {value_input("x", shape), id_input("positions", {shape[0]}, 500)},
                     .run = [chosen](Inputs in) { return rotary(in[0], in[1], chosen); },
                     .reference = [chosen](Inputs in) { return naive_rotary(in[0], in[1], chosen); },
                     .rows = {true, true}});
  }
}

}  // namespace

void add_rotary_cases(std::vector<OpCase>& cases, CaseSize size) {
  if (size == CaseSize::small) {
    add_rotary(cases, "5x3x10", {5, 3, 10}, {});
    add_rotary(cases, "1x1x2", {1, 1, 2}, {});
    add_rotary(cases, "4x2x7 width 4", {4, 2, 7}, {.width = 4});
    add_rotary(cases, "3x2x6 base 500 linear 4", {3, 2, 6},
               {.base = 500, .scaling = {.kind = RopeScaling::Kind::linear, .factor = 4}});
  } else {
    add_rotary(cases, "512x12x64", {512, 12, 64}, {});
  }
}

}  // namespace heed::testing
