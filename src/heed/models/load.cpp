#include "heed/models/load.h"

#include <algorithm>
#include <map>
#include <set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/io/model_folder.h"
#include "heed/models/adapter.h"
#include "heed/models/published.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Whether files may have this tensor although the model does not.
bool may_be_left(const std::string& name, const Model& model) {
  if (name.ends_with(".position_ids") || name.ends_with("embeddings.token_type_ids")) return true;
  if (name.starts_with(model.config().family->prefix + "pooler.")) return !model.has_pooler();
  const auto is_constant = [&](const auto& each) { return name == model.config().family->prefix + each.first; };
  if (std::ranges::any_of(model.config().constants, is_constant)) return true;
  const auto is_copy = [&](const auto& copy) { return name == model.config().family->prefix + copy.second; };
  if (std::ranges::any_of(model.config().copies, is_copy)) return true;
  return belongs_to_head(name, model.config()) || is_unused(name, *model.config().family);
}

// The name in the file for a wanted tensor: its own, or that of a copy.
std::optional<std::string> found_name(const CanonicalNames& names, const std::string& wanted, const ModelConfig& config,
                                      const HeadConfig* head) {
  if (names.contains(wanted)) return wanted;
  const std::string& prefix = config.family->prefix;
  for (const auto& [ours, other] : config.copies) {
    if (prefix + ours == wanted && names.contains(prefix + other)) return prefix + other;
  }
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

// config.json against the shape of a file's tensor.
void check_size(const CanonicalNames& names, const SizeCheck& check, const std::string& where) {
  HEED_CHECK_AS(bad_format, names.contains(check.tensor), where, ": ",
                check.reason.empty() ? "" : check.reason + ", but ", "the files have no ", check.tensor);
  const auto& shape = names.shape(check.tensor);
  HEED_CHECK_AS(bad_format, shape.size() == 2 && shape[check.axis] == check.size, where, ": ", check.field, " says ",
                check.size, ", but ", check.tensor, " is ", shape_text(shape));
}

// Before memory of the configured size is asked for.
void check_sizes(const CanonicalNames& names, const ModelConfig& config, const HeadConfig* head,
                 const std::string& where) {
  for (SizeCheck check : config.sizes) {
    check.tensor = config.family->prefix + check.tensor;
    check.tensor = found_name(names, check.tensor, config, head).value_or(check.tensor);
    check_size(names, check, where);
  }
  if (!head) return;
  const bool labelled = head->kind == HeadKind::sequence_classification || head->kind == HeadKind::token_classification;
  const std::string output = head->names.back().theirs + ".weight";
  if (labelled && names.contains(output)) {
    check_size(names, {output, 0, static_cast<std::int64_t>(config.labels.size()), config.labels_field}, where);
  }
}

// HuggingFace's rule: an output that files hold beside the table of words, with other values, is not tied to it,
// whatever config.json says.
void untie_if_apart(ModelConfig& config, HeadKind kind, const CanonicalNames& names) {
  const auto head = std::ranges::find(config.heads, kind, &HeadConfig::kind);
  if (head == config.heads.end() || !head->tied) return;
  const std::string table =
      config.family->prefix + published_name(config.names, config.head_table, 0, config.blocks_per_group) + ".weight";
  for (const PublishedName& copy : head->copies) {
    if (!copy.ours.empty() || !names.contains(copy.theirs) || !names.contains(table)) continue;
    const Tensor own = names.tensor(copy.theirs), words = names.tensor(table);
    head->tied = own.dtype() == words.dtype() && same_bits(own, words);
  }
}

// What a model whose parameters are deferred has of the files. Each is known by the storage of the zero that it is.
class StoredParameters {
 public:
  void add(const PublishedTensor& target, const Tensor& source) {
    Source& known = sources_[target.values.storage().get()];
    known.replaced = target.values.storage();
    known.parts.push_back(target.arranged(source));
  }

  Tensor values(const Tensor& parameter) {
    Source& source = source_of(parameter);
    if (!source.values.defined()) {
      source.values = Tensor::empty(parameter.shape());
      std::int64_t row = 0;
      for (const Tensor& part : source.parts) {
        Tensor rows = source.values.detached_slice(0, row, row + part.size(0));
        rows.copy_from(part);
        row += part.size(0);
      }
    }
    return source.values;
  }

  Weight weight(const Tensor& parameter) {
    Source& source = source_of(parameter);
    if (!source.weight) {
      const DType first = source.parts.front().dtype();
      const bool usable = first == DType::f32 || first == DType::f16 || first == DType::bf16;
      const bool alike = std::ranges::all_of(source.parts, [&](const Tensor& part) { return part.dtype() == first; });
      if (!usable || !alike) {
        for (Tensor& part : source.parts) part = part.detached_to(DType::f32);
      }
      source.weight = Weight::stored(source.parts);
    }
    return *source.weight;
  }

 private:
  struct Source {
    std::shared_ptr<Storage> replaced{};  // kept, so that no other has its address
    std::vector<Tensor> parts{};
    // What is made of them, once for all that are tied.
    std::optional<Weight> weight{};
    Tensor values{};
  };
  Source& source_of(const Tensor& parameter) {
    const auto found = sources_.find(parameter.storage().get());
    HEED_CHECK_AS(internal, found != sources_.end(), "[load_model] a parameter ", parameter.shape(), " has no tensor");
    return found->second;
  }

  std::map<const Storage*, Source> sources_;
};

// Starting values for what the files may lack: the head and the pooler. What they share with the rest is the rest's.
void start_head(Model& model, std::uint64_t seed) {
  std::set<std::string, std::less<>> own;
  for (const PlacedParameter& each : placed_parameters(model)) {
    const ParameterPlace::Part part = each.place.part;
    if (part == ParameterPlace::Part::head || part == ParameterPlace::Part::pooler) own.insert(each.name);
  }
  const auto is_own = [&](std::string_view name) { return own.contains(name); };
  initialize(model, seed, is_own);
  set_trainable(model, false, is_own);
}

// Fills the model with the tensors. With `new_head` the head's are not looked for, and the pooler's may be missing.
void fill_model(Model& model, const CanonicalNames& names, const std::string& where, bool new_head,
                LoadOptions::Storage storage) {
  const HeadConfig* head = model.head() == HeadKind::none ? nullptr : &model.config().head_config(model.head());
  std::string problems;
  std::set<std::string> used;
  std::vector<std::pair<PublishedTensor, std::string>> sources;
  for (const PublishedTensor& target : published_tensors(model)) {
    if (new_head && target.part == ParameterPlace::Part::head) continue;
    const auto name = found_name(names, target.name, model.config(), head);
    if (new_head && !name && target.part == ParameterPlace::Part::pooler) continue;
    if (target.is_buffer && !name) continue;
    if (!name) {
      problems += "\n  missing " + target.name + " " + shape_text(target.shape().sizes());
    } else if (!std::ranges::equal(names.shape(*name), target.shape().sizes())) {
      problems += "\n  " + target.name + " is " + shape_text(names.shape(*name)) + ", expected " +
                  shape_text(target.shape().sizes());
    } else {
      sources.emplace_back(target, *name);
    }
    if (name) used.insert(*name);
  }
  for (const auto& [name, in_file] : names.all()) {
    if (!used.contains(name) && !may_be_left(name, model)) problems += "\n  unknown " + in_file;
  }
  HEED_CHECK_AS(bad_format, problems.empty(), where, ": the tensors are not those of ", model.architecture(), ":",
                problems);
  StoredParameters stored;
  for (auto& [target, name] : sources) {
    const Tensor source = names.tensor(name);
    if (storage == LoadOptions::Storage::f32 || target.is_buffer) {
      target.values.copy_from(target.arranged(source));
    } else {
      stored.add(target, source);
    }
  }
  if (storage == LoadOptions::Storage::f32) return;
  replace_parameters(
      model, [&](const Weight& weight) { return stored.weight(weight.parameter()); },
      [&](const Tensor& parameter) { return stored.values(parameter); });
}

}  // namespace

