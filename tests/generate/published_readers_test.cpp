// Published models with an encoder, from text to text: aren-transliteration (a real one, six layers and six, that spells
// Arabic names in Latin letters) with what CTranslate2's tests say of it, tiny-t5 with what HuggingFace computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/engine/load.h"
#include "heed/generate/generate.h"
#include "heed/io/model_folder.h"
#include "heed/models/model.h"
#include "heed/tasks/loaded_model.h"
#include "heed/tensor/autograd.h"
#include "heed/text/tokenizer.h"
#include "models/decoder_folders.h"
#include "support/shared_data.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<TokenId>;

class PublishedReader : public testing::Test {
 protected:
  void open(const char* name) {
    const fs::path folder = test::shared_data("weights") / name;
    if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
    expected_ = test::json_file(folder / "expected.json");
    model_.emplace(load(folder));
    settings_ = generation_settings(model_->folder().generation_config(), model_->folder().config());
  }
  Ids read(const std::string& text) const {
    const auto ids = model_->tokenizer().encode(text).ids;
    return {ids.begin(), ids.end()};
  }
  Ids written(const std::string& text) const {
    const auto ids = model_->target_tokenizer().encode(text, {.add_special = false}).ids;
    return {ids.begin(), ids.end()};
  }
  // The decoder's first token, and what follows it.
  Ids begin(const std::string& prefix) const {
    Ids ids = {decoder_start(settings_, "settings")};
    std::ranges::copy(written(prefix), std::back_inserter(ids));
    return ids;
  }
  GenerateOptions options(std::int64_t beams) const {
    GenerateOptions found = read_generation_config(settings_, "settings");
    found.num_beams = beams;
    return found;
  }
  std::string write(const std::string& source, const std::string& prefix, const GenerateOptions& how) const {
    const auto results = generate(model_->model(), {{.prompt = begin(prefix), .options = how, .source = read(source)}},
                                  &model_->target_tokenizer());
    return prefix + results[0].generations.at(0).text;
  }

  const NoGrad no_grad_;
  Json expected_, settings_;
  std::optional<LoadedModel> model_;
};

class ArenTransliteration : public PublishedReader {
 protected:
  void SetUp() override { open("aren-transliteration"); }
};

std::vector<std::string> texts(const Json& text) {
  return text.is_string() ? std::vector<std::string>{text} : text.get<std::vector<std::string>>();
}

TEST_F(ArenTransliteration, WritesWhatIsPublished) {
  for (const Json& example : expected_["published"]) {
    const Json given = example["options"];
    if (given.contains("return_alternatives")) continue;
    SCOPED_TRACE(example["test"]);
    GenerateOptions how = options(given["beam_size"]);
    if (given.contains("end_token")) how.eos_token_id = {written(given["end_token"])[0]};
    const std::vector<std::string> sources = texts(example["source"]), wanted = texts(example["expected"]);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::string found = write(sources[i], given.value("target_prefix", ""), how);
      EXPECT_EQ(found + (given.value("return_end_token", false) ? "</s>" : ""), wanted[i]);
    }
  }
}

// The likeliest next tokens, and what follows each.
TEST_F(ArenTransliteration, AlternativesAreThePublishedOnes) {
  for (const Json& example : expected_["published"]) {
    const Json given = example["options"];
    if (!given.contains("return_alternatives")) continue;
    SCOPED_TRACE(example["test"]);
    const std::string prefix = given.value("target_prefix", ""), source = example["source"];
    GenerateOptions one = options(1);
    one.max_new_tokens = 1;
    const auto first = generate(model_->model(),
                                {{.prompt = begin(prefix), .options = one, .alternatives = 2, .source = read(source)}});
    std::vector<std::string> found;
    for (const ScoredToken& next : first[0].generations.at(0).tokens.at(0).alternatives) {
      const std::string piece = model_->target_tokenizer().decode(std::vector<std::int32_t>{next.id});
      found.push_back(write(source, prefix + piece, options(1)));
    }
    EXPECT_EQ(found, texts(example["expected"]));
  }
}

TEST_F(ArenTransliteration, ScoresAreThePublishedOnes) {
  GenerateOptions nothing = options(1);
  nothing.max_new_tokens = 0;
  const auto end = static_cast<TokenId>(nothing.eos_token_id.at(0));
  for (const Json& example : expected_["published_scores"]["cases"]) {
    Ids prompt = begin(example["target"]);
    prompt.push_back(end);
    const auto results = generate(model_->model(), {{.prompt = prompt,
                                                     .options = nothing,
                                                     .score_prompt = true,
                                                     .source = read(example["source"])}});
    const auto theirs = example["token_scores"].get<std::vector<double>>();
    ASSERT_EQ(results[0].prompt_log_probabilities.size(), theirs.size());
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      EXPECT_NEAR(results[0].prompt_log_probabilities[i], theirs[i], 1e-5) << example["target"] << " " << i;
    }
  }
}

TEST_F(ArenTransliteration, TextsBecomeTheIdsThatHuggingFaceWasGiven) {
  for (const Json& example : expected_["hf_generate"]) {
    EXPECT_EQ(read(example["source"]), example["input_ids"].get<Ids>());
    const Ids best = example["sequences"][0].get<Ids>();
    EXPECT_EQ(model_->target_tokenizer().decode(std::vector<std::int32_t>(best.begin(), best.end())),
              example["texts"][0]);
  }
}

class TinyT5 : public PublishedReader {
 protected:
  void SetUp() override { open("tiny-t5"); }
};

TEST_F(TinyT5, TextsBecomeTheIdsThatHuggingFaceWasGiven) {
  for (const char* list : {"forward", "hf_generate"}) {
    for (const Json& example : expected_[list]) EXPECT_EQ(read(example["text"]), example["input_ids"].get<Ids>());
  }
}

TEST_F(TinyT5, LogitsAreHuggingFaces) {
  const auto packed = [](const Ids& ids) { return Packed(Tensor::from(ids, {std::ssize(ids)}), {std::ssize(ids)}); };
  for (const Json& example : expected_["forward"]) {
    const Tensor logits = model_->model()
                              .forward({.ids = packed(example["decoder_input_ids"].get<Ids>()),
                                        .source = packed(example["input_ids"].get<Ids>())},
                                       Context())
                              .logits;
    for (std::int64_t t = 0; t < logits.size(0); ++t) {
      const auto row = static_cast<std::size_t>(t);
      const Json ids = example["top5"]["ids"][row], values = example["top5"]["logits"][row];
      double sum = 0;
      for (std::int64_t id = 0; id < logits.size(1); ++id) sum += std::exp(logits.at({t, id}));
      EXPECT_NEAR(std::log(sum), example["logsumexp"][row].get<double>(), 1e-5 * 10);
      for (std::size_t i = 0; i < ids.size(); ++i) {
        EXPECT_NEAR(logits.at({t, ids[i].get<std::int64_t>()}), values[i].get<double>(), 1e-5 * 10);
      }
    }
  }
}

}  // namespace
}  // namespace heed
