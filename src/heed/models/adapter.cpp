#include "heed/models/adapter.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/models/published.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char *kConfig = "adapter_config.json", *kTensors = "adapter_model.safetensors";
const std::string kPrefix = "base_model.model.", kWeight = ".weight";

fs::path existing(const fs::path& file) {
  HEED_CHECK_AS(not_found, fs::exists(file), file.string(),
                ": there is no such file; heed loads adapters as safetensors, never as pickle files "
                "(adapter_model.bin)");
  return file;
}

Json read_config(const fs::path& file) {
  constexpr std::size_t kMostBytes = 16'000'000;
  Json config = parse_json(read_file(file, kMostBytes), file.string());
  HEED_CHECK_AS(bad_format, config.is_object(), file.string(), ": is ", detail::json_kind(config),
                ", expected an object");
  return config;
}

// Fields that are read here, that say how the adapter was trained, or that its tensors say too.
bool is_known(const std::string& field) {
  static const std::set<std::string> names = {"alpha_pattern",
                                              "auto_mapping",
                                              "base_model_name_or_path",
                                              "bias",
                                              "eva_config",
                                              "exclude_modules",
                                              "fan_in_fan_out",
                                              "inference_mode",
                                              "init_lora_weights",
                                              "layers_pattern",
                                              "layers_to_transform",
                                              "loftq_config",
                                              "lora_alpha",
                                              "lora_dropout",
                                              "megatron_config",
                                              "megatron_core",
                                              "modules_to_save",
                                              "peft_type",
                                              "peft_version",
                                              "qalora_group_size",
                                              "r",
                                              "rank_pattern",
                                              "revision",
                                              "runtime_config",
                                              "target_modules",
                                              "task_type",
                                              "use_rslora"};
  return names.contains(field);
}

bool says_nothing(const Json& value) {
  return value.is_null() || value == false || (value.is_structured() && value.empty());
}

std::string shape_text(std::span<const std::int64_t> sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text + "]";
}

// Of A, whatever its shape.
std::int64_t rank_of(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? 1 : std::max<std::int64_t>(1, shape[0]);
}

// What becomes of a published tensor: a and b are added to it, or `whole` takes its place.
struct Change {
  PublishedTensor target;
  std::string module{};
  std::string a{}, b{}, whole{};
};

}  // namespace

Adapter::Adapter(const fs::path& folder)
    : where_((folder / kConfig).string()),
      config_(read_config(folder / kConfig)),
      tensors_(existing(folder / kTensors)) {
  check_fields();
}

void Adapter::refuse(const std::string& field, const std::string& expected) const {
  fail(ErrorKind::bad_format, where_, ": ", field, " is ", config_.at(field).dump(), ", expected ", expected);
}

void Adapter::check_fields() const {
  if (json_required<std::string>(config_, "peft_type", where_) != "LORA") {
    refuse("peft_type", "LORA: no other kind of adapter is known");
  }
  for (const auto& [field, value] : config_.items()) {
    if (!is_known(field) && !says_nothing(value)) refuse(field, "null or false: what it asks for is not known");
  }
  // Others start from weights that are not the base's.
  const Json start = config_.value("init_lora_weights", Json(true));
  const bool plain = start.is_null() || start.is_boolean() || start == "gaussian" || start == "orthogonal";
  if (!plain) refuse("init_lora_weights", "true, false, gaussian or orthogonal");
  const Json patterns = config_.value("alpha_pattern", Json::object());
  if (!patterns.is_null() && !patterns.is_object()) refuse("alpha_pattern", "an object of modules and numbers");
  for (const auto& [module, alpha] : patterns.items()) {
    const bool is_name = module.find_first_of("*+?[](){}|^$\\") == std::string::npos;
    if (!is_name || !alpha.is_number()) refuse("alpha_pattern", "an object of modules and numbers");
  }
}

