// Decoders that HuggingFace itself wrote, with and without encoders, with its logits, hidden states, losses and
// gradients, as files: every folder of suites/hf-tiny-models. And Transformer-XL in configurations that are not there,
// against PyTorch code written for this test (transfo_xl_torch.py).
#include <gtest/gtest.h>

#include "models/decoder_checks.h"
#include "models/decoder_folders.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"
#include "support/torch.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// A folder with nothing but generations is for generate/huggingface_test.cpp.
test::DecoderFolders decoders(const fs::path& parent = test::shared_data("suites/hf-tiny-models")) {
  return test::decoder_folders({parent}, [](const fs::path& folder) -> std::string {
    const bool has_values = fs::exists(folder / "expected.safetensors");
    return has_values || !fs::exists(folder / "expected.json") ? "" : "has no expected.safetensors";
  });
}

class DecoderSuite : public testing::TestWithParam<test::DecoderFolder> {
 protected:
  const fs::path& folder() const { return GetParam().path; }
};
TEST_P(DecoderSuite, LogitsAndHiddenStates) {
  test::expect_values(folder());
}
TEST_P(DecoderSuite, LossAndGradients) {
  test::expect_gradients(folder());
}
TEST_P(DecoderSuite, StepsHaveTheBitsOfTheWhole) {
  test::expect_same_steps(folder());
}
TEST_P(DecoderSuite, SavedAgainItHasTheSameTensors) {
  test::expect_same_when_saved(folder());
}

class RecurrentSuite : public DecoderSuite {};
TEST_P(RecurrentSuite, SegmentsSeeWhatIsRememberedOfThoseBefore) {
  test::expect_segments(folder());
}

std::vector<test::DecoderFolder> recurrent() {
  std::vector<test::DecoderFolder> found = decoders().run;
  std::erase_if(found, [](const test::DecoderFolder& each) {
    try {
      return !test::expected_of(each.path).contains("segments.log_probs");
    } catch (const Error&) {
      return true;  // the other tests say so
    }
  });
  return found;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DecoderSuite);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RecurrentSuite);
INSTANTIATE_TEST_SUITE_P(HuggingFace, DecoderSuite, testing::ValuesIn(decoders().run), test::test_of);
INSTANTIATE_TEST_SUITE_P(HuggingFace, RecurrentSuite, testing::ValuesIn(recurrent()), test::test_of);

TEST(DecoderSuiteFiles, AreThere) {
  const fs::path suite = test::shared_data("suites/hf-tiny-models");
  if (!fs::exists(suite)) GTEST_SKIP() << suite << " is not there";
  const test::DecoderFolders found = decoders();
  EXPECT_FALSE(found.run.empty());
  found.report();
}

// What nobody has seen: each folder is run under a name of its own, or said to be left out.
TEST(DecoderSuiteFiles, OfAnyKindAreListed) {
  const test::TempFolder folder;
  folder.write("llama-a.1/config.json", R"({"model_type": "llama"})");
  folder.write("llama-a_1/config.json", R"({"model_type": "nobody's"})");
  folder.write("llama_a-1/config.json", "{");
  folder.write("\xE4\xB8\xAD/config.json", R"({"is_encoder_decoder": "yes"})");
  folder.write("empty/readme", "");
  folder.write("generations/config.json", "{}");
  folder.write("generations/expected.json", "{}");
  folder.write("bart/config.json", R"({"model_type": "bart", "is_encoder_decoder": true})");
  folder.write(".hidden/config.json", "{}");
  folder.write("file", "{}");
  fs::create_directory_symlink(folder.path() / "nowhere", folder.path() / "link");
  const test::DecoderFolders found = decoders(folder.path());
  std::vector<std::string> run;
  for (const test::DecoderFolder& each : found.run) run.push_back(each.path.filename().string() + " " + each.test);
  EXPECT_EQ(run, (std::vector<std::string>{"bart bart", "empty empty", "llama-a.1 llama_a_1", "llama-a_1 llama_a_1_2",
                                           "llama_a-1 llama_a_1_3", "\xE4\xB8\xAD ___"}));
  EXPECT_EQ(found.left, (std::vector<std::string>{"generations: has no expected.safetensors"}));
  EXPECT_TRUE(decoders(folder.path() / "nowhere").run.empty());
}

TEST(TransformerXlTorch, EveryConfiguration) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  const Json plain = {{"model_type", "transfo-xl"},
                      {"architectures", {"TransfoXLLMHeadModel"}},
                      {"vocab_size", 23},
                      {"cutoffs", Json::array()},
                      {"d_model", 12},
                      {"d_embed", 12},
                      {"n_head", 2},
                      {"d_head", 5},
                      {"d_inner", 14},
                      {"div_val", 1},
                      {"n_layer", 2},
                      {"mem_len", 5},
                      {"clamp_len", 6},
                      {"same_length", false},
                      {"pre_lnorm", false},
                      {"untie_r", true},
                      {"tie_word_embeddings", true},
                      {"tie_projs", {false}},
                      {"dropout", 0.1},
                      {"layer_norm_epsilon", 1e-3}};
  const std::map<std::string, Json> variants = {
      {"plain", Json::object()},
      {"pre_norm", {{"pre_lnorm", true}, {"clamp_len", -1}}},
      {"tied_biases", {{"untie_r", false}, {"same_length", true}}},
      {"projected", {{"d_embed", 8}, {"tie_projs", {true}}}},
      {"one_table", {{"cutoffs", {7, 15}}, {"tie_projs", {false, false, true}}}},
      {"one_projected_table", {{"cutoffs", {7, 15}}, {"d_embed", 6}, {"tie_projs", {false, true, true}}}},
      {"clusters", {{"cutoffs", {4, 9}}, {"div_val", 2}, {"tie_projs", {false, true, false}}, {"mem_len", 2}}},
      {"untied", {{"cutoffs", {11}}, {"div_val", 3}, {"tie_projs", {false, false}}, {"tie_word_embeddings", false}}}};
  Json questions = Json::array();
  for (const auto& [name, fields] : variants) {
    Json config = plain;
    config.update(fields);
    Json ids = Json::array({Json::array(), Json::array()});
    for (int i = 0; i < 12; ++i) ids[0].push_back((i * i + 3 * i) % 23), ids[1].push_back((5 * i * i + 1) % 23);
    questions.push_back({{"name", name}, {"config", config}, {"ids", ids}, {"segments", 4}});
  }
  const test::TempFolder folder;
  const auto asked = folder.write("questions.json", questions.dump());
  ASSERT_EQ(test::run_python("models/transfo_xl_torch.py " + asked.string() + " " + folder.path().string()), 0);
  for (const auto& [name, fields] : variants) {
    SCOPED_TRACE(name);
    test::expect_values(folder.path() / name);
    test::expect_gradients(folder.path() / name);
    test::expect_segments(folder.path() / name);
    test::expect_same_steps(folder.path() / name);
    test::expect_same_when_saved(folder.path() / name);
  }
}

}  // namespace
}  // namespace heed
