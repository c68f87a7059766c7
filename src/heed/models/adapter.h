// Low-rank adapters in the files of HuggingFace's PEFT: adapter_config.json, and adapter_model.safetensors with
// base_model.model.<module>.lora_A.weight [rank, in] and lora_B.weight [out, rank] for each module whose weight becomes
// W + scale * B A, and whole tensors of modules that were trained beside them (modules_to_save).
#pragma once

#include <filesystem>
#include <string>

#include "heed/io/safetensors.h"
#include "heed/models/model.h"

namespace heed {

class Adapter {
 public:
  // Throws not_found, and bad_format for another type than LORA, for variants of it (DoRA, PiSSA ...) and for fields
  // that are not known.
  explicit Adapter(const std::filesystem::path& folder);

  // Whether it brings tensors of its own for this head.
  bool has_head(const HeadConfig& head) const;
  // Changes the model's weights as the adapter says, with the bits of Lora::merge(). Throws bad_format that names every
  // tensor that is missing, not known or of another shape. With `new_head` all of the head must be there.
  void merge(const Model& model, bool new_head) const;

 private:
  void check_fields() const;
  [[noreturn]] void refuse(const std::string& field, const std::string& expected) const;
  double scale(const std::string& module, std::int64_t rank) const;

  std::string where_;
  Json config_;
  SafetensorsFile tensors_;
};

}  // namespace heed
