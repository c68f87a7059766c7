#include "heed/generate/options.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "support/error_of.h"
#include "support/shared_data.h"

namespace heed {
namespace {

std::string refused(const std::string& json) {
  return test::error_of(ErrorKind::bad_format, [&] { read_generation_config(Json::parse(json), "g.json"); });
}

TEST(GenerateOptions, ReadAGenerationConfig) {
  const GenerateOptions options = read_generation_config(Json::parse(R"({
    "bos_token_id": 1, "eos_token_id": [2, 3], "pad_token_id": 0, "do_sample": true, "temperature": 0.6, "top_p": 0.9,
    "top_k": null, "max_length": 4096, "suppress_tokens": [5], "forced_eos_token_id": 2, "num_beams": 4,
    "early_stopping": "never", "sequence_bias": [[[6], 1.5]], "bad_words_ids": [[7], [8, 9]], "guidance_scale": 1.0,
    "transformers_version": "5.12.1", "use_cache": false, "exponential_decay_length_penalty": [5, 1.1]})"),
                                                         "generation_config.json");
  EXPECT_EQ(options.eos_token_id, (std::vector<std::int64_t>{2, 3}));
  EXPECT_TRUE(options.do_sample);
  EXPECT_EQ(options.temperature, 0.6);
  EXPECT_EQ(options.top_k, 50);
  EXPECT_EQ(options.length_limit(10), 4096);
  EXPECT_EQ(options.forced_eos_token_id, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(options.early_stopping, "never");
  EXPECT_EQ(options.bad_words_ids.size(), 2u);
  EXPECT_EQ(GenerateOptions().length_limit(10), 30);
}

TEST(GenerateOptions, RefuseByName) {
  EXPECT_NE(refused(R"({"temprature": 1})").find("did you mean temperature"), std::string::npos);
  for (const char* json : {R"({"top_k": -1})",
                           R"({"top_p": 1.5})",
                           R"({"temperature": -1})",
                           R"({"temperature": "hot"})",
                           R"({"num_beams": 0})",
                           R"({"eos_token_id": -2})",
                           R"({"eos_token_id": 4294967296})",
                           R"({"min_p": 2})",
                           R"({"typical_p": 0})",
                           R"({"top_h": 0})",
                           R"({"repetition_penalty": 0})",
                           R"({"early_stopping": "maybe"})",
                           R"({"bad_words_ids": [[]]})",
                           R"({"bad_words_ids": [1]})",
                           R"({"bad_words_ids": {}})",
                           R"({"sequence_bias": [[1, 2]]})",
                           R"({"exponential_decay_length_penalty": [1]})",
                           R"({"exponential_decay_length_penalty": [1, 0]})",
                           R"({"stop_strings": [""]})",
                           R"({"max_new_tokens": -1})",
                           R"({"watermarking_config": {"bias": 2}})",
                           R"({"guidance_scale": 1.5})",
                           R"({"penalty_alpha": 0.6})",
                           R"({"force_words_ids": [[1]]})",
                           R"({"token_healing": true})",
                           R"({"no_repeat_ngram_size": 1.5})"}) {
    const std::string name = Json::parse(json).begin().key();
    EXPECT_NE(refused(json).find(name), std::string::npos) << json;
  }
  EXPECT_NE(refused("[]").find("expected an object"), std::string::npos);
}

TEST(GenerateOptions, RoundTripThroughTheirFields) {
  GenerateOptions options;
  set_fields(options.fields(), {{"max_new_tokens", 5}, {"min_p", 0.1}, {"stop_strings", "a"}, {"eos_token_id", 4}},
             "x");
  GenerateOptions again;
  set_fields(again.fields(), to_json(options.fields()), "x");
  EXPECT_EQ(to_json(again.fields()), to_json(options.fields()));
  EXPECT_EQ(again.max_new_tokens, 5);
  EXPECT_EQ(again.min_p, 0.1);
  EXPECT_EQ(again.stop_strings, std::vector<std::string>{"a"});
}

// Every generation_config.json among the shared models is read or refused for a reason that names a field.
TEST(GenerateOptions, ReadWhatPublishedModelsHave) {
  const auto folder = test::shared_data("");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           folder, std::filesystem::directory_options::skip_permission_denied)) {
    if (entry.path().filename() != "generation_config.json") continue;
    SCOPED_TRACE(entry.path());
    const Json config = parse_json(read_file(entry.path(), 1 << 24), "generation_config.json");
    if (config.contains("alignment_heads") || config.contains("lang_to_id")) continue;  // Whisper's, for its own loop
    EXPECT_NO_THROW(read_generation_config(config, "generation_config.json"));
    ++files;
  }
  RecordProperty("files", files);
}

}  // namespace
}  // namespace heed
