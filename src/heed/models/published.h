// Our parameters and the tensors of published files, matched by the names of a family.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heed/io/tensor_files.h"
#include "heed/models/encoder_family.h"
#include "heed/models/encoder_model.h"

namespace heed {

// A published tensor and the rows of ours that it fills.
struct PublishedTensor {
  std::string name;  // the encoder's with the family's prefix
  Tensor values;
  bool reversed = false;  // rows are in the opposite order
  bool of_head = false;
};

// All tensors of a file that would hold this model. A tied output weight is the table of words and not listed twice.
std::vector<PublishedTensor> published_tensors(EncoderModel& model, const EncoderFamily& family);

// A PublishedName's `theirs` for our number-th block: # and @ filled in.
std::string numbered(const std::string& theirs, std::int64_t number, std::int64_t blocks_per_group);

// The tensors of a folder under their canonical names: with the family's prefix, and .weight and .bias for the norms
// of the first converters (.gamma, .beta).
class CanonicalNames {
 public:
  CanonicalNames(const TensorFiles& files, const EncoderFamily& family, const std::string& where);

  // canonical -> in the file
  const std::map<std::string, std::string>& all() const { return names_; }
  bool contains(const std::string& canonical) const { return names_.contains(canonical); }
  bool has_pooler() const { return has_pooler_; }
  // Whether there is any tensor of this head.
  bool has_head(const HeadDescription& head) const;
  Tensor tensor(const std::string& canonical) const { return files_.tensor(names_.at(canonical)); }
  const std::vector<std::int64_t>& shape(const std::string& canonical) const {
    return files_.info(names_.at(canonical)).shape;
  }

 private:
  const TensorFiles& files_;
  std::map<std::string, std::string> names_;
  bool has_pooler_ = false;
};

// Whether the canonical name is that of a tensor of any of the family's heads.
bool belongs_to_head(const std::string& name, const EncoderFamily& family);

}  // namespace heed
