// Translations by tiny random models, by a published one and by one that is trained here.
#include "heed/tasks/text_to_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/engine/load.h"
#include "heed/tasks/dataset.h"
#include "heed/tasks/run_task.h"
#include "heed/tasks/translate.h"
#include "heed/tensor/autograd.h"
#include "heed/train/evaluation_run.h"
#include "heed/train/trainer.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

using test::error_of;

class TextToTextTest : public testing::Test {
 protected:
  LoadedModel model(const Json& fields = Json::object()) const {
    test::write_random_translator(folder_.path() / "model", 1, fields);
    return load(folder_.path() / "model");
  }
  // One with the languages en and de, of which it reads the first.
  LoadedModel languages(const Json& fields = Json::object()) const {
    Json all = {{"vocab_size", test::small_vocabulary().size() + 2}};
    all.update(fields);
    test::write_random_translator(folder_.path() / "model", 1, all);
    test::write_small_tokenizer(folder_.path() / "model", true, {"__en__", "__de__"});
    return load(folder_.path() / "model");
  }
  static std::unique_ptr<TrainableRun> task(const LoadedModel& model, const Json& options = Json::object()) {
    return translate_task().make_trainable(model.setup(), options);
  }

  test::TempFolder folder_;
};

std::vector<std::string> some_texts() {
  std::vector<std::string> texts = {"", "the fox", "  \t"};
  for (int i = 1; i < 12; ++i) {
    std::string text = i % 2 ? "a zebra" : "the dog";
    for (int k = 0; k < i % 5; ++k) text += " jumps over the quick fox";
    texts.push_back(text);
  }
  return texts;
}

void expect_same(const std::vector<Translation>& a, const std::vector<Translation>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].text, b[i].text);
    EXPECT_EQ(a[i].score, b[i].score);
  }
}

TEST_F(TextToTextTest, ATextIsTranslatedAloneAsAmongOthers) {
  const LoadedModel model = this->model();
  const std::vector<std::string> texts = some_texts();
  for (const char* options : {R"({"max_new_tokens": 12})", R"({"num_beams": 3, "num_return_sequences": 2})",
                              R"({"do_sample": true, "seed": 5, "num_return_sequences": 3})"}) {
    SCOPED_TRACE(options);
    const auto together = translate(model, texts, options);
    const LoadedModel narrow(folder_.path() / "model", 16);
    const ThreadLimit one(1);
    const auto apart = translate(narrow, texts, options);
    ASSERT_EQ(together.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool blank = texts[i].find_first_not_of(" \t") == std::string::npos;
      EXPECT_EQ(together[i].empty(), blank) << i;
      expect_same(together[i], apart[i]);
      expect_same(together[i], translate(model, {texts[i]}, options)[0]);
    }
  }
}

TEST_F(TextToTextTest, AnswersHaveTheFieldsOfHuggingFace) {
  const LoadedModel model = this->model();
  const Json one = parse_json(ask(model, "translate", R"({"text": "the fox", "max_new_tokens": 5})"), "answer");
  EXPECT_TRUE(one.at("translation_text").is_string() && one.at("score").is_number() && !one.contains("alternatives"));
  const Json several = parse_json(
      ask(model, "translate", R"({"text": "the fox", "num_beams": 4, "num_return_sequences": 3})"), "answer");
  ASSERT_EQ(several.at("alternatives").size(), 2U);
  EXPECT_GE(several["score"].get<double>(), several["alternatives"][0]["score"].get<double>());
  EXPECT_EQ(parse_json(ask(model, "translate", R"({"text": ""})"), "answer").at("translation_text"), "");
}

TEST_F(TextToTextTest, LongTextsAreCutAndCounted) {
  const LoadedModel model = this->model();
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "fox ";
  CutRows cut;
  const auto run = make_task(model, translate_task(), {{"max_new_tokens", 3}});
  run->run(model, {{.text = text}, {.text = "the fox"}, {.text = text + "dog"}}, {.cut = &cut});
  EXPECT_EQ(cut.count, 2U);
  EXPECT_EQ(cut.tokens, 64U);
}

TEST_F(TextToTextTest, TheDecoderReadsTheTextOneTokenLater) {
  const LoadedModel model = this->model();
  const auto run = task(model);
  const Row row{.text = "the quick fox", .pair = "lazy dog"};
  auto samples = run->encode(row, Purpose::train);
  ASSERT_EQ(samples.size(), 1U);
  ASSERT_EQ(samples[0].size(), 2U);
  const auto id = [&](const char* token) { return model.tokenizer().token_to_id(token).value(); };
  EXPECT_EQ(samples[0][0].ids, (std::vector<std::int32_t>{id("the"), id("quick"), id("fox"), 3}));
  const Targets targets = run->targets(row, row.text, samples[0], {1, 1});
  EXPECT_EQ(samples[0][1].ids, (std::vector<std::int32_t>{0, id("lazy"), id("dog")}));
  EXPECT_EQ(targets.classes, (std::vector<std::int64_t>{id("lazy"), id("dog"), 3}));
  EXPECT_TRUE(run->encode({.text = "", .pair = "a"}, Purpose::train).empty());
  EXPECT_TRUE(run->encode({.text = "a", .pair = " "}, Purpose::train).empty());
}

