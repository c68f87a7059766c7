// What published language models write and how they read, against llama2.c and HuggingFace: the greedy text of the
// stories models as stored and as f32, losses of texts, tokens of texts, prompts by a chat template.
#include <gtest/gtest.h>

#include <algorithm>

#include "generate/exact_result.h"
#include "heed/base/file.h"
#include "heed/chat/chat.h"
#include "heed/engine/load.h"
#include "heed/generate/generate.h"
#include "heed/models/load.h"
#include "heed/tasks/lm.h"
#include "heed/tensor/autograd.h"
#include "heed/text/load_tokenizer.h"
#include "support/shared_data.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using test::Ids;

class PublishedTexts : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    folder_ = test::shared_data("weights/" + GetParam());
    if (!fs::exists(folder_)) GTEST_SKIP() << folder_ << " is not there";
    expected_ = parse_json(read_file(folder_ / "expected.json", 1 << 24), "expected.json");
  }
  fs::path folder_;
  Json expected_;
};

TEST_P(PublishedTexts, TheGreedyTextOfLlama2C) {
  if (!expected_.contains("llama2c_greedy")) return;
  const Json& example = expected_["llama2c_greedy"];
  const auto ids = example["ids"].get<Ids>(), start = example["start_ids"].get<Ids>();
  const text::Tokenizer tokenizer = text::load_tokenizer(folder_);
  const NoGrad no_grad;
  for (const auto storage : {LoadOptions::Storage::f32, LoadOptions::Storage::as_stored}) {
    const auto model = load_model(folder_, {.storage = storage});
    const auto results = generate(*model, {start}, {.max_new_tokens = std::ssize(ids) - std::ssize(start)});
    Ids written = start;
    std::ranges::copy(results[0].generations[0].ids(), std::back_inserter(written));
    EXPECT_EQ(written, ids);
    const std::string text = tokenizer.decode(std::vector<std::int32_t>(written.begin(), written.end()), true);
    EXPECT_EQ(text, example["text"].get<std::string>());
  }
}

TEST_P(PublishedTexts, LossesAndTokens) {
  const LoadedModel model = load(folder_);
  ASSERT_FALSE(expected_["loss"].empty());
  for (const Json& example : expected_["loss"]) {
    const TextScore score = score_texts(model, {example["text"]})[0];
    EXPECT_NEAR(-score.log_probability / static_cast<double>(score.tokens), example["loss"].get<double>(), 1e-4);
  }
  for (const Json& example : expected_["tokenize"]) {
    const auto ids = model.tokenizer().encode(example["text"].get<std::string>()).ids;
    EXPECT_EQ(Ids(ids.begin(), ids.end()), example["ids"].get<Ids>()) << example["text"];
  }
}

TEST_P(PublishedTexts, PromptsOfConversations) {
  if (!expected_.contains("chat")) return;
  const auto templates = chat::ChatTemplates::from_folder(folder_);
  const text::Tokenizer tokenizer = text::load_tokenizer(folder_);
  for (const Json& example : expected_["chat"]) {
    OrderedJson message = OrderedJson::object();
    message["role"] = "user";
    message["content"] = example["user"].get<std::string>();
    const chat::ChatRequest request{.messages = OrderedJson::array({message}), .add_generation_prompt = true};
    const std::string prompt = templates.render(request).text;
    EXPECT_EQ(prompt, example["prompt"].get<std::string>());
    const auto ids = tokenizer.encode(prompt, {.add_special = false}).ids;
    EXPECT_EQ(Ids(ids.begin(), ids.end()), example["input_ids"].get<Ids>());
  }
}

INSTANTIATE_TEST_SUITE_P(Decoders, PublishedTexts, testing::Values("stories15M", "stories260K", "minimind2-small"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// F16 weights as the file has them: greedy, sampled and beams, alone, three at a time and all together.
TEST(SameBitsAsStored, AloneAndInBatches) {
  const fs::path folder = test::shared_data("weights/stories15M");
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto model = load_model(folder, {.storage = LoadOptions::Storage::as_stored});
  const text::Tokenizer tokenizer = text::load_tokenizer(folder);
  std::vector<GenerateRequest> requests;
  for (const char* prompt : {"Once upon a time", "Lily", "The big dog was very", "One day, a cat", "Tom had a red ball",
                             "It was", "She said", "The sun"}) {
    for (const char* kind : {"greedy", "sampled", "beams"}) {
      const auto ids = tokenizer.encode(prompt).ids;
      GenerateRequest request{.prompt = {ids.begin(), ids.end()}, .seed = 5, .alternatives = 2};
      request.options.max_new_tokens = 10;
      request.options.do_sample = kind == std::string("sampled");
      request.options.num_beams = kind == std::string("beams") ? 3 : 1;
      requests.push_back(request);
    }
  }
  const auto run = [&](std::size_t together) {
    std::vector<std::string> found(requests.size());
    for (std::size_t begin = 0; begin < requests.size(); begin += together) {
      Generator generator(*model);
      const std::size_t end = std::min(begin + together, requests.size());
      for (std::size_t i = begin; i < end; ++i) generator.add(requests[i]);
      while (!generator.idle()) {
        for (const GenerateResult& each : generator.step()) {
          found[begin + static_cast<std::size_t>(each.request)] = test::exact(each);
        }
      }
    }
    return found;
  };
  const auto alone = run(1);
  EXPECT_EQ(run(3), alone);
  EXPECT_EQ(run(requests.size()), alone);
}

}  // namespace
}  // namespace heed
