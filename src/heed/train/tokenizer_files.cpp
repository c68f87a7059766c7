#include "heed/train/tokenizer_files.h"

#include <fstream>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/stop.h"
#include "heed/data/conversation.h"
#include "heed/io/model_folder.h"
#include "heed/tasks/registry.h"
#include "heed/text/legacy_files.h"
#include "heed/text/load_tokenizer.h"
#include "heed/text/pipelines.h"
#include "heed/text/token_roles.h"
#include "heed/text/train_tokenizer.h"
#include "heed/train/head_plan.h"
#include "heed/train/trainer.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokenizerConfig = "tokenizer_config.json";
constexpr const char* kSpecialTokens = "special_tokens_map.json";
constexpr std::size_t kMostBytes = 64'000'000;

// A file that is gone when this is, however that comes.
class PassingFile {
 public:
  explicit PassingFile(fs::path path) : path_(std::move(path)) {}
  ~PassingFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Writes the texts of the training rows, a line each, for the tokenizer to learn from.
void write_texts(const TrainConfig& config, const fs::path& path) {
  std::ofstream out(path, std::ios::binary);
  for (const auto& heads : data_sources(config, {head_plans(config)[0]}, config.data.train)) {
    const auto reader = open_reader(heads[0]);
    for (Row row; reader->next(row);) {
      StopScope::current().check("[train]");
      std::string text = row.text;
      for (const auto* list : {&row.words, &row.items}) {
        for (const std::string& word : *list) (text += text.empty() ? "" : " ") += word;
      }
      if (row.pair) text += "\n" + *row.pair;
      for (const std::string& further : row.texts) text += "\n" + further;
      if (!row.messages.empty()) {
        for (const std::string& said : conversation_texts(row.messages)) text += "\n" + said;
      }
      out << text << "\n";
    }
  }
  out.close();
  HEED_CHECK_AS(io, out.good(), path.string(), ": cannot be written");
}

Json trained_tokenizer(const TrainConfig& config, TrainEvents& events) {
  events.phase("training the tokenizer");
  const text::TokenizerType type = text::tokenizer_type(config.tokenizer.train);
  text::TrainOptions options;
  options.vocab_size = config.tokenizer.vocab_size;
  options.special_tokens = text::model_special_tokens(type);
  options.progress = [&](double share) { events.progress(share); };
  std::vector<fs::path> files(config.tokenizer.files.begin(), config.tokenizer.files.end());
  const PassingFile texts(fs::path(config.output) / "tokenizer-texts.txt");
  if (files.empty()) {
    write_texts(config, texts.path());
    files = {texts.path()};
  }
  Json tokenizer = text::train_tokenizer(type, files, options);
  // A decoder knows where it begins: what it writes needs an end alone.
  const std::string end =
      text::SpecialTokens(text::Tokenizer::from_parsed_json(tokenizer, "tokenizer")).text("eos_token");
  if (task_named(config.task).head == HeadKind::seq2seq_lm && !end.empty()) {
    tokenizer["post_processor"] = text::template_processing(
        "$A:0 " + end + ":0", "$A:0 " + end + ":0 $B:0 " + end + ":0", text::ids_of(tokenizer, "tokenizer"));
  }
  return tokenizer;
}

// Templates that stand beside tokenizer_config.json instead of in it.
void copy_templates(const fs::path& from, const fs::path& folder) {
  const fs::path others = "additional_chat_templates";
  std::vector<fs::path> names = {"chat_template.jinja", "chat_template.json"};
  if (fs::is_directory(from / others)) {
    for (const auto& entry : fs::directory_iterator(from / others)) names.push_back(others / entry.path().filename());
  }
  for (const fs::path& name : names) {
    if (!fs::is_regular_file(from / name)) continue;
    make_folder((folder / name).parent_path());
    replace_file(folder / name, read_file(from / name, kMostBytes));
  }
}

// Of tokenizers that no tokenizer.json of HuggingFace's could be. False if this is none.
bool copy_older_files(const text::Tokenizer& tokenizer, const fs::path& from, const fs::path& folder) {
  if (from.empty() || fs::exists(from / "tokenizer.json")) return false;
  if (tokenizer.to_json().at("model").at("type") != "Renumbered" && !text::load_target_tokenizer(from)) return false;
  for (const char* name : {"source.spm", "target.spm", "vocab.json", "target_vocab.json", "sentencepiece.bpe.model",
                           "spiece.model", "merges.txt", "added_tokens.json"}) {
    if (fs::exists(from / name)) replace_file(folder / name, read_file(from / name, kMostBytes));
  }
  return true;
}

}  // namespace

fs::path tokenizer_folder(const TrainConfig& config) {
  const fs::path from = config.tokenizer.from.empty() ? config.model.from : config.tokenizer.from;
  const bool is_model = fs::exists(from / "config.json") || fs::exists(from / "adapter_config.json");
  return is_model ? ModelFolder(from).tokenizer() : from;
}

LoadedTokenizer starting_tokenizer(const TrainConfig& config, TrainEvents& events) {
  const fs::path output = config.output;
  const bool trains = !config.tokenizer.train.empty();
  // A resumed run has it already; training it again would give the same.
  if (trains && !fs::exists(output / "tokenizer.json")) {
    replace_file(output / "tokenizer.json", trained_tokenizer(config, events).dump(1) + "\n");
  }
  const fs::path folder = trains ? output : tokenizer_folder(config);
  LoadedTokenizer loaded{text::load_tokenizer(folder), text::load_target_tokenizer(folder),
                         text::read_settings(folder / kTokenizerConfig), text::read_settings(folder / kSpecialTokens)};
  loaded.tokenizer.set_padding(std::nullopt);
  loaded.tokenizer.set_truncation(std::nullopt);
  return loaded;
}

void save_tokenizer(const text::Tokenizer& tokenizer, const TrainConfig& config, std::size_t max_tokens,
                    const fs::path& folder) {
  const fs::path from = config.tokenizer.train.empty() ? tokenizer_folder(config) : fs::path();
  if (!copy_older_files(tokenizer, from, folder)) {
    replace_file(folder / "tokenizer.json", tokenizer.to_json().dump(1) + "\n");
  }
  if (!from.empty()) copy_templates(from, folder);
  if (const std::string& own = config.tokenizer.chat_template; !own.empty()) {
    replace_file(folder / "chat_template.jinja", read_file(own, kMostBytes));
  }
  bool has_settings = false;
  for (const char* name : {kTokenizerConfig, kSpecialTokens}) {
    if (from.empty() || !fs::exists(from / name)) continue;
    replace_file(folder / name, read_file(from / name, kMostBytes));
    has_settings = has_settings || name == kTokenizerConfig;
  }
  if (has_settings) return;
  const Json settings = text::SpecialTokens(tokenizer).settings(max_tokens);
  replace_file(folder / kTokenizerConfig, settings.dump(2) + "\n");
}

}  // namespace heed
