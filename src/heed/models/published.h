// Our parameters and the tensors of published files, matched by the names of a family.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heed/io/tensor_files.h"
#include "heed/models/model.h"

namespace heed {

// A published tensor and the rows of ours that it fills.
struct PublishedTensor {
  std::string name;  // the backbone's with the family's prefix
  Tensor values;
  PublishedName::Layout layout = PublishedName::Layout::same;
  ParameterPlace::Part part = ParameterPlace::Part::embeddings;
  std::int64_t heads = 0;      // of a layout by_head
  std::string parameter{};     // ours
  std::int64_t first_row = 0;  // of it
  bool is_buffer = false;      // and no parameter: files may lack it

  // As the file has it.
  Shape shape() const { return is_transposed() ? Shape({values.size(1), values.size(0)}) : values.shape(); }
  // The file's tensor as we have it: itself or a view of it, if its rows need not be put in another order.
  Tensor arranged(const Tensor& source) const;
  // As the file is to have it; 16-bit floats as f32.
  Tensor written() const;
  // Other values of the same rows, [rows, any], which the file has in the same order and never transposed.
  PublishedTensor with_values(const Tensor& others) const;

 private:
  bool is_transposed() const { return layout == PublishedName::Layout::transposed && values.rank() == 2; }
  bool has_other_rows() const {
    return layout == PublishedName::Layout::reversed || layout == PublishedName::Layout::by_head;
  }
  std::int64_t row_in_file(std::int64_t row) const;
};

// All tensors of a file that would hold this model: its parameters, and the buffers that have a published name. A tied
// output weight is the table of words and not listed twice.
std::vector<PublishedTensor> published_tensors(const Model& model);

// What `theirs` of our parameter or module, of the block of that number, is. Throws internal if the names lack it.
std::string published_name(const std::vector<PublishedName>& names, std::string_view ours, std::int64_t block,
                           std::int64_t blocks_per_group);

// The tensors of a folder under their canonical names: with the family's prefix, and .weight and .bias for the norms
// of the first converters (.gamma, .beta).
class CanonicalNames {
 public:
  CanonicalNames(const TensorFiles& files, const ModelConfig& config, const std::string& where);

  // canonical -> in the file
  const std::map<std::string, std::string>& all() const { return names_; }
  bool contains(const std::string& canonical) const { return names_.contains(canonical); }
  bool has_pooler() const { return has_pooler_; }
  // Whether there is any tensor of this head.
  bool has_head(const HeadConfig& head) const;
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
bool belongs_to_head(const std::string& name, const ModelConfig& config);

// Whether no model of the family uses the tensor of this canonical name.
bool is_unused(const std::string& name, const ModelFamily& family);

}  // namespace heed
