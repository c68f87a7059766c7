#include "heed/ops/gather.h"
#include "ops/op_case.h"

namespace heed::testing {
namespace {

void add_embedding(std::vector<OpCase>& cases, std::int64_t vocabulary, std::int64_t width, const Shape& id_shape) {
  const Tensor picked = ids("ids", id_shape, vocabulary);
  std::vector<std::int64_t> sizes(id_shape.begin(), id_shape.end());
  sizes.push_back(width);
  const Shape shape{std::span<const std::int64_t>(sizes)};
  cases.push_back({.op = "take_rows",
                   .name = std::to_string(vocabulary) + "x" + std::to_string(width) + " ids " +
                           std::to_string(id_shape.count()) + " rank " + std::to_string(id_shape.rank()),
                   .inputs = {value_input("table", {vocabulary, width}), picked},
                   .run = [](Inputs in) { return take_rows(in[0], in[1]); },
                   .reference =
                       [shape, width](Inputs in) {
                         return generate(shape, [&](std::int64_t i) {
                           return f64(in[0])[i64(in[1])[i / width] * width + i % width];
                         });
                       },
                   .rows = {false, true}});
}

void add_scatter(std::vector<OpCase>& cases, std::int64_t count, std::int64_t width, std::int64_t size) {
  cases.push_back({.op = "scatter_rows",
                   .name = std::to_string(count) + "x" + std::to_string(width) + " into " + std::to_string(size),
                   .inputs = {value_input("rows", {count, width}), id_input("targets", {count}, size)},
                   .run = [size](Inputs in) { return scatter_rows(in[0], in[1], size); },
                   .reference =
                       [=](Inputs in) {
                         return generate({size, width}, [&](std::int64_t i) {
                           double sum = 0;
                           for (std::int64_t r = 0; r < count; ++r) {
                             if (i64(in[1])[r] == i / width) sum += f64(in[0])[r * width + i % width];
                           }
                           return sum;
                         });
                       }});
}

}  // namespace

void add_gather_cases(std::vector<OpCase>& cases, CaseSize size) {
  if (size == CaseSize::large) {
    add_embedding(cases, 4000, 768, {512});
    add_scatter(cases, 512, 128, 64);
    return;
  }
  add_embedding(cases, 5, 3, {7});  // some rows twice, some never
  add_embedding(cases, 4, 17, {2, 3});
  add_embedding(cases, 1, 1, {1});
  add_embedding(cases, 3, 4, {0});
  add_scatter(cases, 7, 3, 4);
  add_scatter(cases, 1, 9, 1);
  add_scatter(cases, 0, 3, 2);
}

}  // namespace heed::testing
