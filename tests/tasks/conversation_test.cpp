// Instruction tuning: which tokens of a conversation count, that nothing else does, and that a model learns to answer.
#include "heed/tasks/conversation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/file.h"
#include "heed/engine/load.h"
#include "heed/tasks/dataset.h"
#include "heed/tasks/generate.h"
#include "heed/tasks/lm.h"
#include "heed/tasks/run_task.h"
#include "heed/tensor/autograd.h"
#include "heed/text/train_tokenizer.h"
#include "heed/train/evaluation_run.h"
#include "heed/train/trainer.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// u:hi<|endoftext|>\n a:yo<|endoftext|>\n
constexpr const char* kPlain =
    "{% for m in messages %}{{ m.role[0] }}:{{ m.content }}{{ eos_token }}\n{% endfor %}"
    "{% if add_generation_prompt %}a:{% endif %}";
// The same, which marks what the model says: not the end.
constexpr const char* kMarked =
    "{% for m in messages %}{{ m.role[0] }}:{% if m.role == 'assistant' %}{% generation %}{{ m.content }}"
    "{% endgeneration %}{% else %}{{ m.content }}{% endif %}{{ eos_token }}\n{% endfor %}";
constexpr const char* kTwoAnswers = R"([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"},)"
                                    R"( {"role": "user", "content": "ok"}, {"role": "assistant", "content": "a b "}])";

// A tokenizer of characters, and <|endoftext|>, in a folder.
class ConversationTest : public testing::Test {
 protected:
  ConversationTest() {
    folder_.write("letters.txt", "abcdefghijklmnopqrstuvwxyz:?!. \n1 2 3 4\n");
    text::TrainOptions options;
    options.vocab_size = 100;
    options.special_tokens = text::default_special_tokens(text::TokenizerType::character);
    const Json json = text::train_tokenizer(text::TokenizerType::character, {path("letters.txt")}, options);
    folder_.write("tokenizer.json", json.dump());
    tokenizer_.emplace(text::Tokenizer::from_file(path("tokenizer.json")));
    special_.emplace(*tokenizer_);
  }
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  std::unique_ptr<TrainableRun> task(const char* chat_template, std::size_t max_tokens = 100,
                                     const Json& options = Json::object()) const {
    folder_.write("chat_template.jinja", chat_template);
    return lm_task().make_trainable(
        {.tokenizer = *tokenizer_, .special = *special_, .max_tokens = max_tokens, .folder = folder_.path()}, options);
  }
  // The tokens, with | between them and * after those that count.
  std::string counted(const TrainableRun& task, const Row& row, Purpose purpose = Purpose::train) const {
    std::string text;
    for (const auto& sequences : task.encode(row, purpose)) {
      const text::Encoding& tokens = sequences[0];
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        text +=
            tokenizer_->decode(std::span(&tokens.ids[t], 1), false) + (tokens.sequence_ids[t] == 1 ? "*" : "") + "|";
      }
    }
    return text;
  }

  test::TempFolder folder_;
  std::optional<text::Tokenizer> tokenizer_;
  std::optional<text::SpecialTokens> special_;
};

TEST_F(ConversationTest, AnswersAndTheirEndsCount) {
  const Row row{.messages = kTwoAnswers, .file = "a.jsonl", .line = 7};
  EXPECT_EQ(counted(*task(kPlain), row),
            "u|:|h|i|<|endoftext|>|\n|a|:|y*|o*|<|endoftext|>*|\n|u|:|o|k|<|endoftext|>|\n|a|:|a*| *|b*| "
            "*|<|endoftext|>*|\n|");
  EXPECT_EQ(counted(*task(kMarked), row),
            "u|:|h|i|<|endoftext|>|\n|a|:|y*|o*|<|endoftext|>|\n|u|:|o|k|<|endoftext|>|\n|a|:|a*| *|b*| "
            "*|<|endoftext|>|\n|");
  // An answer that ends in white space keeps it where no special token ends it.
  EXPECT_EQ(counted(*task("{% for m in messages %}{{ m.content }}{% endfor %}"), row), "h|i|y*|o*|o|k|a*| *|b*| *|");
}

TEST_F(ConversationTest, OfAPromptTheCompletionCounts) {
  const Row row{.text = "hi", .pair = " yo"};
  EXPECT_EQ(counted(*task(kPlain), row), "h|i| *|y*|o*|<|endoftext|>*|");
  EXPECT_EQ(counted(*task(kPlain, 100, {{"end_of_text", false}}), row), "h|i| *|y*|o*|");
  EXPECT_EQ(counted(*task(kPlain), row, Purpose::predict), "h|i| *|y*|o*|");
  EXPECT_EQ(counted(*task(kPlain, 5), row), "h|i| *|y*|");  // cut, so that it has no end
}

