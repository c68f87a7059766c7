// What HuggingFace's generate() wrote, to the id and to the score: every case of suites/hf-tiny-models, and of the
// published decoders among weights/.
#include <gtest/gtest.h>

#include <algorithm>

#include "generate/generate_case.h"
#include "heed/base/file.h"
#include "heed/io/model_folder.h"
#include "heed/models/load.h"
#include "heed/models/registry.h"
#include "heed/tensor/autograd.h"
#include "support/shared_data.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Folders with an expected.json whose model is a decoder that is known.
std::vector<fs::path> decoders() {
  std::vector<fs::path> folders;
  for (const fs::path& parent : {test::suite_data("hf-tiny-models"), test::shared_data("weights")}) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(parent, absent)) {
      if (!fs::exists(entry.path() / "expected.json") || !fs::exists(entry.path() / "model.safetensors")) continue;
      const Json config = parse_json(read_file(entry.path() / "config.json", 1 << 24), "config.json");
      const std::string type = config.value("model_type", ""),
                        architecture = config.value("architectures", Json({""}))[0];
      const bool known =
          std::ranges::any_of(model_families(), [&](const auto* each) { return each->model_type == type; });
      const bool writes = architecture.ends_with("ForCausalLM") || architecture.ends_with("LMHeadModel");
      // Transformer-XL left transformers before its generations could be made.
      if (known && writes && type != "transfo-xl") folders.push_back(entry.path());
    }
  }
  std::ranges::sort(folders);
  return folders;
}

using test::Ids;

class HuggingFaceGenerate : public testing::TestWithParam<fs::path> {};

TEST_P(HuggingFaceGenerate, EveryCase) {
  const ModelFolder folder(GetParam());
  const auto model = load_model(folder);
  const NoGrad no_grad;
  const Json expected = parse_json(read_file(GetParam() / "expected.json", 1 << 26), "expected.json");
  const Json settings = folder.generation_config().is_null() ? Json::object() : folder.generation_config();
  std::size_t cases = 0;
  for (const char* list : {"generate", "hf_generate", "published"}) {
    for (const Json& example : expected.value(list, Json::array())) {
      if (!example.contains("sequences") || !example.contains("params")) continue;
      test::expect_case(*model, example, settings);
      ++cases;
    }
  }
  for (const Json& example : expected.value("chat", Json::array())) {
    const Ids answer = example["new_ids"].get<Ids>();
    GenerateOptions options = read_generation_config(settings, "settings");
    options.max_new_tokens = std::ssize(answer);
    EXPECT_EQ(generate(*model, {example["input_ids"].get<Ids>()}, options)[0].generations[0].ids(), answer);
    ++cases;
  }
  // gpt-nano-sort: six symbols, sorted. The model takes eleven; the twelfth is not read.
  for (const Json& example : expected.value("cases", Json::array())) {
    const auto results = generate(*model, {example["input"].get<Ids>()}, {.max_new_tokens = 20});
    EXPECT_EQ(results[0].generations[0].ids(), example["output"].get<Ids>()) << example.dump();
    EXPECT_EQ(results[0].generations[0].reason, FinishReason::length);
    ++cases;
  }
  EXPECT_GT(cases, 0U);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HuggingFaceGenerate);
INSTANTIATE_TEST_SUITE_P(Decoders, HuggingFaceGenerate, testing::ValuesIn(decoders()), [](const auto& each) {
  std::string name = each.param.filename();
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace heed
