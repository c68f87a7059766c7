#include <algorithm>
#include <sstream>

#include "heed/ops/reduce.h"
#include "ops/op_case.h"

namespace heed::testing {
namespace {

void add_sums(std::vector<OpCase>& cases, const Shape& shape) {
  std::ostringstream name;
  name << shape;
  auto total = [](const Tensor& x) {
    double sum = 0;
    for (std::int64_t i = 0; i < x.count(); ++i) sum += f64(x)[i];
    return sum;
  };
  cases.push_back({.op = "sum",
                   .name = name.str(),
                   .inputs = {value_input("sum", shape)},
                   .run = [](Inputs in) { return sum(in[0]); },
                   .reference = [=](Inputs in) { return Tensor::full({}, total(in[0]), DType::f64); }});
  if (shape.count() > 0) {
    cases.push_back({.op = "mean",
                     .name = name.str(),
                     .inputs = {value_input("mean", shape)},
                     .run = [](Inputs in) { return mean(in[0]); },
                     .reference =
                         [=](Inputs in) {
                           return Tensor::full({}, total(in[0]) / static_cast<double>(in[0].count()), DType::f64);
                         }});
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    for (bool as_mean : {false, true}) {
      if (as_mean && shape[axis] == 0) continue;
      cases.push_back({.op = as_mean ? "mean" : "sum",
                       .name = name.str() + " axis " + std::to_string(axis),
                       .inputs = {value_input("sum", shape)},
                       .run = [=](Inputs in) { return as_mean ? mean(in[0], axis) : sum(in[0], axis); },
                       .reference =
                           [=](Inputs in) {
                             const std::int64_t n = shape[axis], inner = shape.product(axis + 1, shape.rank());
                             std::vector<std::int64_t> sizes(shape.begin(), shape.end());
                             sizes.erase(sizes.begin() + axis);
                             return generate(Shape(std::span<const std::int64_t>(sizes)), [&](std::int64_t i) {
                               double sum = 0;
                               for (std::int64_t k = 0; k < n; ++k)
                                 sum += f64(in[0])[(i / inner * n + k) * inner + i % inner];
                               return as_mean ? sum / static_cast<double>(n) : sum;
                             });
                           }});
    }
  }
}

void add_pools(std::vector<OpCase>& cases, const std::vector<std::int64_t>& lengths, std::int64_t width) {
  const Offsets offsets{std::span<const std::int64_t>(lengths)};
  for (PoolKind pooling : {PoolKind::sum, PoolKind::mean, PoolKind::max}) {
    cases.push_back({.op = "pool",
                     .name = "kind " + std::to_string(static_cast<int>(pooling)) + ", " +
                             std::to_string(lengths.size()) + " sequences, " + std::to_string(offsets.tokens()) +
                             " tokens",
                     .inputs = {value_input("pool", {offsets.tokens(), width})},
                     .run = [=](Inputs in) { return pool(Packed(in[0], offsets), pooling); },
                     .reference =
                         [=](Inputs in) {
                           return generate({offsets.sequences(), width}, [&](std::int64_t i) {
                             const std::int64_t b = i / width;
                             if (offsets.length(b) == 0) return 0.0;
                             double sum = 0, top = -1e300;
                             for (std::int64_t t = offsets.begin(b); t < offsets.end(b); ++t) {
                               sum += f64(in[0])[t * width + i % width];
                               top = std::max(top, f64(in[0])[t * width + i % width]);
                             }
                             if (pooling == PoolKind::max) return top;
                             return pooling == PoolKind::sum ? sum : sum / static_cast<double>(offsets.length(b));
                           });
                         }});
  }
}

}  // namespace

void add_reduce_cases(std::vector<OpCase>& cases, CaseSize size) {
  if (size == CaseSize::large) {
    add_sums(cases, {512, 768});
    add_pools(cases, {128, 100, 1, 500, 64}, 768);
    return;
  }
  add_sums(cases, {3, 5});
  add_sums(cases, {2, 3, 4});
  add_sums(cases, {1});
  add_sums(cases, {0, 3});
  add_sums(cases, {2, 37});
  add_pools(cases, {3, 1, 0, 4}, 3);
  add_pools(cases, {1}, 17);
  add_pools(cases, {0}, 2);
}

}  // namespace heed::testing
