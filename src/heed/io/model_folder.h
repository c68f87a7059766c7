// A model folder as HuggingFace lays it out: config.json, weights, generation_config.json, and for embedding models the
// files of sentence-transformers. Or an adapter of PEFT: adapter_config.json beside no weights but its own, which names
// the model it changes; all else is that model's, except files that the adapter's folder has too. Reading here is
// reading JSON; what the fields mean to a model is models/'s business.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "heed/base/json.h"
#include "heed/io/tensor_files.h"

namespace heed {

// How sentence-transformers makes one vector of a text.
struct SentenceEmbedding {
  enum class Pooling { cls, mean, max };
  Pooling pooling = Pooling::mean;
  bool include_prompt = true;                        // mean and max see the tokens of the prompt too
  bool normalize = false;                            // to length 1
  std::optional<std::int64_t> max_tokens{};          // of a text; more are cut off
  std::map<std::string, std::string> prompts{};      // name -> text put in front
  std::optional<std::string> default_prompt_name{};  // which one, when none is asked for
};

class ModelFolder {
 public:
  // Reads and checks all JSON of the folder; config.json must be there. Weights are opened by tensors(). The model of
  // an adapter is looked for under the name it was given, as a folder or as one that was pulled, and beside the
  // adapter.
  explicit ModelFolder(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  // Where config.json and the weights are: the folder itself, or the one modules.json names for the Transformer.
  const std::filesystem::path& transformer() const { return transformer_; }
  // Where the tokenizer and chat templates are: that folder too, or the adapter's if it has a tokenizer.
  const std::filesystem::path& tokenizer() const { return tokenizer_; }
  // Whether path() is an adapter's.
  bool is_adapter() const { return is_adapter_; }
  std::string config_name() const { return config_name_; }
  const Json& config() const { return config_; }
  // generation_config.json, null where there is none.
  const Json& generation_config() const { return generation_config_; }
  // Set if there is a modules.json. Modules other than Transformer, Pooling and Normalize are refused by name.
  const std::optional<SentenceEmbedding>& sentence_embedding() const { return sentence_embedding_; }

  TensorFiles tensors() const { return TensorFiles(transformer_); }

 private:
  void read_modules(const std::filesystem::path& file);
  void read_adapter();

  std::filesystem::path path_, transformer_, tokenizer_;
  std::string config_name_;
  bool is_adapter_ = false;
  Json config_, generation_config_;
  std::optional<SentenceEmbedding> sentence_embedding_;
};

}  // namespace heed