TEST_F(TextToTextTest, LanguagesGoWhereTheModelExpectsThem) {
  const LoadedModel model = languages();
  const auto id = [&](const char* token) { return model.tokenizer().token_to_id(token).value(); };
  const Row row{.text = "the fox", .pair = "dog"};
  const auto sequences = [&](const LoadedModel& of, const Json& options) {
    return task(of, options)->encode(row, Purpose::train)[0];
  };
  const std::vector<std::int32_t> english = {id("__en__"), id("the"), id("fox"), 3};
  EXPECT_EQ(sequences(model, Json::object())[0].ids, english);
  const auto given = sequences(model, {{"from", "de"}, {"to", "de"}});
  EXPECT_EQ(given[0].ids, (std::vector<std::int32_t>{id("__de__"), id("the"), id("fox"), 3}));
  EXPECT_EQ(given[1].ids, (std::vector<std::int32_t>{0, id("__de__"), id("dog"), 3}));
  // The first that is written is the language, which is no text.
  const auto german = translate(model, {"the fox"}, R"({"to": "de", "max_new_tokens": 4})");
  EXPECT_EQ(german[0][0].text.find("__"), std::string::npos);
  // By the folder's own config, and where the decoder begins with it.
  const auto forced = sequences(languages({{"forced_bos_token_id", id("__de__")}}), Json::object());
  EXPECT_EQ(forced[1].ids, given[1].ids);
  const auto begun = sequences(languages({{"decoder_start_token_id", id("__de__")}}), {{"to", "en"}});
  EXPECT_EQ(begun[1].ids.front(), id("__en__"));

  const auto message = [&](const LoadedModel& of, const Json& options) {
    return error_of(ErrorKind::invalid_argument, [&] { task(of, options); });
  };
  EXPECT_NE(message(model, {{"to", "fr"}}).find("to is \"fr\", but"), std::string::npos);
  EXPECT_NE(message(model, {{"from", "dee"}}).find("has de, en"), std::string::npos);
  EXPECT_NE(message(this->model(), {{"to", "de"}}).find("has no languages"), std::string::npos);
}

TEST_F(TextToTextTest, PrefixesNameTheTasksOfT5) {
  const Json prefixes = {{"task_specific_params",
                          {{"translation_en_to_de", {{"prefix", "the "}}}, {"summarization", {{"prefix", "a "}}}}}};
  const LoadedModel model = this->model(prefixes);
  const auto with = task(model, {{"from", "en"}, {"to", "de"}})->encode({.text = "fox", .pair = "a"}, Purpose::train);
  const auto plain = task(model)->encode({.text = "the fox", .pair = "a"}, Purpose::train);
  EXPECT_EQ(with[0][0].ids, plain[0][0].ids);
  const std::string message = error_of(ErrorKind::invalid_argument, [&] {
    task(model, {{"from", "en"}, {"to", "fr"}});
  });
  EXPECT_NE(message.find("translation_en_to_de"), std::string::npos) << message;
}

// A real Transformer of 6 + 6 layers, with what HuggingFace made of it.
TEST_F(TextToTextTest, ATransliteratorWritesWhatIsPublished) {
  const auto folder = test::shared_data("weights/aren-transliteration");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const LoadedModel model = load(folder);
  const Json expected = parse_json(read_file(folder / "expected.json", 1 << 24), "expected.json");
  std::size_t cases = 0;
  for (const Json& each : expected.at("hf_generate")) {
    Json options = each.at("params");
    const auto found = translate(model, {each.at("source")}, options.dump())[0];
    ASSERT_EQ(found.size(), each.at("texts").size()) << each.dump();
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].text, each["texts"][i]) << each.dump();
      if (!each.contains("sequences_scores")) continue;
      EXPECT_NEAR(found[i].score, each["sequences_scores"][i].get<double>(), 2e-5) << each.dump();
    }
    ++cases;
  }
  EXPECT_GT(cases, 0U);
}

