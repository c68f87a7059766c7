#include "heed/train/lora.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"

namespace heed {
namespace {

// Uniform in +-1/sqrt(in), a function of seed and name.
Tensor first_a(std::int64_t rank, std::int64_t in, std::uint64_t seed, const std::string& name) {
  Tensor a = Tensor::empty({rank, in});
  auto* values = a.mutable_data<float>();
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double unit = uniform_double(seed, stream_id("lora", name), static_cast<std::uint64_t>(i));
    values[i] = static_cast<float>((2 * unit - 1) * bound);
  }
  return a;
}

}  // namespace

Lora::Lora(std::vector<PlacedParameter> parameters, std::int64_t rank, double alpha,
           const std::vector<std::string>& targets, std::uint64_t seed, bool train_heads)
    : scale_(alpha / static_cast<double>(rank)) {
  HEED_CHECK(rank > 0, "[lora] rank ", rank, ", expected at least 1");
  for (PlacedParameter& each : parameters) {
    const bool of_head = each.place.part == ParameterPlace::Part::head;
    if (!of_head || !train_heads) each.parameter->set_requires_grad(false);
    if (of_head) continue;
    const bool chosen = each.parameter->rank() == 2 && std::ranges::any_of(targets, [&](const std::string& target) {
                          return each.name.find(target) != std::string::npos;
                        });
    if (!chosen) continue;
    const std::int64_t out = each.parameter->size(0), in = each.parameter->size(1);
    Tensor a = first_a(rank, in, seed, each.name), b = Tensor::zeros({out, rank});
    a.set_requires_grad();
    b.set_requires_grad();
    additions_.push_back({each, *each.parameter, a, b});
  }
  std::string list;
  for (const std::string& target : targets) (list += list.empty() ? "" : ", ") += target;
  HEED_CHECK(!additions_.empty(), "[lora] no weight has one of these in its name: ", list);
}

std::vector<PlacedParameter> Lora::parameters() {
  std::vector<PlacedParameter> list;
  for (Addition& addition : additions_) {
    list.push_back({{addition.place.name + ".lora_a", &addition.a}, addition.place.place});
    list.push_back({{addition.place.name + ".lora_b", &addition.b}, addition.place.place});
  }
  return list;
}

std::vector<LowRank> Lora::additions() const {
  std::vector<LowRank> list;
  for (const Addition& addition : additions_) list.push_back({addition.place.name, addition.a, addition.b});
  return list;
}

void Lora::merge() {
  for (Addition& addition : additions_) {
    *addition.place.parameter = add(addition.weight, scale(matmul(addition.b, addition.a), scale_));
  }
}

void Lora::restore() {
  for (Addition& addition : additions_) *addition.place.parameter = addition.weight;
}

}  // namespace heed