TEST_F(ConversationTest, WhatIsTooLongIsCutAndCounted) {
  const Row row{.messages = kTwoAnswers, .file = "a.jsonl", .line = 7};
  const auto cut_at = [&](std::size_t tokens) {
    const auto run = task(kPlain, tokens);
    return run->cut_after(row, run->encode(row, Purpose::train));
  };
  EXPECT_EQ(counted(*task(kPlain, 10), row), "u|:|h|i|<|endoftext|>|\n|a|:|y*|o*|");
  EXPECT_EQ(cut_at(10), 10u);
  EXPECT_EQ(cut_at(26), 0u);
  // Nothing that counts is left, and that is a row that was cut too.
  EXPECT_EQ(counted(*task(kPlain, 8), row), "");
  EXPECT_EQ(cut_at(8), 8u);
  const std::string message = test::error_of(
      ErrorKind::invalid_argument, [&] { static_cast<void>(counted(*task(kPlain, 8), row, Purpose::predict)); });
  EXPECT_NE(message.find("no answer within the first 8 tokens"), std::string::npos) << message;
}

TEST_F(ConversationTest, TemplatesThatCannotTellAreRefused) {
  const auto refused = [&](const char* chat_template, const char* messages) {
    const auto run = task(chat_template);
    return test::error_of(ErrorKind::bad_format, [&] {
      static_cast<void>(run->encode({.messages = messages, .file = "a.jsonl", .line = 7}, Purpose::train));
    });
  };
  // Answers that are not the last are shown otherwise, as templates do that leave out thoughts.
  const std::string later = refused(
      "{% for m in messages %}{{ m.content if loop.last or m.role == 'user' else '-' }}{% endfor %}", kTwoAnswers);
  EXPECT_NE(later.find("a.jsonl:7: the chat template renders message 2 otherwise where others follow"),
            std::string::npos)
      << later;
  EXPECT_NE(later.find("{% generation %}"), std::string::npos) << later;
  const std::string prompt = refused(
      "{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}a:{% endif %}", kTwoAnswers);
  EXPECT_NE(prompt.find("message 2 otherwise than its prompt"), std::string::npos) << prompt;
  EXPECT_NE(refused(kPlain, R"([{"role": "user", "content": "hi"}])").find("no message of the role assistant"),
            std::string::npos);
  EXPECT_NE(refused(kPlain, R"([{"role": "assistant", "content": "hi"}])").find("begins with an answer"),
            std::string::npos);
}

// Of random hidden states, loss and gradient: by hand over the three rows that speak of an answer's tokens.
TEST_F(ConversationTest, LossAndGradientAreThoseOfAnswersAlone) {
  folder_.write("a.jsonl",
                R"({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]})");
  ModelConfig config = parse_model_config({{"model_type", "gpt2"},
                                           {"vocab_size", tokenizer_->vocabulary_size()},
                                           {"n_embd", 16},
                                           {"n_layer", 1},
                                           {"n_head", 2},
                                           {"n_positions", 40}},
                                          "config.json");
  Model model(config, HeadKind::causal_lm);
  initialize(model, 1);
  TaskList tasks;
  tasks.push_back(task(kPlain));
  Dataset data({{{.file = path("a.jsonl"), .needs = {RowField::text}, .chats = true}}}, tasks, Purpose::train);
  data.index();
  ASSERT_EQ(data.size(), 1u);
  const std::vector<std::uint32_t> numbers = {0};
  const Batch batch = data.batch(numbers, 1, 0, model.info());
  const std::vector<std::int64_t> rows = {7, 8, 9};  // u : h i E \n a : y o E \n
  Tensor hidden = model.encode(batch.inputs, Context()).detach().detached_clone();
  hidden.set_requires_grad();
  HeadBatch part{.batch = batch, .training = true};
  EXPECT_EQ(tasks[0]->count(part), 3);
  part.logits = tasks[0]->forward(model, part, hidden, Context());
  const Tensor loss = tasks[0]->loss(part);
  double expected = 0;
  const auto& ids = batch.samples[0].sequences[0].ids;
  {
    const NoGrad no_grad;
    for (const std::int64_t row : rows) {
      const auto logits = model.logits_of_rows(hidden.detached_slice(0, row, row + 1), Context()).to_vector<float>();
      double sum = 0;
      for (const float each : logits) sum += std::exp(static_cast<double>(each));
      const auto next = static_cast<std::size_t>(ids[static_cast<std::size_t>(row) + 1]);
      expected += std::log(sum) - static_cast<double>(logits[next]);
    }
  }
  EXPECT_NEAR(loss.item(), expected, 1e-5);
  backward(loss);
  const auto gradient = hidden.grad().to_vector<float>();
  for (std::int64_t row = 0; row < hidden.size(0); ++row) {
    float largest = 0;
    for (std::int64_t i = 0; i < 16; ++i) {
      largest = std::max(largest, std::abs(gradient[static_cast<std::size_t>(row * 16 + i)]));
    }
    EXPECT_EQ(largest > 0, std::ranges::find(rows, row) != rows.end()) << row;
  }
}

