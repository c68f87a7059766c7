// Decoders that HuggingFace itself wrote, with its logits, hidden states, losses and gradients, as files: every folder
// of suites/hf-tiny-models that is a decoder. And Transformer-XL in configurations that are not there, against PyTorch
// code written for this test (transfo_xl_torch.py).
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/io/model_folder.h"
#include "heed/models/registry.h"
#include "models/decoder_checks.h"
#include "support/shared_data.h"
#include "support/torch.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

fs::path suite() {
  return test::suite_data("hf-tiny-models");
}

std::vector<std::string> decoders() {
  std::vector<std::string> names;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(suite(), absent)) {
    if (!entry.is_directory()) continue;
    const Json config = ModelFolder(entry.path()).config();
    const std::string type = config.value("model_type", "");
    const bool known =
        std::ranges::any_of(model_families(), [&](const auto* each) { return each->model_type == type; });
    if (!config.value("is_encoder_decoder", false) && known) names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

class DecoderSuite : public testing::TestWithParam<std::string> {
 protected:
  fs::path folder() const { return suite() / GetParam(); }
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

std::string test_name(const testing::TestParamInfo<std::string>& each) {
  std::string name = each.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

std::vector<std::string> recurrent() {
  std::vector<std::string> names = decoders();
  std::erase_if(names, [](const std::string& name) {
    return !SafetensorsFile(suite() / name / "expected.safetensors").contains("segments.log_probs");
  });
  return names;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DecoderSuite);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RecurrentSuite);
INSTANTIATE_TEST_SUITE_P(HuggingFace, DecoderSuite, testing::ValuesIn(decoders()), test_name);
INSTANTIATE_TEST_SUITE_P(HuggingFace, RecurrentSuite, testing::ValuesIn(recurrent()), test_name);

TEST(DecoderSuiteFiles, AreThere) {
  if (!fs::exists(suite())) GTEST_SKIP() << suite() << " is not there";
  EXPECT_FALSE(decoders().empty());
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
