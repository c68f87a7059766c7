// Low-rank adapters in the files of HuggingFace's PEFT: adapter_config.json, and adapter_model.safetensors with
// base_model.model.<module>.lora_A.weight [rank, in] and lora_B.weight [out, rank] for each module whose weight becomes
// W + scale * B A, and whole tensors of modules that were trained beside them (modules_to_save).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

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

// What is added to a parameter of ours: scale * B A, of A [rank, in] and B [out, rank].
struct LowRank {
  std::string parameter;
  Tensor a, b;
};

struct AdapterDescription {
  std::string base;  // a folder, or owner/name
  std::int64_t rank = 0;
  double alpha = 0;
  bool with_head = false;  // and pooler: they were trained too
};

// Writes both files; and config.json, with these fields besides, if there is a head in them. The model has the weights
// of its base.
void save_adapter(const Model& model, const std::vector<LowRank>& additions, const AdapterDescription& description,
                  const std::filesystem::path& folder, const Json& fields = Json::object());

}  // namespace heed
