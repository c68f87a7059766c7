// What HuggingFace's generate() wrote, to the id and to the score: every case of suites/hf-tiny-models, and of the
// published decoders among weights/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/file.h"
#include "heed/generate/generate.h"
#include "heed/io/model_folder.h"
#include "heed/models/load.h"
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
      if (known && writes) folders.push_back(entry.path());
    }
  }
  std::ranges::sort(folders);
  return folders;
}

using Ids = std::vector<TokenId>;

std::vector<Ids> rows_of(const Json& ids) {
  if (!ids.empty() && ids[0].is_number()) return {ids.get<Ids>()};
  return ids.get<std::vector<Ids>>();
}

// Without what attention_mask hides: HuggingFace pads on the left.
std::vector<Ids> prompts_of(const Json& example) {
  std::vector<Ids> prompts = rows_of(example["input_ids"]);
  if (!example.contains("attention_mask")) return prompts;
  const std::vector<Ids> masks = rows_of(example["attention_mask"]);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto hidden = std::ranges::find(masks[i], 1) - masks[i].begin();
    prompts[i].erase(prompts[i].begin(), prompts[i].begin() + hidden);
  }
  return prompts;
}

void expect_case(const Model& model, const Json& example, Json settings) {
  settings.update(example["params"]);
  const GenerateOptions options = read_generation_config(settings, "params");
  const std::vector<Ids> expected = rows_of(example["sequences"]);
  const auto prompt_length = rows_of(example["input_ids"])[0].size();
  const std::vector<GenerateResult> results = generate(model, prompts_of(example), options);
  std::size_t row = 0;
  for (const GenerateResult& result : results) {
    for (const Generation& generation : result.generations) {
      ASSERT_LT(row, expected.size());
      const Ids ours = generation.ids();
      ASSERT_LE(prompt_length + ours.size(), expected[row].size()) << example.dump();
      const Ids theirs(expected[row].begin() + static_cast<std::ptrdiff_t>(prompt_length),
                       expected[row].begin() + static_cast<std::ptrdiff_t>(prompt_length + ours.size()));
      EXPECT_EQ(ours, theirs) << "row " << row << " of " << example.dump();
      if (example.contains("sequences_scores")) {
        const auto theirs_score = example["sequences_scores"][row].get<double>();
        EXPECT_NEAR(generation.score, theirs_score, 2e-5 * std::max(1.0, std::abs(theirs_score)))
            << example["params"].dump();
      }
      // What follows is padding.
      const bool ended = generation.reason == FinishReason::stop;
      EXPECT_TRUE(ended || prompt_length + ours.size() == expected[row].size());
      ++row;
    }
  }
  EXPECT_EQ(row, expected.size());
}

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
      expect_case(*model, example, settings);
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
  // gpt-nano-sort: six symbols, sorted.
  for (const Json& example : expected.value("cases", Json::array())) {
    const auto results = generate(*model, {example["input"].get<Ids>()}, {.max_new_tokens = 5});
    const Ids written = results[0].generations[0].ids();
    const Ids sorted = example["output"].get<Ids>();
    EXPECT_EQ(written, Ids(sorted.begin(), sorted.begin() + std::ssize(written))) << example.dump();
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
