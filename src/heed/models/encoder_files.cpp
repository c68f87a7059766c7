// load_encoder() and save_encoder().
#include <algorithm>
#include <set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/io/model_folder.h"
#include "heed/models/encoder_model.h"
#include "heed/models/published.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

void fill(const PublishedTensor& target, const Tensor& source) {
  Tensor values = target.values;
  if (!target.reversed) return values.copy_from(source);
  const std::int64_t rows = source.size(0);
  for (std::int64_t i = 0; i < rows; ++i) {
    Tensor row = values.sliced(0, i, i + 1);
    row.copy_from(source.sliced(0, rows - 1 - i, rows - i));
  }
}

// Whether files may have this tensor although the model does not.
bool may_be_left(const std::string& name, const EncoderFamily& family, const EncoderModel& model) {
  if (name.ends_with(".position_ids") || name.ends_with("embeddings.token_type_ids")) return true;
  if (name.starts_with(family.prefix + "pooler.")) return !model.encoder().has_pooler();
  return belongs_to_head(name, family);
}

// The name in the file for a wanted tensor: its own, or that of a copy.
std::optional<std::string> found_name(const CanonicalNames& names, const std::string& wanted,
                                      const HeadDescription* head) {
  if (names.contains(wanted)) return wanted;
  if (!head) return {};
  for (const PublishedName& copy : head->copies) {
    if (copy.ours == wanted && names.contains(copy.theirs)) return copy.theirs;
  }
  return {};
}

std::string shape_text(std::span<const std::int64_t> sizes) {
  std::string text = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

// config.json against the shapes of the files, before memory of the configured size is asked for.
class SizeCheck {
 public:
  SizeCheck(const EncoderConfig& config, const EncoderFamily& family, const CanonicalNames& names, std::string where)
      : config_(config), family_(family), names_(names), where_(std::move(where)) {}

  void encoder() const {
    const SizeFields& fields = family_.fields;
    check(name("word"), 0, config_.vocabulary, fields.vocabulary);
    check(name("word"), 1, config_.embedding_width, fields.embedding_width);
    check(name("position"), 0, config_.positions, fields.positions);
    if (config_.types > 0) check(name("token_type"), 0, config_.types, fields.types);
    const std::int64_t blocks = config_.groups * config_.blocks_per_group;
    for (const std::int64_t block : {std::int64_t{0}, blocks - 1}) {
      const std::string up = name("layer.#.feed_forward.up", block);
      HEED_CHECK_AS(bad_format, names_.contains(up), where_, ": ", fields.layers, " says ", blocks,
                    " layers of weights, but the files have no ", up);
      check(up, 0, config_.inner, fields.inner);
      check(up, 1, config_.width, fields.width);
    }
  }

  void labels(const HeadDescription& head) const {
    if (head.head != Head::sequence_classification && head.head != Head::token_classification) return;
    const std::string output = head.names.back().theirs + ".weight";
    if (names_.contains(output)) {
      check(output, 0, static_cast<std::int64_t>(config_.labels.size()), family_.fields.labels);
    }
  }

 private:
  std::string name(const std::string& ours, std::int64_t block = 0) const {
    const auto known = std::ranges::find(family_.names, ours, &PublishedName::ours);
    return family_.prefix + numbered(known->theirs, block, config_.blocks_per_group) + ".weight";
  }
  void check(const std::string& tensor, std::size_t axis, std::int64_t configured, const std::string& field) const {
    HEED_CHECK_AS(bad_format, names_.contains(tensor), where_, ": the files have no ", tensor);
    const auto& shape = names_.shape(tensor);
    HEED_CHECK_AS(bad_format, shape.size() == 2 && shape[axis] == configured, where_, ": ", field, " says ", configured,
                  ", but ", tensor, " is ", shape_text(shape));
  }

  const EncoderConfig& config_;
  const EncoderFamily& family_;
  const CanonicalNames& names_;
  std::string where_;
};

// Copies the tensors into the model. With `new_head` the head's are not looked for, and the pooler's may be missing.
void fill_model(EncoderModel& model, const EncoderFamily& family, const CanonicalNames& names, const std::string& where,
                bool new_head) {
  const HeadDescription* head = model.head() == Head::none ? nullptr : &head_description(family, model.head());
  std::string problems;
  std::set<std::string> used;
  std::vector<std::pair<PublishedTensor, std::string>> sources;
  for (const PublishedTensor& target : published_tensors(model, family)) {
    if (new_head && target.of_head) continue;
    const auto name = found_name(names, target.name, head);
    if (new_head && !name && target.name.starts_with(family.prefix + "pooler.")) continue;
    if (!name) {
      problems += "\n  missing " + target.name + " " + shape_text(target.values.shape().sizes());
    } else if (!std::ranges::equal(names.shape(*name), target.values.shape().sizes())) {
      problems += "\n  " + target.name + " is " + shape_text(names.shape(*name)) + ", expected " +
                  shape_text(target.values.shape().sizes());
    } else {
      sources.emplace_back(target, *name);
    }
    if (name) used.insert(*name);
  }
  for (const auto& [name, in_file] : names.all()) {
    if (!used.contains(name) && !may_be_left(name, family, model)) problems += "\n  unknown " + in_file;
  }
  HEED_CHECK_AS(bad_format, problems.empty(), where, ": the tensors are not those of ",
                architecture_name(family, model.head()), ":", problems);
  for (const auto& [target, name] : sources) fill(target, names.tensor(name));
}

}  // namespace

