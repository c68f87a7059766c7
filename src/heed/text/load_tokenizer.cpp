#include "heed/text/load_tokenizer.h"

#include "heed/base/error.h"
#include "heed/text/legacy.h"

namespace heed::text {

namespace fs = std::filesystem;

Tokenizer load_tokenizer(const fs::path& directory) {
  HEED_CHECK_AS(not_found, fs::is_directory(directory), directory.string(), ": is not a directory");
  if (const fs::path file = directory / "tokenizer.json"; fs::exists(file)) return Tokenizer::from_file(file);
  return Tokenizer::from_parsed_json(legacy_tokenizer_json(directory), directory.string());
}

std::optional<Tokenizer> load_target_tokenizer(const fs::path& directory) {
  if (fs::exists(directory / "tokenizer.json")) return {};
  const std::optional<Json> json = legacy_target_tokenizer_json(directory);
  if (!json) return {};
  return Tokenizer::from_parsed_json(*json, directory.string());
}

Tokenizer load_sentencepiece(const fs::path& model) {
  return Tokenizer::from_parsed_json(sentencepiece_tokenizer_json(model), model.string());
}

}  // namespace heed::text
