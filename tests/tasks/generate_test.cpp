// Language models as users meet them: texts scored and written by a published model of 260,000 parameters, and a
// smaller one trained from scratch.
#include "heed/tasks/generate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/base/stop.h"
#include "heed/engine/load.h"
#include "heed/ops/normalize.h"
#include "heed/tasks/dataset.h"
#include "heed/tasks/lm.h"
#include "heed/tasks/run_task.h"
#include "heed/tensor/autograd.h"
#include "heed/train/train.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

class StoriesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::shared_data("weights/stories260K");
    if (!fs::exists(folder_)) GTEST_SKIP() << folder_ << " is not there";
    model_.emplace(load(folder_));
  }
  fs::path folder_;
  std::optional<LoadedModel> model_;
};

TEST_F(StoriesTest, ScoresAreHuggingFaces) {
  const Json expected = parse_json(read_file(folder_ / "expected.json", 1 << 24), "expected.json");
  for (const Json& example : expected["forward"]) {
    const TextScore score = score_texts(*model_, {example["text"]})[0];
    const auto theirs = example["token_logprobs"].get<std::vector<double>>();
    ASSERT_EQ(score.list.size(), theirs.size());
    for (std::size_t i = 0; i < theirs.size(); ++i) EXPECT_NEAR(score.list[i].log_probability, theirs[i], 1e-4);
  }
  for (const Json& example : expected["loss"]) {
    const TextScore score = score_texts(*model_, {example["text"]})[0];
    EXPECT_NEAR(-score.log_probability / static_cast<double>(score.tokens), example["loss"].get<double>(), 1e-4);
  }
}

TEST_F(StoriesTest, EveryTokenOfALongTextCountsOnce) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "Tom had a red ball. He was very happy. ";
  const auto tokens = model_->tokenizer().encode(text).ids.size();
  ASSERT_GT(tokens, model_->max_tokens());
  for (const std::int64_t stride : {1, 7, 0}) {
    const TextScore score = score_texts(*model_, {text}, stride)[0];
    EXPECT_EQ(score.tokens, tokens - 1) << stride;  // all but the begin token
    EXPECT_EQ(score.list.size(), score.tokens);
  }
}

// The numbers of a text of several windows, with characters of two and three bytes, from the model's scores by hand.
TEST_F(StoriesTest, PerplexityAndBitsPerCharacterAreThoseByHand) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "Tom had a r\u00e9d ball. He w\u4e2ds very happy, " + std::to_string(i) + ". ";
  std::size_t characters = 0;
  for (const char byte : text) characters += (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  const auto ids = model_->tokenizer().encode(text).ids;
  const std::size_t length = model_->max_tokens();
  ASSERT_GT(ids.size(), 2 * length);
  const NoGrad no_grad;
  for (const std::size_t stride : {std::size_t{1}, std::size_t{7}, length / 2}) {
    // Every window begins with the begin token, and repeats `stride` tokens of the one before, which do not count.
    double sum = 0;
    std::size_t counted = 0;
    for (std::size_t first = 1; counted + 1 < ids.size(); first += length - 1 - stride) {
      std::vector<std::int64_t> window = {ids[0]};
      const std::size_t end = std::min(ids.size(), first + length - 1);
      window.insert(window.end(), ids.begin() + static_cast<std::ptrdiff_t>(first),
                    ids.begin() + static_cast<std::ptrdiff_t>(end));
      const auto count = std::ssize(window);
      const Packed packed(Tensor::from(window, {count}), Offsets({count}));
      const Tensor logits = model_->model().forward({.ids = packed}, Context()).logits;
      const auto scores = log_softmax(logits).to_vector<float>();
      const auto vocabulary = static_cast<std::size_t>(logits.size(1));
      for (std::size_t t = first == 1 ? 1 : 1 + stride; t < window.size(); ++t, ++counted) {
        sum += static_cast<double>(scores[(t - 1) * vocabulary + static_cast<std::size_t>(window[t])]);
      }
    }
    SCOPED_TRACE(stride);
    const TextScore score = score_texts(*model_, {text}, static_cast<std::int64_t>(stride))[0];
    EXPECT_EQ(score.tokens, counted);
    EXPECT_EQ(score.characters, characters);
    EXPECT_NEAR(score.log_probability, sum, 1e-4 * std::abs(sum));
    EXPECT_NEAR(score.perplexity(), std::exp(-sum / static_cast<double>(counted)), 1e-3);
    EXPECT_NEAR(score.bits_per_character(), -sum / std::log(2.0) / static_cast<double>(characters), 1e-3);
    const std::vector<Json> requests = {{{"text", text}}};
    const Json found = run_task(*model_, "lm", requests, {{"stride", stride}}).at(0);
    EXPECT_EQ(found["perplexity"].get<double>(), score.perplexity());
    EXPECT_EQ(found["bits_per_character"].get<double>(), score.bits_per_character());
  }
}

