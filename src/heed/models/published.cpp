// Loading and saving: our parameters and the tensors of published files, matched by the names of the family.
#include <algorithm>
#include <map>
#include <set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/io/model_folder.h"
#include "heed/models/encoder_model.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// A published tensor and the rows of ours that it fills.
struct PublishedTensor {
  std::string name;  // the encoder's with the family's prefix
  Tensor values;
  bool reversed = false;
  bool of_head = false;
};

// name = path or path.rest: the rest, with its dot.
std::optional<std::string> rest_behind(const std::string& path, const std::string& name) {
  if (!name.starts_with(path)) return {};
  if (name.size() > path.size() && name[path.size()] != '.') return {};
  return name.substr(path.size());
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

// "a.{b,c}.d" to {"a.b.d", "a.c.d"}
std::vector<std::string> alternatives(const std::string& name) {
  const std::size_t open = name.find('{'), close = name.find('}');
  if (open == std::string::npos) return {name};
  std::vector<std::string> names;
  for (std::size_t at = open; at < close;) {
    const std::size_t next = std::min(name.find(',', at + 1), close);
    names.push_back(name.substr(0, open) + name.substr(at + 1, next - at - 1) + name.substr(close + 1));
    at = next;
  }
  return names;
}

// The name of the number-th block's module or parameter: # and @ filled in.
std::string numbered(const std::string& theirs, std::int64_t number, std::int64_t blocks_per_group) {
  if (theirs.find('@') == std::string::npos) return replaced(theirs, "#", std::to_string(number));
  return replaced(replaced(theirs, "@", std::to_string(number / blocks_per_group)), "#",
                  std::to_string(number % blocks_per_group));
}

// Appends the published tensors of the parameter called `ours`, if one of the names covers it.
bool append_published(std::vector<PublishedTensor>& tensors, const std::vector<PublishedName>& names,
                      const std::string& ours, const Tensor& parameter, const std::string& prefix,
                      std::int64_t blocks_per_group) {
  std::string pattern = ours;
  std::int64_t number = 0;
  if (ours.starts_with("layer.")) {
    const std::size_t begin = std::string_view("layer.").size(), end = ours.find('.', begin);
    number = std::stoll(ours.substr(begin, end - begin));
    pattern = "layer.#" + ours.substr(end);
  }
  for (const PublishedName& name : names) {
    const auto rest = rest_behind(name.ours, pattern);
    if (!rest) continue;
    const auto parts = alternatives(prefix + numbered(name.theirs, number, blocks_per_group) + *rest);
    const std::int64_t rows = parameter.size(0) / static_cast<std::int64_t>(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto begin = static_cast<std::int64_t>(i) * rows;
      tensors.push_back({parts[i], parameter.sliced(0, begin, begin + rows), name.reversed, prefix.empty()});
    }
    return true;
  }
  return false;
}

// All tensors of a file that would hold this model. A tied output weight is the table of words and not listed twice.
std::vector<PublishedTensor> published_tensors(EncoderModel& model, const EncoderFamily& family) {
  std::vector<PublishedTensor> tensors;
  for (const auto& [name, parameter] : named_parameters(model)) {
    const bool of_head = name.starts_with("head.");
    const std::string ours = name.substr(name.find('.') + 1);
    const auto& names = of_head ? head_description(family, model.head()).names : family.names;
    const bool found = append_published(tensors, names, ours, *parameter, of_head ? "" : family.prefix,
                                        model.config().blocks_per_group);
    HEED_CHECK_AS(internal, found, "[", family.model_type, "] parameter ", name, " has no published name");
  }
  return tensors;
}

void fill(const PublishedTensor& target, const Tensor& source) {
  Tensor values = target.values;
  if (!target.reversed) return values.copy_from(source);
  const std::int64_t rows = source.size(0);
  for (std::int64_t i = 0; i < rows; ++i) {
    Tensor row = values.sliced(0, i, i + 1);
    row.copy_from(source.sliced(0, rows - 1 - i, rows - i));
  }
}

// The tensors of a folder under their canonical names: with the family's prefix, and .weight and .bias for the norms
// of the first converters (.gamma, .beta).
class CanonicalNames {
 public:
  CanonicalNames(const TensorFiles& files, const EncoderFamily& family) : files_(files) {
    const auto names = files.names();
    const bool prefixed = std::ranges::any_of(names, [&](const auto& name) { return name.starts_with(family.prefix); });
    for (const std::string& name : names) {
      std::string canonical = name;
      if (canonical.ends_with(".gamma")) canonical.replace(canonical.size() - 5, 5, "weight");
      if (canonical.ends_with(".beta")) canonical.replace(canonical.size() - 4, 4, "bias");
      if (!prefixed && !belongs_to_head(canonical, family)) canonical = family.prefix + canonical;
      has_pooler_ = has_pooler_ || canonical.starts_with(family.prefix + "pooler.");
      names_.emplace(canonical, name);
    }
  }
  bool has_pooler() const { return has_pooler_; }
  const std::map<std::string, std::string>& all() const { return names_; }
  bool contains(const std::string& canonical) const { return names_.contains(canonical); }
  Tensor tensor(const std::string& canonical) const { return files_.tensor(names_.at(canonical)); }
  const std::vector<std::int64_t>& shape(const std::string& canonical) const {
    return files_.info(names_.at(canonical)).shape;
  }

  static bool belongs_to_head(const std::string& name, const EncoderFamily& family) {
    const auto covers = [&](const PublishedName& known) { return rest_behind(known.theirs, name).has_value(); };
    return std::ranges::any_of(family.heads,
                               [&](const HeadDescription& head) {
                                 return std::ranges::any_of(head.names, covers) ||
                                        std::ranges::any_of(head.copies, covers);
                               }) ||
           std::ranges::any_of(family.unused, [&](const std::string& begin) { return name.starts_with(begin); });
  }

 private:
  const TensorFiles& files_;
  std::map<std::string, std::string> names_;  // canonical -> in the file
  bool has_pooler_ = false;
};

// Whether files may have this tensor although the model does not.
bool may_be_left(const std::string& name, const EncoderFamily& family, const EncoderModel& model) {
  if (name.ends_with(".position_ids") || name.ends_with("embeddings.token_type_ids")) return true;
  if (name.starts_with(family.prefix + "pooler.")) return !model.encoder().has_pooler();
  return CanonicalNames::belongs_to_head(name, family);
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

// Whether the files have any tensor of the head.
bool has_head(const CanonicalNames& names, const HeadDescription& head) {
  return std::ranges::any_of(names.all(), [&](const auto& item) {
    return std::ranges::any_of(head.names,
                               [&](const auto& known) { return rest_behind(known.theirs, item.first).has_value(); });
  });
}

}  // namespace

std::unique_ptr<EncoderModel> load_encoder(const fs::path& folder, const LoadOptions& options) {
  return load_encoder(ModelFolder(folder), options);
}

std::unique_ptr<EncoderModel> load_encoder(const ModelFolder& folder, const LoadOptions& options) {
  EncoderConfig config = parse_encoder_config(folder.config(), folder.config_name());
  const EncoderFamily& family = *find_encoder_family(config.model_type);
  const TensorFiles files = folder.tensors();
  const CanonicalNames names(files, family);
  const SizeCheck sizes(config, family, names, folder.config_name());
  sizes.encoder();

  const Head kind = options.head ? *options.head : head_of(config, folder.config_name());
  const HeadDescription* head = kind == Head::none ? nullptr : &head_description(family, kind);
  HEED_CHECK(options.new_labels.empty() || (head && options.new_head_seed),
             "[load_encoder] new labels need a head and a seed for it");
  const bool new_head = head && options.new_head_seed && (!options.new_labels.empty() || !has_head(names, *head));
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