std::unique_ptr<Model> load_model(const fs::path& folder, const LoadOptions& options) {
  return load_model(ModelFolder(folder), options);
}

std::unique_ptr<Model> load_model(const ModelFolder& folder, const LoadOptions& options) {
  ModelConfig config = parse_model_config(folder.config(), folder.config_name());
  const HeadKind kind = options.head ? *options.head : head_of(config, folder.config_name());
  const HeadConfig* head = kind == HeadKind::none ? nullptr : &config.head_config(kind);
  HEED_CHECK(options.new_labels.empty() || (head && options.new_head_seed),
             "[load_model] new labels need a head and a seed for it");

  const TensorFiles files = folder.tensors();
  const CanonicalNames names(files, config, folder.transformer().string());
  const std::optional<Adapter> adapter = folder.is_adapter() ? std::optional<Adapter>(folder.path()) : std::nullopt;
  const bool head_of_adapter = adapter && head && options.new_labels.empty() && adapter->has_head(*head);
  const bool new_head =
      head_of_adapter || (head && options.new_head_seed && (!options.new_labels.empty() || !names.has_head(*head)));
  if (!options.new_labels.empty()) config.set_labels(options.new_labels);
  check_sizes(names, config, new_head ? nullptr : head, folder.config_name());
  untie_if_apart(config, kind, names);

  // What an adapter changes is no longer what the files store.
  const LoadOptions::Storage storage = adapter ? LoadOptions::Storage::f32 : options.storage;
  const bool as_stored = storage == LoadOptions::Storage::as_stored;
  HEED_CHECK(!new_head || !as_stored, "[load_model] a new head is for training: it has no weights as stored");
  const auto make = [&] {
    return std::make_unique<Model>(std::move(config), kind, kind == HeadKind::none && names.has_pooler());
  };
  const auto make_deferred = [&] {
    const DeferredParameters deferred;
    return make();
  };
  auto model = as_stored ? make_deferred() : make();
  if (new_head && options.new_head_seed) start_head(*model, *options.new_head_seed);
  fill_model(*model, names, folder.transformer().string(), new_head, storage);
  if (adapter) adapter->merge(*model, head_of_adapter);
  return model;
}

void save_model(const Model& model, const fs::path& folder, const Json& fields) {
  TensorMap tensors;
  const ModelFamily& family = *model.config().family;
  // HuggingFace leaves out the prefix where there is no head.
  const bool bare = model.head() == HeadKind::none;
  for (const PublishedTensor& tensor : published_tensors(model)) {
    const std::string name = bare ? family.bare_prefix + tensor.name.substr(family.prefix.size()) : tensor.name;
    tensors.emplace(name, tensor.written());
  }
  for (const auto& [name, values] : model.config().constants) {
    tensors.emplace((bare ? family.bare_prefix : family.prefix) + name, values);
  }
  Json config = model.config().source;
  config["architectures"] = {model.architecture()};
  config.erase("dtype");  // the newer name
  config["torch_dtype"] = "float32";
  config.update(fields);
  make_folder(folder);
  save_safetensors(folder / "model.safetensors", tensors);
  replace_file(folder / "config.json", config.dump(2) + "\n");
}

}  // namespace heed
