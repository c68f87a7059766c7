#include "heed/models/adapter_save.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/models/published.h"

namespace heed {
namespace {

const std::string kPrefix = "base_model.model.";

// "q_proj" of "model.layers.0.self_attn.q_proj".
std::string last_part(const std::string& module) {
  return module.substr(module.rfind('.') + 1);
}

std::string module_of(const std::string& tensor) {
  return tensor.substr(0, tensor.rfind('.'));
}

Json task_type(HeadKind head) {
  switch (head) {
    case HeadKind::none: return "FEATURE_EXTRACTION";
    case HeadKind::causal_lm: return "CAUSAL_LM";
    case HeadKind::seq2seq_lm: return "SEQ_2_SEQ_LM";
    case HeadKind::sequence_classification: return "SEQ_CLS";
    case HeadKind::token_classification: return "TOKEN_CLS";
    case HeadKind::question_answering: return "QUESTION_ANS";
    default: return nullptr;
  }
}

// 16, not 16.0: PEFT's are whole numbers.
Json number(double value) {
  return value == std::floor(value) && std::abs(value) < 1e9 ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

// PEFT changes every module whose name ends so: the shortest endings that name no other module.
std::set<std::string> endings_of(const std::set<std::string>& chosen, const std::set<std::string>& others) {
  std::set<std::string> endings;
  for (const std::string& module : chosen) {
    std::string ending = last_part(module);
    const auto names_other = [&] {
      return std::ranges::any_of(
          others, [&](const std::string& other) { return other == ending || other.ends_with("." + ending); });
    };
    while (ending.size() < module.size() && names_other()) {
      const std::size_t dot = module.rfind('.', module.size() - ending.size() - 2);
      ending = module.substr(dot == std::string::npos ? 0 : dot + 1);
    }
    endings.insert(ending);
  }
  return endings;
}

}  // namespace

bool adapter_holds(HeadKind head) {
  return head != HeadKind::masked_lm;
}

void save_adapter(const Model& model, const std::vector<LowRank>& additions, const AdapterDescription& description,
                  const std::filesystem::path& folder, const Json& fields) {
  TensorMap tensors;
  std::set<std::string> changed, others, whole;
  bool transposed = false;
  for (const PublishedTensor& tensor : published_tensors(model)) {
    const bool bare = model.head() == HeadKind::none;
    const std::string name = bare ? tensor.name.substr(model.config().family->prefix.size()) : tensor.name;
    const std::string module = module_of(name);
    const bool beside = tensor.part == ParameterPlace::Part::head || tensor.part == ParameterPlace::Part::pooler;
    if (description.with_head && beside) {
      tensors.emplace(kPrefix + name, tensor.written());
      whole.insert(module);
      continue;
    }
    if (tensor.values.rank() != 2) continue;
    const auto found = std::ranges::find(additions, tensor.parameter, &LowRank::parameter);
    if (found == additions.end()) {
      others.insert(module);
      continue;
    }
    // Parts of a fused weight have A in common, and the rows of B that are theirs.
    tensors.emplace(kPrefix + module + ".lora_A.weight", found->a.detach().detached_clone());
    const Tensor b = found->b.detached_slice(0, tensor.first_row, tensor.first_row + tensor.values.size(0));
    tensors.emplace(kPrefix + module + ".lora_B.weight", tensor.with_values(b).written());
    changed.insert(module);
    transposed = transposed || tensor.layout == PublishedName::Layout::transposed;
  }
  const Json config = {{"peft_type", "LORA"},
                       {"task_type", task_type(model.head())},
                       {"base_model_name_or_path", description.base},
                       {"r", description.rank},
                       {"lora_alpha", number(description.alpha)},
                       {"lora_dropout", 0.0},
                       {"target_modules", endings_of(changed, others)},
                       {"modules_to_save", whole.empty() ? Json() : Json(endings_of(whole, others))},
                       {"bias", "none"},
                       {"fan_in_fan_out", transposed},
                       {"inference_mode", true},
                       {"init_lora_weights", true}};
  make_folder(folder);
  save_safetensors(folder / "adapter_model.safetensors", tensors);
  replace_file(folder / "adapter_config.json", config.dump(2) + "\n");
  if (!description.with_head) return;
  Json model_config = model.config().source;
  model_config["architectures"] = {model.architecture()};
  model_config.update(fields);
  replace_file(folder / "config.json", model_config.dump(2) + "\n");
}

}  // namespace heed
