// A model folder made by PyTorch (tests/models/models_torch.py) with random weights and the tokenizer of
// random_model.h, and what PyTorch computes there for one text: expected.safetensors and dump.safetensors.
#pragma once

#include <gtest/gtest.h>

#include "heed/tasks/classify.h"
#include "heed/text/load_tokenizer.h"
#include "support/random_model.h"
#include "support/temp_folder.h"
#include "support/torch.h"

namespace heed::test {

// `architecture` is what stands after the class name; `more` are further fields of the question to the script.
inline std::filesystem::path make_torch_folder(const TempFolder& folder, const Json& config,
                                               const std::string& architecture, const TextInput& input,
                                               const Json& more = Json::object()) {
  write_small_vocabulary(folder.path() / "tokenizer");
  const text::Tokenizer tokenizer = text::load_tokenizer(folder.path() / "tokenizer");
  const text::Encoding encoding = input.pair ? tokenizer.encode(input.text, *input.pair) : tokenizer.encode(input.text);
  Json question = {{"name", "model"},
                   {"config", config},
                   {"architecture", architecture},
                   {"ids", encoding.ids},
                   {"types", encoding.type_ids},
                   {"lengths", {encoding.size()}},
                   {"metadata", {{"text", input.text}}}};
  if (input.pair) question["metadata"]["pair"] = *input.pair;
  question.update(more);
  const auto asked = folder.write("questions.json", Json::array({question}).dump());
  EXPECT_EQ(run_python("models/models_torch.py " + asked.string() + " " + folder.path().string()), 0);
  write_small_vocabulary(folder.path() / "model");
  folder.write("model/tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})");
  return folder.path() / "model";
}

}  // namespace heed::test