TEST_F(StoriesTest, APromptGivesTheSameTextAloneAndAmongOthers) {
  const std::vector<std::string> prompts = {"Once upon a time", "Lily", "The big dog was", "", "One day"};
  for (const std::string options :
       {R"({"max_new_tokens": 30})", R"({"max_new_tokens": 30, "do_sample": true, "seed": 7})",
        R"({"max_new_tokens": 12, "num_beams": 3})"}) {
    const auto together = generate_texts(*model_, prompts, options);
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const ThreadLimit one(1);
      const WrittenText alone = generate_texts(*model_, {prompts[i]}, options)[0][0];
      EXPECT_EQ(alone.text, together[i][0].text) << options;
      EXPECT_EQ(alone.score, together[i][0].score) << options;
      ASSERT_EQ(alone.tokens.size(), together[i][0].tokens.size());
      for (std::size_t t = 0; t < alone.tokens.size(); ++t) {
        EXPECT_EQ(alone.tokens[t].log_probability, together[i][0].tokens[t].log_probability);
      }
    }
  }
}

TEST_F(StoriesTest, TextComesPieceByPiece) {
  std::string streamed;
  const auto written = generate_texts(*model_, {"Once upon a time"}, R"({"max_new_tokens": 40, "stop_strings": ["."]})",
                                      [&](std::size_t, std::string_view piece) { streamed += piece; });
  EXPECT_EQ(streamed, written[0][0].text);
  EXPECT_EQ(written[0][0].finish_reason, "stop");
  EXPECT_EQ(streamed.find('.'), std::string::npos);
}