// alpha / rank, or alpha / sqrt(rank).
double Adapter::scale(const std::string& module, std::int64_t rank) const {
  auto alpha = json_optional<double>(config_, "lora_alpha", 8, where_);
  const Json patterns = config_.value("alpha_pattern", Json::object());
  for (const auto& [name, value] : patterns.items()) {
    if (module == name || module.ends_with("." + name)) alpha = value.get<double>();
  }
  const auto size = static_cast<double>(rank);
  return alpha / (json_optional<bool>(config_, "use_rslora", false, where_) ? std::sqrt(size) : size);
}

bool Adapter::has_head(const HeadConfig& head) const {
  return std::ranges::any_of(head.names, [&](const PublishedName& name) {
    return std::ranges::any_of(tensors_.names(), [&](const std::string& tensor) {
      return tensor.starts_with(kPrefix + name.theirs + ".") && tensor.find(".lora_") == std::string::npos;
    });
  });
}

void Adapter::merge(const Model& model, bool new_head) const {
  const std::string& prefix = model.config().family->prefix;
  std::string problems;
  std::set<std::string> used;
  std::vector<Change> changes;
  const auto check = [&](const std::string& name, const Shape& expected) {
    used.insert(name);
    if (!tensors_.contains(name)) {
      problems += "\n  missing " + name;
    } else if (const auto& shape = tensors_.info(name).shape; !std::ranges::equal(shape, expected.sizes())) {
      problems += "\n  " + name + " is " + shape_text(shape) + ", expected " + shape_text(expected.sizes());
    }
  };
  for (const PublishedTensor& target : published_tensors(model)) {
    // A model without a head has the names of the backbone alone.
    const std::string bare = target.name.starts_with(prefix) ? target.name.substr(prefix.size()) : target.name;
    for (const std::string& name : {target.name, bare}) {
      const std::string module = name.substr(0, name.rfind('.'));
      Change change{target, module, kPrefix + module + ".lora_A.weight", kPrefix + module + ".lora_B.weight",
                    kPrefix + name};
      if (tensors_.contains(change.whole)) {
        check(change.whole, target.shape());
        change.a.clear();
        changes.push_back(std::move(change));
        break;
      }
      const bool adds = tensors_.contains(change.a) || tensors_.contains(change.b);
      if (!adds || !name.ends_with(kWeight) || target.values.rank() != 2) continue;
      const std::int64_t rank = tensors_.contains(change.a) ? rank_of(tensors_.info(change.a).shape) : 1;
      check(change.a, {rank, target.values.size(1)});
      check(change.b, {target.values.size(0), rank});
      changes.push_back(std::move(change));
      break;
    }
    const bool needed = new_head && target.part == ParameterPlace::Part::head;
    const bool brought = !changes.empty() && changes.back().target.name == target.name;
    if (needed && !brought) problems += "\n  missing " + kPrefix + target.name;
  }
  for (const std::string& name : tensors_.names()) {
    if (!used.contains(name)) problems += "\n  unknown " + name;
  }
  HEED_CHECK_AS(bad_format, problems.empty(), tensors_.path().string(), ": the tensors are not those of an adapter of ",
                model.architecture(), ":", problems);
  const NoGrad no_grad;
  for (const Change& change : changes) {
    if (change.a.empty()) {
      Tensor whole = change.target.values;
      whole.copy_from(
          change.target.arranged(tensors_.tensor(change.whole)).detached_to(DType::f32).detached_contiguous());
      continue;
    }
    const Tensor a = tensors_.tensor(change.a).detached_to(DType::f32),
                 b = tensors_.tensor(change.b).detached_to(DType::f32);
    Tensor ours = change.target.values;
    const Tensor added = heed::scale(matmul(b, a), scale(change.module, a.size(0)));
    ours.copy_from(
        add(ours.detached_contiguous(), change.target.with_values(ours).arranged(added).detached_contiguous()));
  }
}

}  // namespace heed
