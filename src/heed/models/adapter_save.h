// Writes a low-rank adapter in the files that models/adapter.h reads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/models/model.h"

namespace heed {

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

// Whether a head of this kind can be trained with an adapter and be in its files: PEFT must be able to name its
// modules.
bool adapter_holds(HeadKind head);

// Writes both files; and config.json, with these fields besides, if there is a head in them. The model has the weights
// of its base.
void save_adapter(const Model& model, const std::vector<LowRank>& additions, const AdapterDescription& description,
                  const std::filesystem::path& folder, const Json& fields = Json::object());

}  // namespace heed