// Every word has one translation.
std::string toy_rows(std::uint32_t first, std::uint32_t count) {
  const std::vector<std::pair<std::string, std::string>> words = {
      {"der", "the"}, {"hund", "dog"}, {"fuchs", "fox"}, {"rennt", "runs"}, {"schnell", "quickly"}, {"heute", "today"}};
  std::string rows = "text\ttext_pair\n";
  for (std::uint32_t i = first; i < first + count; ++i) {
    std::string text, pair;
    for (std::uint32_t k = 0, state = i * 2654435761U; k < 2 + i % 3; ++k, state = state * 1664525U + 1013904223U) {
      const auto& [german, english] = words[(state >> 16) % words.size()];
      text += (k ? " " : "") + german;
      pair += (k ? " " : "") + english;
    }
    rows += text;
    rows += "\t" + pair + "\n";
  }
  return rows;
}

TEST_F(TextToTextTest, LearnsToTranslate) {
  folder_.write("train.tsv", toy_rows(0, 400));
  folder_.write("dev.tsv", toy_rows(1000, 40));
  const std::string output = (folder_.path() / "run").string();
  const Json config = {
      {"task", "translate"},
      {"output", output},
      {"model", {{"architecture", test::small_marian(32, 32)}}},
      {"tokenizer", {{"train", "bpe"}, {"vocab_size", 320}}},
      {"data", {{"train", (folder_.path() / "train.tsv").string()}, {"dev", (folder_.path() / "dev.tsv").string()}}},
      {"translate", {{"label_smoothing", 0.1}}},
      {"epochs", 20},
      {"evaluate", {{"every", 200}}},
      {"batch", {{"tokens", 300}}},
      {"optimizer", {{"learning_rate", 5e-3}, {"beta2", 0.98}}}};
  TrainEvents nobody;
  Trainer(parse_train_config(config.dump(), "test.json"), nobody).run();
  const Json results = parse_json(read_file(output + "/results.json", 1 << 20), "results.json");
  EXPECT_EQ(results.at("judged_by").at("metric"), "bleu");
  EXPECT_GT(results.at("dev").at("accuracy").get<double>(), 0.9);
  EXPECT_GT(results.at("dev").at("chrf").get<double>(), 70);
  const LoadedModel model = load(output);
  EXPECT_EQ(translate(model, {"der fuchs rennt"}, R"({"num_beams": 3})")[0][0].text, "the fox runs");
  const Json written = parse_json(read_file(output + "/generation_config.json", 1 << 20), "generation_config.json");
  EXPECT_EQ(written.at("decoder_start_token_id"), model.tokenizer().token_to_id("</s>").value());
}

// A vocabulary of letters for each side: both are kept, and the folder is scored as training scored it.
TEST_F(TextToTextTest, AModelWithTwoVocabulariesIsTunedAndSaved) {
  const std::string start = (folder_.path() / "start").string(), output = (folder_.path() / "run").string();
  Json fields = test::small_marian(16, 32);
  fields.update({{"vocab_size", 8},
                 {"decoder_vocab_size", 7},
                 {"share_encoder_decoder_embeddings", false},
                 {"tie_word_embeddings", false},
                 {"pad_token_id", 0},
                 {"eos_token_id", 1},
                 {"decoder_start_token_id", 0},
                 {"num_beams", 2},
                 {"architectures", {"MarianMTModel"}}});
  Model model(parse_model_config(fields, "config.json"), HeadKind::seq2seq_lm);
  initialize(model, 1);
  save_model(model, start);
  folder_.write("start/vocab.json", R"({"source": {"<pad>": 0, "</s>": 1, "<unk>": 2, "x": 3, "y": 4, "z": 5},
                                        "target": {"<pad>": 0, "</s>": 1, "<unk>": 2, "a": 3, "b": 4, "c": 5}})");
  std::string rows = "text\ttext_pair\n";
  for (int i = 0; i < 30; ++i) rows += i % 2 ? "xyz\tabc\n" : "zy\tcb\n";
  const std::string data = folder_.write("rows.tsv", rows).string();
  const Json config = {{"task", "translate"},
                       {"output", output},
                       {"model", {{"from", start}}},
                       {"data", {{"train", data}, {"dev", data}}},
                       {"max_steps", 60},
                       {"batch", {{"tokens", 100}}},
                       {"optimizer", {{"learning_rate", 1e-2}}}};
  TrainEvents nobody;
  Trainer(parse_train_config(config.dump(), "test.json"), nobody).run();
  const LoadedModel tuned = load(output);
  EXPECT_EQ(translate(tuned, {"xyz"})[0][0].text, "abc");
  const Json results = parse_json(read_file(output + "/results.json", 1 << 20), "results.json");
  EvaluationRun evaluation(tuned, translate_task(), Json::object(), {{.file = data}});
  for (const auto& [name, value] : evaluation.evaluate().metrics) {
    EXPECT_EQ(results.at("dev").at(name).get<double>(), value) << name;
  }
  const Json written = parse_json(read_file(output + "/generation_config.json", 1 << 20), "generation_config.json");
  EXPECT_EQ(written.at("num_beams"), 2);
}

}  // namespace
}  // namespace heed
