// Each task from rows to targets and metrics, on tiny models.
#include "heed/tasks/task.h"

#include <gtest/gtest.h>

#include <set>

#include "heed/base/file.h"
#include "heed/engine/load.h"
#include "heed/tasks/classify.h"
#include "heed/tasks/embed.h"
#include "heed/tasks/fill_mask.h"
#include "heed/tasks/registry.h"
#include "heed/tasks/tag.h"
#include "heed/tasks/word_places.h"
#include "heed/text/load_tokenizer.h"
#include "heed/train/evaluation_run.h"
#include "heed/train/trainer.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

class TaskTest : public testing::Test {
 protected:
  TaskTest() {
    test::write_random_model(folder_.path() / "model", HeadKind::none, {});
    tokenizer_ = text::load_tokenizer(folder_.path() / "model");
    special_.emplace(*tokenizer_);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  TrainConfig config(Json fields) const {
    Json all = {{"output", path("run")}, {"model", {{"from", path("model")}}}, {"data", {{"train", path("train")}}}};
    all.merge_patch(fields);
    return parse_train_config(all.dump(), "test.json");
  }
  std::unique_ptr<TrainableRun> task(const std::string& name, const Json& options = Json::object(),
                                     std::size_t max_tokens = 40) const {
    return task_named(name).make_trainable({.tokenizer = *tokenizer_, .special = *special_, .max_tokens = max_tokens},
                                           options);
  }
  std::map<std::string, double> train(const TrainConfig& config) const {
    TrainEvents nobody;
    Trainer(config, nobody).run();
    const Json results = parse_json(read_file(folder_.path() / "run" / "results.json", 1 << 20), "results.json");
    std::map<std::string, double> metrics;
    for (const auto& [name, value] : results.at("dev").items()) {
      if (value.is_number()) metrics[name] = value.get<double>();
    }
    return metrics;
  }

  // Files for every task, with these rows.
  void write_rows(const std::string& prefix, std::size_t first, std::size_t count) const {
    std::string labels = "text\tlabel\n", several = labels, numbers = "text\tscore\n", lines, tags;
    std::string pairs = "text\ttext_pair\n", scores = "text\ttext_pair\tscore\n";
    Json paragraphs = Json::array();
    const std::vector<std::string> animals = {"fox", "dog", "zebra", "bee"};
    for (std::size_t i = first; i < first + count; ++i) {
      const std::string &a = animals[i % 4], &b = animals[i / 4 % 4];
      std::string filler;
      for (std::size_t k = 0; k < i % 7; ++k) filler += "the lazy quick brown ox ";
      const std::string text = filler + "the " + a + " in berlin";
      labels += text + "\t" + (i % 2 ? "odd" : "even") + "\n";
      several += text + "\t" + (i % 2 ? "odd," : "") + a + "\n";
      numbers += text + "\t" + std::to_string(i % 5) + "\n";
      lines += text + "\n";
      pairs += text + "\ta quick " + a + "\n";
      scores += text + "\tthe " + b + "\t" + (a == b ? "5" : "1") + "\n";
      for (std::size_t k = 0; k < i % 7; ++k) tags += "lazy O\noxgang B-O\n";
      tags += a + " B-A\nin O\nberlin B-P\n\n";
      Json answers = Json::array();
      if (i % 3) answers.push_back({{"text", a}, {"answer_start", filler.size() + 4}});
      paragraphs.push_back({{"context", text},
                            {"qas",
                             {{{"id", std::to_string(i)},
                               {"question", "the animal ?"},
                               {"is_impossible", i % 3 == 0},
                               {"answers", answers}}}}});
    }
    folder_.write(prefix + "labels.tsv", labels);
    folder_.write(prefix + "several.tsv", several);
    folder_.write(prefix + "numbers.tsv", numbers);
    folder_.write(prefix + "lines.txt", lines);
    folder_.write(prefix + "pairs.tsv", pairs);
    folder_.write(prefix + "scores.tsv", scores);
    folder_.write(prefix + "tags.conll", tags);
    folder_.write(prefix + "questions.json",
                  Json({{"version", "2.0"}, {"data", {{{"title", "t"}, {"paragraphs", paragraphs}}}}}).dump());
  }

  test::TempFolder folder_;
  std::optional<text::Tokenizer> tokenizer_;
  std::optional<text::SpecialTokens> special_;
};

TEST_F(TaskTest, TheFirstTokenOfAWordHasItsLabel) {
  const auto tag = task("tag");
  tag->set_labels({"B-X", "O"});
  const Row row{.words = {"quick", "zebra", "in", "Berlingang"}, .labels = {"O", "B-X", "O", "B-X"}};
  auto samples = tag->encode(row, Purpose::train);
  ASSERT_EQ(samples.size(), 1u);
  const Targets targets = tag->targets(row, tag->text_of(row), samples[0], {1, 1});
  // [CLS] quick z ##e ##b ##r ##a in berlin ##gang [SEP]
  const std::vector<std::int64_t> expected = {-100, 1, 0, -100, -100, -100, -100, 1, 0, -100, -100};
  EXPECT_EQ(targets.classes, expected);
}

TEST_F(TaskTest, FurtherTokensOfAWordMayBeLabelledToo) {
  const auto tag = task("tag", {{"all_tokens", true}});
  tag->set_labels({"B-X", "B-Y", "I-X", "O"});
  const Row row{.words = {"berlingang", "quick", "berlingang", "ox"}, .labels = {"B-X", "O", "B-Y", "O"}};
  auto samples = tag->encode(row, Purpose::train);
  const Targets targets = tag->targets(row, tag->text_of(row), samples[0], {1, 1});
  // [CLS] berlin ##gang quick berlin ##gang o ##x [SEP]; there is no I-Y
  EXPECT_EQ(targets.classes, (std::vector<std::int64_t>{-100, 0, 2, 3, 1, 1, 3, 3, -100}));
}

TEST_F(TaskTest, LongSentencesBecomeWindowsThatCoverEveryWord) {
  const auto tag = task("tag", {}, 12);
  Row row;
  for (int i = 0; i < 30; ++i) row.words.push_back(i % 3 ? "fox" : "dog"), row.labels.push_back(i % 3 ? "F" : "D");
  tag->set_labels({"D", "F"});
  std::vector<int> seen(row.words.size());
  auto samples = tag->encode(row, Purpose::train);
  EXPECT_EQ(samples.size(), 3u);
  for (auto& sample : samples) {
    const Targets targets = tag->targets(row, tag->text_of(row), sample, {1, 1});
    const auto words = word_of_tokens(sample[0], word_places(row, tag->text_of(row)));
    for (std::size_t t = 0; t < targets.classes.size(); ++t) {
      if (targets.classes[t] == kNoTarget) continue;
      ++seen[*words[t]];
      EXPECT_EQ(targets.classes[t], row.labels[*words[t]] == "F" ? 1 : 0);
    }
  }
  EXPECT_EQ(seen, std::vector<int>(row.words.size(), 1));
}

TEST_F(TaskTest, MaskingFollowsItsShares) {
  const auto mlm = task("mlm", {{"probability", 0.3}});
  const Row row{.text = "the quick brown fox jumps over the lazy dog in berlin . the quick brown fox"};
  const auto plain = mlm->encode(row, Purpose::train)[0][0].ids;
  std::size_t chosen = 0, masked = 0, kept = 0, tokens = 0;
  for (std::uint64_t draw = 0; draw < 2000; ++draw) {
    auto sequences = mlm->encode(row, Purpose::train)[0];
    const Targets targets = mlm->targets(row, row.text, sequences, {1, draw});
    for (std::size_t t = 0; t < plain.size(); ++t) {
      tokens += !sequences[0].special_mask[t];
      if (targets.classes[t] == kNoTarget) {
        EXPECT_EQ(sequences[0].ids[t], plain[t]);
        continue;
      }
      ASSERT_FALSE(sequences[0].special_mask[t]);
      EXPECT_EQ(targets.classes[t], plain[t]);
      ++chosen;
      masked += sequences[0].ids[t] == 4;  // [MASK]
      kept += sequences[0].ids[t] == plain[t];
    }
  }
  const auto share = [](std::size_t part, std::size_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  EXPECT_NEAR(share(chosen, tokens), 0.3, 0.01);
  EXPECT_NEAR(share(masked, chosen), 0.8, 0.02);
  EXPECT_NEAR(share(kept, chosen), 0.1, 0.02);
}

TEST_F(TaskTest, WholeWordsAreMaskedTogether) {
  const auto mlm = task("mlm", {{"whole_words", true}});
  const Row row{.text = "zebra berlin zebra"};  // z ##e ##b ##r ##a berlin z ##e ##b ##r ##a
  for (std::uint64_t draw = 0; draw < 50; ++draw) {
    auto sequences = mlm->encode(row, Purpose::train)[0];
    const Targets targets = mlm->targets(row, row.text, sequences, {1, draw});
    for (std::size_t t = 2; t < 6; ++t) {
      EXPECT_EQ(targets.classes[t] == kNoTarget, targets.classes[1] == kNoTarget) << draw;
    }
  }
}

TEST_F(TaskTest, AnswersPointAtTheirTokensOrAtTheFirst) {
  const auto answer = task("answer", {{"stride", 4}, {"max_tokens", 16}}, 16);
  const Row row{.text = "the fox ?",
                .pair = "the lazy dog jumps over the quick brown fox in berlin",
                .answers = {{.text = "brown fox", .start = 34}}};
  auto samples = answer->encode(row, Purpose::train);
  ASSERT_GT(samples.size(), 1u);
  std::size_t found = 0;
  for (auto& sample : samples) {
    const Targets targets = answer->targets(row, row.text, sample, {1, 1});
    const auto first = static_cast<std::size_t>(targets.classes[0]),
               last = static_cast<std::size_t>(targets.classes[1]);
    if (first == 0) {
      EXPECT_EQ(last, 0u);
      continue;
    }
    ++found;
    EXPECT_EQ(sample[0].char_offsets[first].begin, 34);
    EXPECT_EQ(sample[0].char_offsets[last].end, 43);
  }
  EXPECT_GE(found, 1u);
}

TEST_F(TaskTest, TaggingLearns) {
  std::string rows;
  for (int i = 0; i < 60; ++i) {
    rows += std::string("the O\n") + (i % 2 ? "lazy" : "quick") + " O\n" + (i % 3 ? "fox B-A\n" : "dog B-A\n") +
            "in O\nberlin B-P\n\n";
  }
  folder_.write("train.conll", rows);
  const auto metrics = train(config({{"task", "tag"},
                                     {"data", {{"train", path("train.conll")}, {"dev", path("train.conll")}}},
                                     {"epochs", 3},
                                     {"batch", {{"tokens", 80}}},
                                     {"optimizer", {{"learning_rate", 5e-3}}}}));
  EXPECT_GT(metrics.at("f1"), 0.99);
  const auto model = load(path("run"));
  const auto entities = tag(model, {"the quick dog in berlin"});
  ASSERT_EQ(entities[0].size(), 2u);
  EXPECT_EQ(entities[0][0].word, "dog");
  EXPECT_EQ(entities[0][1].label, "P");
}

TEST_F(TaskTest, QuestionsLearn) {
  Json paragraphs = Json::array();
  const std::vector<std::string> animals = {"fox", "dog"};
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string animal = animals[i % 2], filler = i % 3 ? "the lazy " : "over the quick brown ";
    const std::string context = filler + animal + " jumps in berlin";
    paragraphs.push_back({{"context", context},
                          {"qas",
                           {{{"id", std::to_string(i)},
                             {"question", "the animal ?"},
                             {"answers", {{{"text", animal}, {"answer_start", filler.size()}}}}}}}});
  }
  folder_.write("train.json",
                Json({{"version", "1.1"}, {"data", {{{"title", "t"}, {"paragraphs", paragraphs}}}}}).dump());
  const auto metrics = train(config({{"task", "answer"},
                                     {"data", {{"train", path("train.json")}, {"dev", path("train.json")}}},
                                     {"batch", {{"tokens", 160}}},
                                     {"epochs", 8},
                                     {"optimizer", {{"learning_rate", 5e-3}}}}));
  EXPECT_GT(metrics.at("exact"), 0.95);
}

TEST_F(TaskTest, VectorsLearnPairsAndScores) {
  std::string pairs = "text\ttext_pair\n", scores = "text\ttext_pair\tscore\n";
  const std::vector<std::string> animals = {"fox", "dog", "zebra", "ant", "bee", "cow"};
  for (std::size_t i = 0; i < 60; ++i) {
    const std::string &a = animals[i % 6], &b = animals[i / 6 % 6];
    pairs += "the " + a + "\ta quick " + a + "\n";
    scores += "the " + a + "\tthe " + b + "\t" + (a == b ? "5" : "0") + "\n";
  }
  folder_.write("pairs.tsv", pairs);
  folder_.write("scores.tsv", scores);
  const Json common = {{"task", "embed"},
                       {"epochs", 10},
                       {"batch", {{"sequences", 6}, {"tokens", 2048}}},
                       {"optimizer", {{"learning_rate", 3e-3}}}};
  Json contrastive = common, cosine = common;
  contrastive["data"] = {{"train", path("pairs.tsv")}, {"dev", path("pairs.tsv")}};
  contrastive["batch"]["by_length"] = false;
  cosine["data"] = {{"train", path("scores.tsv")}, {"dev", path("scores.tsv")}};
  cosine["embed"] = {{"loss", "cosine"}};
  const auto first = train(config(contrastive));
  EXPECT_LT(first.at("loss"), 3.0);
  cosine["output"] = path("run");
  std::filesystem::remove_all(folder_.path() / "run");
  EXPECT_GT(train(config(cosine)).at("spearman"), 0.6);
  // The folder is one of sentence-transformers'.
  EXPECT_EQ(embed(load(path("run")), {"the fox"}).size(0), 1);
}

// Those that the task of the run says it has.
std::set<std::string> metric_names(const TrainConfig& config, const LoadedModel& model) {
  const std::vector<HeadPlan> plans = head_plans(config);
  const auto task = plans[0].task->make_trainable(model.setup(), plans[0].options);
  const auto reader = open_reader(data_sources(config, plans, config.data.train)[0][0]);
  for (Row row; reader->next(row);) task->learn(row);
  const std::vector<std::string> names = task->metric_names();
  return {names.begin(), names.end()};
}

// What heed train prints for dev and test is what heed eval gives on the saved folder, to the last bit: with texts
// longer than a window, options of the task, a seed, a longest sequence.
TEST_F(TaskTest, TrainingAndEvaluationGiveTheSameNumbers) {
  write_rows("", 0, 24);
  write_rows("other_", 5, 18);
  struct Case {
    std::string task, file;
    Json options;
    char separator = 0;
    Json model = {{"max_tokens", 24}};
  };
  const Json decoder = {
      {"max_tokens", 24},
      {"from", nullptr},
      {"architecture", {{"model_type", "gpt2"}, {"n_embd", 16}, {"n_layer", 1}, {"n_head", 2}, {"n_positions", 32}}}};
  const Json recurrent = {{"max_tokens", 6},
                          {"from", nullptr},
                          {"architecture",
                           {{"model_type", "transfo-xl"},
                            {"d_model", 16},
                            {"d_embed", 16},
                            {"n_layer", 2},
                            {"n_head", 2},
                            {"d_head", 8},
                            {"d_inner", 24},
                            {"mem_len", 4},
                            {"div_val", 1},
                            {"cutoffs", Json::array()}}}};
  Json adaptive = recurrent;
  adaptive["architecture"]["cutoffs"] = {7, 15};
  const Json translator = {{"max_tokens", 24}, {"from", nullptr}, {"architecture", test::small_marian(16, 32)}};
  const std::vector<Case> cases = {{"classify", "labels.tsv", {{"label_smoothing", 0.1}}},
                                   {"classify", "several.tsv", {{"kind", "several"}}, ','},
                                   {"classify", "numbers.tsv", {{"kind", "number"}}},
                                   {"tag", "tags.conll", {{"all_tokens", true}}},
                                   {"mlm", "lines.txt", {{"probability", 0.3}, {"whole_words", true}}},
                                   {"lm", "lines.txt", {{"stride", 3}}, 0, decoder},
                                   {"lm", "lines.txt", Json::object(), 0, recurrent},
                                   {"lm", "lines.txt", Json::object(), 0, adaptive},
                                   {"answer", "questions.json", {{"null_answer", true}, {"stride", 5}}},
                                   {"translate", "pairs.tsv", {{"label_smoothing", 0.1}}, 0, translator},
                                   {"translate", "pairs.tsv", {{"bleu", false}}, 0, translator},
                                   {"embed", "pairs.tsv", {{"scale", 7}, {"pooling", "max"}}},
                                   {"embed", "scores.tsv", {{"score_range", 6}}}};
  std::set<std::string> seen;
  for (const Case& each : cases) {
    SCOPED_TRACE(each.task + " " + each.file + " " + each.model.dump());
    seen.insert(each.task);
    std::filesystem::remove_all(folder_.path() / "run");
    const TrainConfig run = config({{"task", each.task},
                                    {"seed", 7},
                                    {"epochs", 1},
                                    {"model", each.model},
                                    {"tokenizer", {{"from", path("model")}}},
                                    {"data",
                                     {{"train", path(each.file)},
                                      {"dev", path(each.file)},
                                      {"test", path("other_" + each.file)},
                                      {"label_separator", each.separator ? std::string(1, each.separator) : ""}}},
                                    {each.task, each.options},
                                    {"batch", {{"tokens", 100}}},
                                    {"optimizer", {{"learning_rate", 3e-3}}}});
    TrainEvents silent;
    EXPECT_EQ(Trainer(run, silent).run(), TrainEnd::finished);
    const LoadedModel model = load(path("run"));
    ASSERT_EQ(default_task(model), find_task(each.task));
    const Json results = parse_json(read_file(path("run/results.json"), 1 << 20), "results.json");
    for (const auto& [split, file] : {std::pair("dev", each.file), std::pair("test", "other_" + each.file)}) {
      EvaluationRun evaluation(model, task_named(each.task), Json::object(),
                               {{.file = path(file), .label_separator = each.separator}});
      const auto metrics = evaluation.evaluate().metrics;
      EXPECT_GE(metrics.size(), 2u);
      for (const auto& [name, value] : metrics) EXPECT_EQ(results.at(split).at(name).get<double>(), value) << name;
      std::set<std::string> given, named = metric_names(run, model);
      for (const auto& [name, value] : metrics) given.insert(name);
      named.insert("loss");
      EXPECT_EQ(given, named);
    }
    EXPECT_NE(results.at("dev").at("loss"), results.at("test").at("loss"));
  }
  for (const Task* task : tasks()) EXPECT_TRUE(!task->trains() || seen.contains(task->name)) << task->name;
}

TEST_F(TaskTest, SeveralLabelsAndNumbers) {
  std::string labels = "text\tlabel\n", numbers = "text\tscore\n";
  for (int i = 0; i < 60; ++i) {
    const std::string a = i % 2 ? "fox" : "bee", b = i % 3 ? "dog" : "cow";
    labels += a + " in " + b + "\t" + (i % 2 ? "fox" : "") + (i % 2 && i % 3 ? "," : "") + (i % 3 ? "dog" : "") + "\n";
    numbers += a + " in " + b + "\t" + std::to_string(i % 2 + 2 * (i % 3 > 0)) + "\n";
  }
  folder_.write("labels.tsv", labels);
  folder_.write("numbers.tsv", numbers);
  const Json common = {
      {"task", "classify"}, {"epochs", 10}, {"batch", {{"tokens", 60}}}, {"optimizer", {{"learning_rate", 3e-3}}}};
  Json several = common, number = common;
  several["classify"] = {{"kind", "several"}};
  several["data"] = {{"train", path("labels.tsv")}, {"dev", path("labels.tsv")}, {"label_separator", ","}};
  EXPECT_GT(train(config(several)).at("f1_micro"), 0.98);
  std::filesystem::remove_all(folder_.path() / "run");
  number["classify"] = {{"kind", "number"}};
  number["data"] = {{"train", path("numbers.tsv")}, {"dev", path("numbers.tsv")}};
  EXPECT_GT(train(config(number)).at("spearman"), 0.9);
}

TEST_F(TaskTest, TwoHeadsShareOneBackbone) {
  std::string rows;
  for (int i = 0; i < 60; ++i) {
    const std::string animal = i % 2 ? "fox" : "dog";
    rows += Json({{"text", "the " + animal + " jumps"},
                  {"intent", animal},
                  {"words", {"the", animal, "jumps"}},
                  {"tags", {"O", "B-A", "O"}}})
                .dump() +
            "\n";
  }
  folder_.write("train.jsonl", rows);
  const TrainConfig both =
      config({{"task", "classify"},
              {"data", {{"train", path("train.jsonl")}, {"dev", path("train.jsonl")}, {"label", "intent"}}},
              {"heads", {{{"name", "slots"}, {"task", "tag"}, {"label", "tags"}, {"weight", 0.5}}}},
              {"batch", {{"tokens", 60}}},
              {"epochs", 5},
              {"optimizer", {{"learning_rate", 5e-3}}}});
  EXPECT_GT(train(both).at("accuracy"), 0.98);
  const Json results = parse_json(read_file(path("run/results.json"), 1 << 20), "results.json");
  EXPECT_GT(results.at("dev").at("slots").at("f1").get<double>(), 0.98);
  const auto intents = load(path("run")), slots = load(path("run/slots"));
  EXPECT_EQ(classify(intents, {"the fox jumps"})[0][0].label, "fox");
  const auto entities = tag(slots, {"the fox jumps"});
  ASSERT_EQ(entities[0].size(), 1u);
  EXPECT_EQ(entities[0][0].word, "fox");
  // The folder of a further head is scored as training scored it too.
  ASSERT_EQ(default_task(slots), find_task("tag"));
  EvaluationRun evaluation(slots, task_named("tag"), Json::object(),
                           {{.file = path("train.jsonl"), .columns = {.label = "tags"}}});
  for (const auto& [name, value] : evaluation.evaluate().metrics) {
    EXPECT_EQ(results.at("dev").at("slots").at(name).get<double>(), value) << name;
  }
}

TEST_F(TaskTest, FromNothingWithATokenizerOfItsOwn) {
  std::string lines;
  for (int i = 0; i < 80; ++i) lines += i % 2 ? "the fox jumps over the dog\n" : "a bee in the house of the cow\n";
  folder_.write("train.txt", lines);
  Json fields = {{"task", "mlm"},
                 {"model",
                  {{"from", ""},
                   {"architecture",
                    {{"model_type", "bert"},
                     {"hidden_size", 32},
                     {"num_hidden_layers", 1},
                     {"num_attention_heads", 2},
                     {"intermediate_size", 64},
                     {"max_position_embeddings", 32}}}}},
                 {"tokenizer", {{"train", "wordpiece"}, {"vocab_size", 120}}},
                 {"data", {{"train", path("train.txt")}, {"dev", path("train.txt")}}},
                 {"epochs", 20},
                 {"batch", {{"tokens", 200}}},
                 {"optimizer", {{"learning_rate", 1e-2}}}};
  EXPECT_LT(train(config(fields)).at("perplexity"), 8);
  const auto filled = fill_mask(load(path("run")), {"the [MASK] jumps over the dog"});
  EXPECT_EQ(filled[0].masks[0].size(), 5u);
}

}  // namespace
}  // namespace heed
