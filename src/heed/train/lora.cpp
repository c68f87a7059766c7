#include "heed/train/lora.h"

#include <cmath>
#include <set>

#include "heed/base/error.h"
#include "heed/base/join.h"
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

// Whether the target is among the parts that the name goes through: attention.output and output are of
// layers.0.attention.output.weight, put is not.
bool goes_through(const std::string& name, const std::string& target) {
  return !target.empty() && ("." + name).find("." + target + ".") != std::string::npos;
}

// What to write for this weight of any layer: attention.output for layers.0.attention.output.weight.
std::string part_of(const std::string& name) {
  std::size_t begin = 0;
  for (std::size_t dot = name.find('.'), last = 0; dot != std::string::npos;
       last = dot + 1, dot = name.find('.', last)) {
    if (name.find_first_not_of("0123456789", last) == dot) begin = dot + 1;
  }
  return name.substr(begin, name.rfind('.') - begin);
}

}  // namespace

Lora::Lora(std::vector<PlacedParameter> parameters, std::int64_t rank, double alpha,
           const std::vector<std::string>& targets, std::uint64_t seed, bool train_heads)
    : scale_(alpha / static_cast<double>(rank)) {
  HEED_CHECK(rank > 0, "[lora] rank ", rank, ", expected at least 1");
  std::set<std::string> parts, missed(targets.begin(), targets.end());
  for (PlacedParameter& each : parameters) {
    const bool of_head = each.place.part == ParameterPlace::Part::head;
    if (!of_head || !train_heads) each.parameter->set_requires_grad(false);
    if (of_head || !each.is_weight) continue;
    parts.insert(part_of(each.name));
    bool chosen = false;
    for (const std::string& target : targets) {
      if (!goes_through(each.name, target)) continue;
      chosen = true;
      missed.erase(target);
    }
    if (!chosen) continue;
    const std::int64_t out = each.parameter->size(0), in = each.parameter->size(1);
    Tensor a = first_a(rank, in, seed, each.name), b = Tensor::zeros({out, rank});
    a.set_requires_grad();
    b.set_requires_grad();
    additions_.push_back({each, *each.parameter, a, b});
  }
  HEED_CHECK(missed.empty(), "[lora] the model has no weight \"", *missed.begin(), "\" (lora.targets); there are ",
             join(parts, ", "));
  HEED_CHECK(!additions_.empty(), "[lora] lora.targets is empty; there are ", join(parts, ", "));
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
