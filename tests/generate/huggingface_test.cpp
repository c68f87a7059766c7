// What HuggingFace's generate() wrote, to the id and to the score: every case of suites/hf-tiny-models, and of the
// published decoders among weights/.
#include <gtest/gtest.h>

#include "generate/generate_case.h"
#include "heed/io/model_folder.h"
#include "heed/models/load.h"
#include "heed/tensor/autograd.h"
#include "models/decoder_folders.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Lists of cases in an expected.json.
constexpr const char* kGenerations[] = {"generate", "hf_generate", "published"};
constexpr const char* kWriting[] = {"ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "MTModel"};
constexpr const char* kChats = "chat";
constexpr const char* kSorted = "cases";

std::string why_not(const fs::path& folder) {
  const Json config = test::json_file(folder / "config.json");
  const std::string architecture = config.value("architectures", Json({""}))[0];
  const auto writes = [&](const char* end) { return architecture.ends_with(end); };
  if (std::ranges::none_of(kWriting, writes)) return "writes no texts";
  if (!fs::exists(folder / "expected.json")) return "has no expected.json";
  const Json expected = test::json_file(folder / "expected.json");
  const auto has = [&](const char* list) { return !expected.value(list, Json::array()).empty(); };
  return has(kChats) || has(kSorted) || std::ranges::any_of(kGenerations, has) ? "" : "has no generations";
}

test::DecoderFolders decoders() {
  return test::decoder_folders({test::shared_data("suites/hf-tiny-models"), test::shared_data("weights")}, why_not);
}

using test::Ids;

class HuggingFaceGenerate : public testing::TestWithParam<test::DecoderFolder> {};

TEST_P(HuggingFaceGenerate, EveryCase) {
  const ModelFolder folder(GetParam().path);
  const auto model = load_model(folder);
  const NoGrad no_grad;
  const Json expected = test::json_file(GetParam().path / "expected.json");
  const Json settings = folder.generation_config().is_null() ? Json::object() : folder.generation_config();
  std::size_t cases = 0;
  for (const char* list : kGenerations) {
    for (const Json& example : expected.value(list, Json::array())) {
      if (!example.contains("sequences") || !example.contains("params")) continue;
      test::expect_case(*model, example, settings);
      ++cases;
    }
  }
  for (const Json& example : expected.value(kChats, Json::array())) {
    const Ids answer = example.at("new_ids").get<Ids>();
    GenerateOptions options = read_generation_config(settings, "settings");
    options.max_new_tokens = std::ssize(answer);
    EXPECT_EQ(generate(*model, {example.at("input_ids").get<Ids>()}, options)[0].generations[0].ids(), answer);
    ++cases;
  }
  // gpt-nano-sort: six symbols, sorted. The model takes eleven; the twelfth is not read.
  for (const Json& example : expected.value(kSorted, Json::array())) {
    const auto results = generate(*model, {example.at("input").get<Ids>()}, {.max_new_tokens = 20});
    EXPECT_EQ(results[0].generations[0].ids(), example.at("output").get<Ids>()) << example.dump();
    EXPECT_EQ(results[0].generations[0].reason, FinishReason::length);
    ++cases;
  }
  EXPECT_GT(cases, 0U);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HuggingFaceGenerate);
INSTANTIATE_TEST_SUITE_P(Decoders, HuggingFaceGenerate, testing::ValuesIn(decoders().run), test::test_of);

TEST(HuggingFaceFiles, OthersAreNamed) {
  decoders().report();
}

TEST(HuggingFaceFiles, OfAnyKindAreListed) {
  const test::TempFolder folder;
  const auto write = [&](const std::string& name, const std::string& config, const std::string& expected) {
    folder.write(name + "/config.json", config);
    if (!expected.empty()) folder.write(name + "/expected.json", expected);
  };
  const std::string llama = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"]})",
                    case_list = R"({"generate": [{}]})";
  write("a/x-1", llama, case_list);
  write("b/x-1", R"({"model_type": "nobody's", "architectures": ["NewForCausalLM"]})", case_list);
  write("b/x.1", llama, R"({"generate": )");
  write("b/y", R"({"architectures": "LlamaForCausalLM"})", case_list);
  write("b/bert", R"({"architectures": ["BertForMaskedLM"]})", case_list);
  write("b/empty", llama, R"({"source": "somewhere", "generate": []})");
  write("b/none", llama, "");
  write("b/t5", R"({"architectures": ["T5ForConditionalGeneration"]})", case_list);
  fs::create_directories(folder.path() / "b" / "z");
  const test::DecoderFolders found = test::decoder_folders({folder.path() / "a", folder.path() / "b"}, why_not);
  std::vector<std::string> run;
  for (const test::DecoderFolder& each : found.run) run.push_back(each.test);
  EXPECT_EQ(run, (std::vector<std::string>{"x_1", "t5", "x_1_2", "x_1_3", "y", "z"}));
  EXPECT_EQ(found.left, (std::vector<std::string>{"bert: writes no texts", "empty: has no generations",
                                                  "none: has no expected.json"}));
}

}  // namespace
}  // namespace heed
