// What the task lm says of texts: models whose scores are no numbers, perplexity per word.
#include "heed/tasks/lm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/engine/load.h"
#include "heed/io/safetensors.h"
#include "heed/io/tensor_files.h"
#include "heed/train/evaluation_run.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

// A decoder in the folder "model", one of whose norms is NaN if asked for.
LoadedModel decoder(const test::TempFolder& folder, bool broken) {
  test::write_random_decoder(folder.path() / "model");
  if (broken) {
    TensorMap tensors;
    for (const auto& [name, tensor] : TensorFiles(folder.path() / "model").tensors()) {
      tensors.emplace(name, tensor.detached_clone());
    }
    tensors.at("transformer.ln_f.weight").mutable_data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    save_safetensors(folder.path() / "model" / "model.safetensors", tensors);
  }
  return load(folder.path() / "model");
}

TEST(Lm, ScoresThatAreNoNumbersAreAnErrorThatNamesTheToken) {
  const test::TempFolder folder;
  const LoadedModel model = decoder(folder, true);
  const std::string message =
      test::error_of(ErrorKind::internal, [&] { static_cast<void>(score_texts(model, {"the quick fox"})); });
  EXPECT_NE(message.find("\"quick\" at byte 4, is "), std::string::npos) << message;
  const auto file = folder.write("a.txt", "the quick fox\n");
  EvaluationRun run(model, lm_task(), Json::object(), {{.file = file}});
  const std::string refused = test::error_of(ErrorKind::internal, [&] { static_cast<void>(run.evaluate()); });
  EXPECT_NE(refused.find("are NaN"), std::string::npos) << refused;
}

TEST(Lm, PerplexityPerWord) {
  const test::TempFolder folder;
  const LoadedModel model = decoder(folder, false);
  const auto file = folder.write("a.txt",
                                 " the quick  fox, jumps\nlazy\xE3\x80\x80"
                                 "dog\t\n");
  const Evaluation found = EvaluationRun(model, lm_task(), Json::object(), {{.file = file}}).evaluate();
  double sum = 0;
  for (const TextScore& score : score_texts(model, {"the quick  fox, jumps",
                                                    "lazy\xE3\x80\x80"
                                                    "dog"})) {
    sum -= score.log_probability;
  }
  EXPECT_EQ(found.details.at("words").get<double>(), 6);
  EXPECT_NEAR(found.details.at("word_perplexity").get<double>(), std::exp(sum / 6), 1e-5 * std::exp(sum / 6));
  EXPECT_TRUE(found.report.starts_with("6 words, word_perplexity ")) << found.report;
  // Of a prompt with its completion only a part of the words counts.
  const auto pairs = folder.write("a.jsonl", R"({"prompt": "the quick", "completion": " fox"})"
                                             "\n");
  const Evaluation part = EvaluationRun(model, lm_task(), Json::object(), {{.file = pairs}}).evaluate();
  EXPECT_FALSE(part.details.contains("word_perplexity"));
}

}  // namespace
}  // namespace heed
