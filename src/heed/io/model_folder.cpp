#include "heed/io/model_folder.h"

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/io/hub.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kJsonLimit = 64'000'000;

Json read_json(const fs::path& path) {
  return parse_json(read_file(path, kJsonLimit), path.string());
}

Json read_object(const fs::path& path) {
  Json value = read_json(path);
  HEED_CHECK_AS(bad_format, value.is_object(), path.string(), ": is ", detail::json_kind(value),
                ", expected an object");
  return value;
}

// Null where there is no such file.
Json read_optional_object(const fs::path& path) {
  std::error_code unreadable;  // then reading says why
  const bool absent = !fs::exists(path, unreadable) && !unreadable;
  return absent ? Json() : read_object(path);
}

void read_pooling(const fs::path& path, SentenceEmbedding& embedding) {
  using Pooling = SentenceEmbedding::Pooling;
  static const std::map<std::string, Pooling> modes = {{"pooling_mode_cls_token", Pooling::cls},
                                                       {"pooling_mode_mean_tokens", Pooling::mean},
                                                       {"pooling_mode_max_tokens", Pooling::max}};
  const Json config = read_object(path);
  std::optional<Pooling> chosen;
  for (const auto& [field, value] : config.items()) {
    if (!field.starts_with("pooling_mode_") || !json_as<bool>(value, field, path.string())) continue;
    const auto mode = modes.find(field);
    HEED_CHECK_AS(bad_format, mode != modes.end(), path.string(), ": ", field,
                  " is true, which is not known; known are pooling_mode_cls_token, _mean_tokens and _max_tokens");
    HEED_CHECK_AS(bad_format, !chosen, path.string(), ": ", field,
                  " is true beside another pooling mode, expected one");
    chosen = mode->second;
  }
  HEED_CHECK_AS(bad_format, chosen, path.string(), ": no pooling_mode_... is true, expected one");
  embedding.pooling = *chosen;
  embedding.include_prompt = json_optional<bool>(config, "include_prompt", true, path.string());
}

// The part of modules.json's "type" after the last dot: sentence_transformers.models.Pooling.
std::string_view class_name(std::string_view type) {
  return type.substr(type.rfind('.') + 1);
}

bool has_adapter_alone(const fs::path& folder) {
  return fs::exists(folder / "adapter_config.json") && !fs::exists(folder / "model.safetensors") &&
         !fs::exists(folder / "model.safetensors.index.json");
}

// The folder of the model that an adapter changes.
fs::path base_of_adapter(const fs::path& folder) {
  const fs::path file = folder / "adapter_config.json";
  const auto name = json_optional<std::string>(read_object(file), "base_model_name_or_path", "", file.string());
  HEED_CHECK_AS(bad_format, !name.empty(), file.string(),
                ": does not name the model that it changes; set base_model_name_or_path to its folder");
  std::error_code unreadable;
  const bool is_beside =
      !fs::exists(fs::path(name) / "config.json", unreadable) && fs::is_directory(folder / name, unreadable);
  fs::path base = folder / name;
  if (!is_beside) {
    try {
      base = find_model(name);
    } catch (const Error& error) {
      fail(error.kind(), file.string(), ": the model that it changes: ", error.what(),
           "; or set base_model_name_or_path to its folder");
    }
  }
  HEED_CHECK_AS(bad_format, !has_adapter_alone(base), file.string(), ": changes \"", name,
                "\", which is an adapter itself, expected a whole model");
  return base;
}

}  // namespace

ModelFolder::ModelFolder(const fs::path& folder) : path_(folder), transformer_(folder) {
  HEED_CHECK_AS(not_found, fs::is_directory(folder), folder.string(), ": is not a folder");
  is_adapter_ = has_adapter_alone(folder);
  if (is_adapter_) {
    read_adapter();
    return;
  }
  if (fs::exists(folder / "modules.json")) read_modules(folder / "modules.json");
  tokenizer_ = transformer_;
  config_name_ = (transformer_ / "config.json").string();
  config_ = read_object(config_name_);
  generation_config_ = read_optional_object(transformer_ / "generation_config.json");
}

void ModelFolder::read_adapter() {
  const ModelFolder base(base_of_adapter(path_));
  sentence_embedding_ = base.sentence_embedding_;
  if (fs::exists(path_ / "modules.json")) read_modules(path_ / "modules.json");
  transformer_ = base.transformer_;
  tokenizer_ = fs::exists(path_ / "tokenizer.json") ? path_ : base.tokenizer_;
  config_name_ = base.config_name_;
  config_ = base.config_;
  // Of a head that came with the adapter.
  if (const Json own = read_optional_object(path_ / "config.json"); !own.is_null()) {
    config_ = own;
    config_name_ = (path_ / "config.json").string();
  }
  const Json generation = read_optional_object(path_ / "generation_config.json");
  generation_config_ = generation.is_null() ? base.generation_config_ : generation;
}

void ModelFolder::read_modules(const fs::path& file) {
  const std::string where = file.string();
  SentenceEmbedding embedding;
  bool pooled = false;
  const Json modules = read_json(file);
  HEED_CHECK_AS(bad_format, modules.is_array(), where, ": is ", detail::json_kind(modules),
                ", expected a list of modules");
  for (const Json& module : modules) {
    const auto type = json_required<std::string>(module, "type", where);
    const auto relative = json_optional<std::string>(module, "path", "", where);
    const fs::path place = relative.empty() ? path_ : join_inside(path_, relative, Links::anywhere);
    const std::string_view name = class_name(type);
    if (name == "Transformer") {
      transformer_ = place;
    } else if (name == "Pooling") {
      read_pooling(place / "config.json", embedding);
      pooled = true;
    } else if (name == "Normalize") {
      embedding.normalize = true;
    } else {
      fail(ErrorKind::bad_format, where, ": type is \"", type,
           "\", expected a module Transformer, Pooling or Normalize of sentence_transformers");
    }
  }
  HEED_CHECK_AS(bad_format, pooled, where, ": has no Pooling module");

  const fs::path limits = transformer_ / "sentence_bert_config.json";
  if (const Json own = read_optional_object(limits); !own.is_null()) {
    const auto most = json_optional<std::int64_t>(own, "max_seq_length", 0, limits.string());
    if (most > 0) embedding.max_tokens = most;
  }
  const fs::path more = path_ / "config_sentence_transformers.json";
  if (const Json own = read_optional_object(more); !own.is_null()) {
    const Json prompts = json_optional<Json>(own, "prompts", Json::object(), more.string());
    HEED_CHECK_AS(bad_format, prompts.is_object(), more.string(), ": prompts is ", detail::json_kind(prompts),
                  ", expected an object of name -> text");
    for (const auto& [name, text] : prompts.items()) {
      embedding.prompts[name] = json_as<std::string>(text, "prompts of " + name, more.string());
    }
    const auto name = json_optional<std::string>(own, "default_prompt_name", "", more.string());
    if (!name.empty()) embedding.default_prompt_name = name;
  }
  sentence_embedding_ = std::move(embedding);
}

}  // namespace heed
