#include "heed/ops/shape_ops.h"
#include "ops/op_case.h"

namespace heed::testing {
namespace {

// Row-major index of element i of the shape with axes a and b swapped.
std::int64_t swapped(const Shape& from, int a, int b, std::int64_t i) {
  const Shape to = from.with(a, from[b]).with(b, from[a]);
  const Strides strides = contiguous_strides(from);
  std::int64_t position = 0;
  for (int axis = to.rank() - 1; axis >= 0; --axis) {
    const int source = axis == a ? b : axis == b ? a : axis;
    position += i % to[axis] * strides[static_cast<std::size_t>(source)];
    i /= to[axis];
  }
  return position;
}

void add_transpose(std::vector<OpCase>& cases, const Shape& shape, int a, int b) {
  cases.push_back(
      {.op = "transpose",
       .name = "axes " + std::to_string(a) + "," + std::to_string(b) + " rank " + std::to_string(shape.rank()),
       .inputs = {value_input("transpose", shape)},
       .run = [a, b](Inputs in) { return contiguous(transpose(in[0], a, b)); },
       .reference =
           [a, b](Inputs in) {
             const Shape& from = in[0].shape();
             return generate(from.with(a, from[b]).with(b, from[a]),
                             [&](std::int64_t i) { return f64(in[0])[swapped(from, a, b, i)]; });
           }});
}

void add_slice(std::vector<OpCase>& cases, const Shape& shape, int axis, std::int64_t begin, std::int64_t end) {
  cases.push_back({.op = "slice",
                   .name = "axis " + std::to_string(axis) + " " + std::to_string(begin) + ".." + std::to_string(end),
                   .inputs = {value_input("slice", shape)},
                   .run = [=](Inputs in) { return slice(in[0], axis, begin, end); },
                   .reference =
                       [=](Inputs in) {
                         const std::int64_t inner = shape.product(axis + 1, shape.rank()), n = end - begin;
                         return generate(shape.with(axis, n), [&](std::int64_t i) {
                           const std::int64_t outer = n == 0 ? 0 : i / (inner * n);
                           return f64(in[0])[outer * shape[axis] * inner + begin * inner + i % (inner * n)];
                         });
                       }});
}

void add_concat(std::vector<OpCase>& cases, const std::vector<Shape>& shapes, int axis) {
  std::vector<Input> inputs;
  std::int64_t total = 0;
  for (const Shape& shape : shapes) {
    inputs.push_back(value_input("concat" + std::to_string(total), shape));
    total += shape[axis];
  }
  cases.push_back(
      {.op = "concat",
       .name = std::to_string(shapes.size()) + " along axis " + std::to_string(axis) + " to " + std::to_string(total),
       .inputs = inputs,
       .run = [axis](Inputs in) { return concat(in, axis); },
       .reference =
           [axis, total](Inputs in) {
             const Shape shape = in[0].shape().with(axis, total);
             const std::int64_t inner = shape.product(axis + 1, shape.rank());
             return generate(shape, [&](std::int64_t i) {
               const std::int64_t outer = i / (inner * total);
               std::int64_t along = i / inner % total;
               std::size_t part = 0;
               while (along >= in[part].size(axis)) along -= in[part++].size(axis);
               return f64(in[part])[(outer * in[part].size(axis) + along) * inner + i % inner];
             });
           }});
}

void add_reshape(std::vector<OpCase>& cases, const Shape& from, const std::vector<std::int64_t>& sizes,
                 const Shape& to) {
  cases.push_back(
      {.op = "reshape",
       .name = std::to_string(from.count()) + " elements to rank " + std::to_string(to.rank()),
       .inputs = {value_input("reshape", from)},
       .run = [sizes](Inputs in) { return reshape(in[0], sizes); },
       .reference = [to](Inputs in) { return generate(to, [&](std::int64_t i) { return f64(in[0])[i]; }); }});
}

}  // namespace

void add_shape_cases(std::vector<OpCase>& cases, CaseSize size) {
  if (size == CaseSize::large) {
    add_transpose(cases, {512, 12, 64}, 0, 1);
    add_concat(cases, {{512, 768}, {512, 768}}, 1);
    return;
  }
  add_reshape(cases, {2, 6}, {3, -1}, {3, 4});
  add_reshape(cases, {2, 3, 4}, {24}, {24});
  add_reshape(cases, {1}, {}, {});
  add_reshape(cases, {0, 3}, {3, 0}, {3, 0});
  add_transpose(cases, {3, 5}, 0, 1);
  add_transpose(cases, {2, 3, 4}, 0, 2);
  add_transpose(cases, {2, 3, 4, 5}, 1, 2);
  add_transpose(cases, {1, 7}, 0, 1);
  add_transpose(cases, {0, 7}, 0, 1);
  add_slice(cases, {4, 3}, 0, 1, 3);
  add_slice(cases, {4, 9, 2}, 1, 4, 9);
  add_slice(cases, {3, 5}, 1, 2, 3);
  add_slice(cases, {3, 5}, 0, 2, 2);
  add_concat(cases, {{2, 3}, {1, 3}, {4, 3}}, 0);
  add_concat(cases, {{2, 3}, {2, 0}, {2, 5}}, 1);
  add_concat(cases, {{2, 3, 2}, {2, 1, 2}}, 1);
  add_concat(cases, {{3}}, 0);
  // Split is slices; used together their gradients land in one tensor.
  cases.push_back({.op = "split",
                   .name = "and put together in another order",
                   .inputs = {value_input("split", {3, 7})},
                   .run =
                       [](Inputs in) {
                         const auto parts = split(in[0], 1, std::vector<std::int64_t>{2, 1, 4});
                         return concat(std::vector<Tensor>{parts[2], parts[0], parts[0], parts[1]}, 1);
                       },
                   .reference =
                       [](Inputs in) {
                         const std::int64_t order[] = {3, 4, 5, 6, 0, 1, 0, 1, 2};
                         return generate({3, 9}, [&](std::int64_t i) { return f64(in[0])[i / 9 * 7 + order[i % 9]]; });
                       }});
}

}  // namespace heed::testing