std::unique_ptr<EncoderModel> load_encoder(const fs::path& folder, const LoadOptions& options) {
  return load_encoder(ModelFolder(folder), options);
}

std::unique_ptr<EncoderModel> load_encoder(const ModelFolder& folder, const LoadOptions& options) {
  EncoderConfig config = parse_encoder_config(folder.config(), folder.config_name());
  const EncoderFamily& family = *find_encoder_family(config.model_type);
  const TensorFiles files = folder.tensors();
  const CanonicalNames names(files, family, folder.transformer().string());
  const SizeCheck sizes(config, family, names, folder.config_name());
  sizes.encoder();

  const Head kind = options.head ? *options.head : head_of(config, folder.config_name());
  const HeadDescription* head = kind == Head::none ? nullptr : &head_description(family, kind);
  HEED_CHECK(options.new_labels.empty() || (head && options.new_head_seed),
             "[load_encoder] new labels need a head and a seed for it");
  const bool new_head = head && options.new_head_seed && (!options.new_labels.empty() || !names.has_head(*head));
  if (!options.new_labels.empty()) set_labels(config, options.new_labels);
  if (head && !new_head) sizes.labels(*head);

  auto model = std::make_unique<EncoderModel>(std::move(config), kind, kind == Head::none && names.has_pooler());
  if (new_head) {
    initialize(*model, *options.new_head_seed);
    set_trainable(*model, false, [](std::string_view) { return true; });
  }
  fill_model(*model, family, names, folder.transformer().string(), new_head);
  return model;
}

void save_encoder(EncoderModel& model, const fs::path& folder) {
  const EncoderFamily& family = *find_encoder_family(model.config().model_type);
  TensorMap tensors;
  for (const PublishedTensor& tensor : published_tensors(model, family)) {
    Tensor values = tensor.values.detach();
    if (tensor.reversed) {
      values = Tensor::empty(values.shape(), values.dtype());
      fill({tensor.name, values, true, false}, tensor.values.detach());
    }
    // HuggingFace leaves the prefix away where there is no head.
    const bool bare = model.head() == Head::none;
    tensors.emplace(bare ? tensor.name.substr(family.prefix.size()) : tensor.name, values.contiguous());
  }
  Json config = model.config().source;
  config["architectures"] = {architecture_name(family, model.head())};
  config.erase("dtype");  // the newer name
  config["torch_dtype"] = "float32";
  fs::create_directories(folder);
  save_safetensors(folder / "model.safetensors", tensors);
  replace_file(folder / "config.json", config.dump(2) + "\n");
}

}  // namespace heed