class Notes : public TrainEvents {
 public:
  void note(const std::string& what) override { all += what + "\n"; }
  std::string all;
};

// From nothing: what was asked decides, the template is saved with the model, and `heed eval` scores as training does.
TEST_F(ConversationTest, AModelLearnsToAnswer) {
  std::string rows;
  for (int i = 0; i < 30; ++i) {
    rows += R"({"messages": [{"role": "user", "content": "dog?"}, {"role": "assistant", "content": "woof"}]}
{"instruction": "cat?", "output": "meow"}
{"conversations": [{"from": "human", "value": "cow?"}, {"from": "gpt", "value": "moo"}]}
)";
  }
  std::string dev = R"({"instruction": "dog?", "output": "woof"}
{"instruction": "cat?", "output": "meow"}
{"instruction": ")" +
                    std::string(60, 'x') + R"(", "output": "moo"}
)";
  folder_.write("train.jsonl", rows);
  folder_.write("dev.jsonl", dev);
  folder_.write("own.jinja", kPlain);
  const Json config = {{"task", "lm"},
                       {"output", path("model").string()},
                       {"model", {{"architecture", test::small_gpt2(32, 40)}}},
                       {"tokenizer", {{"train", "character"}, {"chat_template", path("own.jinja").string()}}},
                       {"data", {{"train", {path("train.jsonl").string()}}, {"dev", {path("dev.jsonl").string()}}}},
                       {"optimizer", {{"learning_rate", 1e-2}}},
                       {"batch", {{"tokens", 256}}},
                       {"epochs", 12},
                       {"log", {{"tensorboard", false}}}};
  Notes notes;
  Trainer(parse_train_config(config.dump(), "test.json"), notes).run();
  EXPECT_NE(notes.all.find("1 of 3 texts of dev is cut at 40 tokens"), std::string::npos) << notes.all;
  EXPECT_NE(notes.all.find("1 of 3 texts of dev is left out"), std::string::npos) << notes.all;
  EXPECT_EQ(read_file(path("model") / "chat_template.jinja", 1 << 20), kPlain);

  fs::remove(path("own.jinja"));  // the model has it
  const LoadedModel model = load(path("model"));
  const auto answer = [&](const std::string& question) {
    const Json request = {{"messages", {{{"role", "user"}, {"content", question}}}}, {"max_new_tokens", 10}};
    return parse_json(ask(model, "generate", request.dump()), "answer");
  };
  EXPECT_EQ(answer("dog?")["text"], "woof");
  EXPECT_EQ(answer("cat?")["text"], "meow");
  EXPECT_EQ(answer("cow?")["text"], "moo");
  EXPECT_EQ(answer("cow?")["finish_reason"], "stop");

  EvaluationRun run(model, lm_task(), Json::object(), {{.file = path("dev.jsonl")}});
  const Evaluation evaluation = run.evaluate();
  const Json results = parse_json(read_file(path("model") / "results.json", 1 << 20), "results.json");
  EXPECT_EQ(evaluation.metrics.at("loss"), results["dev"]["loss"].get<double>());
  EXPECT_EQ(evaluation.details.at("tokens").get<double>(), 10);  // woof, meow and the ends
  EXPECT_EQ(evaluation.details.at("characters").get<double>(), 8);
  // A conversation is scored by its answers.
  const std::string scored = ask(model, "score", R"({"messages": [{"role": "user", "content": "dog?"},
    {"role": "assistant", "content": "woof"}]})");
  const Json score = parse_json(scored, "score");
  EXPECT_EQ(score["tokens"], 5);
  EXPECT_LT(score["perplexity"].get<double>(), 1.3);
}

// A conversation that is asked again by the same run reads only what is new.
TEST(GenerateChat, AConversationGivesWhatOneCallGives) {
  const fs::path folder = test::shared_data("weights/minimind2-small");
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const LoadedModel model = load(folder);
  const Json options = {{"max_new_tokens", 12}};
  const auto kept = make_task(model, generate_task(), options);
  Json messages = Json::array();
  for (const char* said : {"你好", "中国的首都是哪里？"}) {
    messages.push_back({{"role", "user"}, {"content", said}});
    const std::vector<Row> row = {{.messages = messages.dump()}};
    const std::string answer = kept->run(model, row, {})[0]->json()["text"];
    EXPECT_EQ(answer, make_task(model, generate_task(), options)->run(model, row, {})[0]->json()["text"]);
    EXPECT_FALSE(answer.empty());
    messages.push_back({{"role", "assistant"}, {"content", answer}});
  }
}

}  // namespace
}  // namespace heed