// Of several prompts each is said to be done once, after its last piece, and not before the others go on.
TEST_F(StoriesTest, EveryPromptIsDoneByItself) {
  std::vector<Row> rows;
  for (const char* prompt : {"Once upon a time", "Lily", "The big dog was", "One day"})
    rows.push_back({.text = prompt});
  std::vector<std::string> texts(rows.size());
  std::vector<std::size_t> done;
  bool together = false;
  const auto run = make_task(*model_, generate_task(), {{"max_new_tokens", 40}, {"stop_strings", {"."}}});
  const auto found = run->run(*model_, rows,
                              {.on_text =
                                   [&](const TextPiece& piece) {
                                     EXPECT_EQ(std::ranges::find(done, piece.row), done.end());
                                     texts[piece.row] += piece.text;
                                     together = together || (done.empty() && piece.row > 0);
                                   },
                               .on_done =
                                   [&](std::size_t row) {
                                     EXPECT_FALSE(texts[row].empty());
                                     done.push_back(row);
                                   }});
  EXPECT_TRUE(together);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(found[i]->json()["text"], texts[i]);
  std::ranges::sort(done);
  EXPECT_EQ(done, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST_F(StoriesTest, ACompletionsScoreIsWhatItAddsToItsPrompts) {
  const auto score = [&](const Json& request) { return run_task(*model_, "lm", std::vector<Json>{request}).at(0); };
  const std::string prompt = "Once upon a time, there was a";
  for (const std::string completion : {" little girl named Lily.", " big dog. He was very happy."}) {
    const Json both = score({{"text", prompt + completion}}), first = score({{"text", prompt}});
    const auto ids = model_->tokenizer().encode(prompt + completion).ids,
               begin = model_->tokenizer().encode(prompt).ids;
    ASSERT_TRUE(std::equal(begin.begin(), begin.end(), ids.begin())) << "a token lies across the border";
    for (const std::string field : {"completion", "text"}) {
      const Json found = score({{"prompt", prompt}, {field, completion}});
      EXPECT_NEAR(found["log_probability"].get<double>(),
                  both["log_probability"].get<double>() - first["log_probability"].get<double>(), 1e-4);
      EXPECT_EQ(found["tokens"].get<int>(), both["tokens"].get<int>() - first["tokens"].get<int>());
    }
  }
  const double found = score({{"prompt", "Lily"}, {"completion", " ran."}})["log_probability"];
  EXPECT_EQ(score({{"completion", " ran."}, {"text", "Lily"}})["log_probability"].get<double>(), found);
  const std::string three = test::error_of(ErrorKind::bad_format, [&] {
    score({{"prompt", "a"}, {"completion", "b"}, {"text", "c"}});
  });
  EXPECT_NE(three.find("too many texts"), std::string::npos) << three;
  std::string longest;
  for (int i = 0; i < 600; ++i) longest += "ball ";
  const std::string message = test::error_of(ErrorKind::invalid_argument, [&] {
    score({{"prompt", longest}, {"completion", "b"}});
  });
  EXPECT_NE(message.find("no token of the completion within the first 512"), std::string::npos) << message;
}

TEST_F(StoriesTest, ThePromptsOwnScores) {
  const std::string prompt = "Once upon a time, there was a";
  const TextScore scored = score_texts(*model_, {prompt})[0];
  const WrittenText written = generate_texts(*model_, {prompt}, R"({"max_new_tokens": 2, "score_prompt": true})")[0][0];
  ASSERT_EQ(written.prompt_scores.size(), scored.list.size());
  for (std::size_t i = 0; i < scored.list.size(); ++i) {
    EXPECT_EQ(written.prompt_scores[i].token, scored.list[i].token);
    EXPECT_EQ(written.prompt_scores[i].text, scored.list[i].text);
    EXPECT_NEAR(written.prompt_scores[i].log_probability, scored.list[i].log_probability, 1e-5);
  }
  EXPECT_TRUE(generate_texts(*model_, {prompt}, R"({"max_new_tokens": 2})")[0][0].prompt_scores.empty());
}

TEST_F(StoriesTest, WhatIsWrittenFollowsItsConstraint) {
  for (const int seed : {1, 2, 3}) {
    const std::string sampled = R"("do_sample": true, "max_new_tokens": 200, "seed": )" + std::to_string(seed);
    const auto json = generate_texts(*model_, {"Lily is"},
                                     R"({"json_schema": {"type": "object", "properties": {
      "name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 1, "maximum": 99}},
      "required": ["name", "age"], "additionalProperties": false}, )" +
                                         sampled + "}")[0][0];
    EXPECT_EQ(json.finish_reason, "stop") << json.text;
    const Json value = parse_json(json.text, "what was written");
    EXPECT_GE(value["age"].get<int>(), 1);
    EXPECT_LE(value["age"].get<int>(), 99);
    const auto digits = generate_texts(*model_, {"Lily is"}, R"({"regex": "[0-9]{3}-[a-c]+", )" + sampled + "}")[0][0];
    ASSERT_GE(digits.text.size(), 5U);
    EXPECT_EQ(digits.text[3], '-');
    EXPECT_EQ(digits.text.find_first_not_of("abc", 4), std::string::npos);
  }
  const std::string both = test::error_of(ErrorKind::invalid_argument, [&] {
    static_cast<void>(generate_texts(*model_, {"x"}, R"({"regex": "a", "grammar": "root ::= \"a\""})"));
  });
  EXPECT_NE(both.find("give one of"), std::string::npos);
}

