// The JSON files of a model folder, a line each: config.json, modules.json, 1_Pooling/config.json,
// sentence_bert_config.json, config_sentence_transformers.json, generation_config.json. An empty line: no such file.
#include <array>

#include "folder.h"
#include "heed/base/error.h"
#include "heed/io/model_folder.h"
#include "heed/models/model_config.h"
#include "promise.h"

namespace {

constexpr std::array kFiles = {"config.json",
                               "modules.json",
                               "1_Pooling/config.json",
                               "sentence_bert_config.json",
                               "config_sentence_transformers.json",
                               "generation_config.json"};

void write_files(const heed::fuzz::Folder& folder, std::string_view input) {
  std::filesystem::create_directory(folder.path() / "1_Pooling");
  for (const char* name : kFiles) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    std::filesystem::remove(folder.path() / name);
    if (end > 0) folder.write(name, input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
}

void check(const heed::ModelConfig& config) {
  using heed::fuzz::expect;
  const heed::ModelInfo& info = config.info;
  expect(info.layers > 0 && info.heads > 0 && info.attention_layers > 0, "counts above 0");
  expect(info.vocab_size > 0 && info.hidden_size > 0 && info.embedding_size > 0 && info.intermediate_size > 0,
         "sizes above 0");
  expect(info.max_tokens > 0, "room for a token");
  for (const heed::HeadConfig& head : config.heads) {
    expect(head.dropout >= 0 && head.dropout <= 1, "dropout is a probability");
  }
  expect(!config.labels.empty(), "labels");
  heed::head_of(config, "config.json");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  static const fuzz::Folder folder;
  write_files(folder, fuzz::text_of(data, size));
  try {
    const ModelFolder model(folder.path());
    check(parse_model_config(model.config(), "config.json"));
  } catch (const Error&) {
  }
  return 0;
}
