// From a folder on disk and a text to logits and loss, all the way against PyTorch.
#include <gtest/gtest.h>

#include <cmath>

#include "heed/engine/load.h"
#include "heed/io/safetensors.h"
#include "heed/ops/loss.h"
#include "heed/tasks/run_task.h"
#include "support/torch_folder.h"

namespace heed {
namespace {

TEST(EndToEnd, ABertForSequenceClassificationGivesPyTorchsLogitsAndLoss) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  Json config = test::small_bert_config();
  config.update({{"architectures", {"BertForSequenceClassification"}},
                 {"type_vocab_size", 2},
                 {"hidden_act", "gelu"},
                 {"layer_norm_eps", 1e-12},
                 {"id2label", {{"0", "NEGATIVE"}, {"1", "POSITIVE"}}}});
  const std::string text = "Hello, my dog is cute";
  const test::TempFolder folder;
  const auto path = test::make_torch_folder(folder, config, "ForSequenceClassification", text, {{"labels", {1}}});

  const LoadedModel model = load(path);
  const text::Encoding encoding = model.tokenizer().encode(text);
  EXPECT_EQ(model.tokenizer().tokens(encoding),
            (std::vector<std::string>{"[CLS]", "h", "##e", "##l", "##l", "##o", ",", "m", "##y", "dog", "i", "##s", "c",
                                      "##u", "##t", "##e", "[SEP]"}));
  const Inputs inputs = pack_encodings(std::span(&encoding, 1), model.model().info());
  const Tensor logits = model.model().forward(inputs, Context()).logits;
  const double loss = cross_entropy(logits, Tensor::from<std::int64_t>({1}, {1})).item();

  const SafetensorsFile expected(path / "expected.safetensors");
  ASSERT_EQ(logits.shape(), Shape({1, 2}));
  const Tensor theirs = expected.tensor("logits");
  for (std::int64_t label = 0; label < 2; ++label) EXPECT_NEAR(logits.at({0, label}), theirs.at({0, label}), 1e-5);
  EXPECT_NEAR(loss, expected.tensor("loss").item(), 1e-5);
  const auto scores = classify(model, {text});
  for (const LabelScore& score : scores[0]) {
    if (score.label == "POSITIVE") {
      EXPECT_NEAR(-std::log(score.score), loss, 1e-5);
    }
  }
}

}  // namespace
}  // namespace heed