// Greedy, sampled and by beams: what fits into the tokens that are allowed is whole, what does not is said to be cut.
TEST_F(StoriesTest, WhatIsWrittenIsWholeInTime) {
  const std::string story = R"("json_schema": {"type": "object", "properties": {"story": {"type": "string"},
      "lines": {"type": "array", "items": {"type": "string"}, "minItems": 2}}, "required": ["story", "lines"]})";
  const std::string regex = R"("regex": "([A-Z][a-z]+ ){3,}end")";
  const std::string grammar = R"("grammar": "root ::= \"(\" item (\", \" item)* \")\"\nitem ::= root | [a-z]+")";
  for (const std::string how : {R"("do_sample": true, "seed": 5)", R"("num_beams": 2)", R"("do_sample": false)"}) {
    for (const std::string& what : {story, regex, grammar}) {
      for (const int budget : {1, 36, 50}) {
        const std::string options = "{" + what + ", " + how + R"(, "max_new_tokens": )" + std::to_string(budget) + "}";
        SCOPED_TRACE(options);
        const WrittenText written = generate_texts(*model_, {"Once upon a time"}, options)[0][0];
        EXPECT_EQ(written.whole, budget > 1) << written.text;
        EXPECT_LE(written.tokens.size(), static_cast<std::size_t>(budget));
        if (written.whole && what == story) {
          EXPECT_GE(parse_json(written.text, "what was written")["lines"].size(), 2u);
        }
        EXPECT_TRUE(written.whole || written.finish_reason == "length");
      }
    }
  }
}

// Two short documents of one batch, in training: scores, loss and gradients of each are those it has alone.
TEST(LmTraining, DocumentsOfABatchDoNotSeeEachOther) {
  const test::TempFolder folder;
  test::write_random_decoder(folder.path() / "model");
  const auto file = folder.write("a.jsonl", R"({"text": "the quick brown fox"}
{"text": "over the lazy dog in berlin"}
)");
  const LoadedModel model = load(folder.path() / "model");
  TaskList tasks;
  tasks.push_back(lm_task().make_trainable(model.setup(), Json::object()));
  Dataset data({{{.file = file, .needs = {RowField::text}}}}, tasks, Purpose::train);
  data.index();
  ASSERT_EQ(data.size(), 2u);

  struct Pass {
    std::vector<float> logits{};
    double loss = 0, count = 0;
    std::map<std::string, std::vector<float>> gradients{};
  };
  const auto pass = [&](const std::vector<std::uint32_t>& numbers) {
    // With gradients, and no dropout to draw another mask for the second of two.
    const auto own = load_model(folder.path() / "model");
    set_trainable(*own, true, [](std::string_view) { return true; });
    const Batch batch = data.batch(numbers, 1, 0, own->info());
    HeadBatch part{.batch = batch, .training = true};
    part.logits = tasks[0]->forward(*own, part, own->encode(batch.inputs, Context()), Context());
    const Tensor loss = tasks[0]->loss(part);
    Pass found{.logits = part.logits.to_vector<float>(), .loss = loss.item(), .count = tasks[0]->count(part)};
    backward(loss);
    for (const NamedParameter& each : named_parameters(*own)) {
      found.gradients[each.name] = each.parameter->grad().to_vector<float>();
    }
    return found;
  };
  const Pass first = pass({0}), second = pass({1}), both = pass({0, 1});
  EXPECT_EQ(first.count, 3);
  EXPECT_EQ(second.count, 5);
  EXPECT_EQ(both.count, 8);
  std::vector<float> expected = first.logits;
  expected.insert(expected.end(), second.logits.begin(), second.logits.end());
  EXPECT_EQ(both.logits, expected);
  EXPECT_NEAR(both.loss, first.loss + second.loss, 1e-5 * both.loss);
  for (const auto& [name, gradient] : both.gradients) {
    const auto &a = first.gradients.at(name), &b = second.gradients.at(name);
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double sum = static_cast<double>(a[i]) + static_cast<double>(b[i]);
      largest = std::max(largest, std::abs(sum));
      difference = std::max(difference, std::abs(static_cast<double>(gradient[i]) - sum));
    }
    EXPECT_LE(difference, 1e-5 * largest) << name;
  }
}

