// Models to and from HuggingFace's folders.
//   const auto model = load_model("path/to/folder");
//   const ModelOutput out = model->forward({.ids = packed}, Context());
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "heed/models/model.h"

namespace heed {

class ModelFolder;

struct LoadOptions {
  std::optional<HeadKind> head{};  // default: the one config.json names
  // f32: parameters of our own, which may be trained. as_stored, for inference: the matrices are views of the files,
  // which stay mapped, and f16 and bf16 are converted as they are multiplied; with the same bits.
  enum class Storage { f32, as_stored } storage = Storage::f32;
  // For fine-tuning: a head that the file does not have starts with random numbers of this seed and these labels.
  std::optional<std::uint64_t> new_head_seed{};
  std::vector<std::string> new_labels{};
};

// An adapter's folder (models/adapter.h) gives the model that it changes, with the changes made. Every tensor that is
// missing, not expected or of another shape is named; position_ids, a tied tensor's copy, an unused pooler and other
// heads of the same family are passed over. No parameter requires gradients (nn/module.h, set_trainable).
std::unique_ptr<Model> load_model(const std::filesystem::path& folder, const LoadOptions& options = {});
std::unique_ptr<Model> load_model(const ModelFolder& folder, const LoadOptions& options = {});

// Writes config.json, with these fields besides, and model.safetensors under the published names; HuggingFace loads
// them. The folder is made if it is not there. Tokenizer files are the caller's.
void save_model(const Model& model, const std::filesystem::path& folder, const Json& fields = Json::object());

}  // namespace heed
