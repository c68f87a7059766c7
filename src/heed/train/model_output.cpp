#include "heed/train/model_output.h"

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/io/model_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

void write_json(const fs::path& path, const Json& value) {
  fs::create_directories(path.parent_path());
  replace_file(path, value.dump(2) + "\n");
}

// What HuggingFace wants to know beside tokenizer.json.
Json tokenizer_settings(const text::Tokenizer& tokenizer, std::size_t max_tokens) {
  Json settings = {{"tokenizer_class", "PreTrainedTokenizerFast"}, {"model_max_length", max_tokens}};
  const std::vector<std::pair<const char*, std::vector<const char*>>> roles = {{"unk_token", {"[UNK]", "<unk>"}},
                                                                               {"cls_token", {"[CLS]", "<s>"}},
                                                                               {"sep_token", {"[SEP]", "</s>"}},
                                                                               {"pad_token", {"[PAD]", "<pad>"}},
                                                                               {"mask_token", {"[MASK]", "<mask>"}}};
  for (const auto& [role, spellings] : roles) {
    for (const char* spelling : spellings) {
      if (!settings.contains(role) && tokenizer.token_to_id(spelling)) settings[role] = spelling;
    }
  }
  return settings;
}

void write_tokenizer(const text::Tokenizer& tokenizer, const TrainConfig& config, std::size_t max_tokens,
                     const fs::path& folder) {
  replace_file(folder / "tokenizer.json", tokenizer.to_json().dump(1) + "\n");
  const fs::path from = config.tokenizer.from.empty() ? config.model.from : config.tokenizer.from;
  bool has_settings = false;
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    if (from.empty() || !config.tokenizer.train.empty() || !fs::exists(from / name)) continue;
    constexpr std::size_t kMostBytes = 64'000'000;
    replace_file(folder / name, read_file(from / name, kMostBytes));
    has_settings = has_settings || name == std::string_view("tokenizer_config.json");
  }
  if (!has_settings) write_json(folder / "tokenizer_config.json", tokenizer_settings(tokenizer, max_tokens));
}

// sentence-transformers' description: the encoder, how its vectors become one, and whether that has length 1.
void write_sentence_files(const TrainConfig& config, std::int64_t width, std::size_t max_tokens,
                          const fs::path& folder) {
  Json modules = {
      {{"idx", 0}, {"name", "0"}, {"path", ""}, {"type", "sentence_transformers.models.Transformer"}},
      {{"idx", 1}, {"name", "1"}, {"path", "1_Pooling"}, {"type", "sentence_transformers.models.Pooling"}},
      {{"idx", 2}, {"name", "2"}, {"path", "2_Normalize"}, {"type", "sentence_transformers.models.Normalize"}}};
  write_json(folder / "modules.json", modules);
  write_json(folder / "sentence_bert_config.json", {{"max_seq_length", max_tokens}, {"do_lower_case", false}});
  write_json(folder / "1_Pooling" / "config.json", {{"word_embedding_dimension", width},
                                                    {"pooling_mode_cls_token", config.embed.pooling == "cls"},
                                                    {"pooling_mode_mean_tokens", config.embed.pooling == "mean"},
                                                    {"pooling_mode_max_tokens", config.embed.pooling == "max"},
                                                    {"pooling_mode_mean_sqrt_len_tokens", false}});
}

}  // namespace

void write_model(EncoderModel& model, const TrainTask& task, const TrainConfig& config, const HeadPlan& plan,
                 const text::Tokenizer& tokenizer, std::size_t max_tokens, const fs::path& folder) {
  save_encoder(model, folder);
  constexpr std::size_t kMostBytes = 64'000'000;
  Json fields = parse_json(read_file(folder / "config.json", kMostBytes), "config.json");
  fields.update(task.config_fields());
  replace_file(folder / "config.json", fields.dump(2) + "\n");
  write_tokenizer(tokenizer, config, max_tokens, folder);
  if (plan.task == "embed") write_sentence_files(config, model.config().width, max_tokens, folder);
}

}  // namespace heed