// A model of characters learns a text by heart, is scored as training says, and writes it.
TEST(LmTraining, FromNothingToText) {
  const test::TempFolder folder;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the cat sat on the mat, and the dog sat by the log.\n";
  folder.write("train.txt", text);
  const Json config = {
      {"task", "lm"},
      {"output", (folder.path() / "model").string()},
      {"model", {{"architecture", test::small_gpt2(32, 32)}}},
      {"tokenizer", {{"train", "character"}}},
      {"data", {{"train", (folder.path() / "train.txt").string()}, {"format", "document"}, {"dev_share", 0}}},
      {"optimizer", {{"learning_rate", 1e-2}}},
      {"batch", {{"tokens", 256}}},
      {"epochs", 12},
      {"log", {{"tensorboard", false}}}};
  folder.write("lm.json", config.dump());
  std::vector<double> losses;
  const TrainResult result = train(
      folder.path() / "lm.json", {.on_step = [&](const TrainProgress& progress) { losses.push_back(progress.loss); }});
  EXPECT_GT(losses.front(), 2.5);
  EXPECT_LT(losses.back(), 0.3);
  const LoadedModel model = load(result.folder);
  const TextScore score = score_texts(model, {"the cat sat on the mat, and"})[0];
  EXPECT_LT(score.perplexity(), 2.5);
  const WrittenText written = generate_texts(model, {"the cat sat on"}, R"({"max_new_tokens": 9})")[0][0];
  EXPECT_EQ(written.text, " the mat,");
}

// Segments of 16 characters with a memory of 12: what comes after a segment's border is known, and a run that is
// stopped and resumed ends with the same bytes.
TEST(LmTraining, TransformerXlRemembersWhatCameBefore) {
  const test::TempFolder folder;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the cat sat on the mat, and the dog sat by the log.\n";
  folder.write("train.txt", text);
  Json config = {
      {"task", "lm"},
      {"model",
       {{"max_tokens", 16},
        {"architecture",
         {{"model_type", "transfo-xl"},
          {"d_model", 32},
          {"d_embed", 32},
          {"n_layer", 2},
          {"n_head", 2},
          {"d_head", 16},
          {"d_inner", 64},
          {"mem_len", 12},
          {"div_val", 1},
          {"cutoffs", Json::array()},
          {"dropout", 0.01}}}}},
      {"tokenizer", {{"train", "character"}}},
      {"data", {{"train", (folder.path() / "train.txt").string()}, {"format", "document"}, {"dev_share", 0}}},
      {"optimizer", {{"learning_rate", 1e-2}}},
      {"batch", {{"tokens", 448}}},
      {"epochs", 6},
      {"save", {{"every", 10}}},
      {"log", {{"tensorboard", false}}}};
  const auto write = [&](const std::string& name) {
    config["output"] = (folder.path() / name).string();
    return folder.write(name + ".json", config.dump());
  };
  std::vector<double> losses;
  const auto on_step = [&](const TrainProgress& progress) { losses.push_back(progress.loss); };
  const TrainResult result = train(write("model"), {.on_step = on_step});
  EXPECT_GT(losses.front(), 2.5);
  EXPECT_LT(losses.back(), 0.3);
  const LoadedModel model = load(result.folder);
  // Every character but the first few follows from what is remembered, though segments begin in the midst of words.
  const TextScore score = score_texts(model, {text.substr(0, 104)})[0];
  EXPECT_EQ(score.tokens, 103U);
  for (const TokenScore& each : score.list) EXPECT_GT(each.log_probability, each.place < 16 ? -6 : -1) << each.place;
  EXPECT_EQ(generate_texts(model, {"the cat sat on"}, R"({"max_new_tokens": 9})")[0][0].text, " the mat,");

  const auto stopped = write("stopped");
  const StopSource stop;
  losses.clear();
  const auto stop_at_15 = [&](const TrainProgress& progress) {
    on_step(progress);
    if (losses.size() == 15) stop.request_stop();
  };
  {
    const StopScope scope(stop.token());
    EXPECT_EQ(train(stopped, {.on_step = stop_at_15}).end, TrainEnd::interrupted);
  }
  const TrainResult resumed = train(stopped, {.resume = true});
  EXPECT_EQ(read_file(resumed.folder / "model.safetensors", 1 << 24),
            read_file(result.folder / "model.safetensors", 1 << 24));
}

}  // namespace
}  // namespace heed
