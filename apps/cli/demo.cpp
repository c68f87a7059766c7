// heed demo: an encoder learns from scratch what customers of a shop want, and which words say so. Everything happens
// in a folder of its own: data, model, and a page that shows the attention.
#include <fmt/core.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <memory>

#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/base/utf8.h"
#include "heed/engine/load.h"
#include "heed/explain/page.h"
#include "heed/kernels/target.h"
#include "heed/tasks/tag.h"
#include "support_data.h"
#include "train_printer.h"
#include "verbs.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kMessages = 5000;

// The name itself, or with a number after it, so that nobody's files are touched.
fs::path fresh_folder(const std::string& name) {
  fs::path folder = name;
  for (int number = 2; fs::exists(folder); ++number) folder = name + "-" + std::to_string(number);
  make_folder(folder);
  return folder;
}

TrainConfig demo_config(const fs::path& folder, std::int64_t epochs) {
  const auto file = [&](const char* name) { return (folder / "data" / name).string(); };
  const Json config = {
      {"task", "classify"},
      {"output", (folder / "model").string()},
      {"model",
       {{"architecture",
         {{"model_type", "bert"},
          {"hidden_size", 128},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 4},
          {"intermediate_size", 512},
          {"max_position_embeddings", 64}}}}},
      {"tokenizer", {{"train", "wordpiece"}, {"vocab_size", 2000}}},
      {"data",
       {{"train", file("train.jsonl")}, {"dev", file("dev.jsonl")}, {"test", file("test.jsonl")}, {"label", "intent"}}},
      {"tag", {{"all_tokens", true}}},
      {"heads", {{{"name", "slots"}, {"task", "tag"}, {"label", "tags"}}}},
      {"epochs", epochs},
      {"batch", {{"tokens", 1024}}},
      {"optimizer", {{"learning_rate", 2e-3}}}};
  return parse_train_config(config.dump(), "the demo's config");
}

// The words of the text; those that did most for the score are underlined, or between stars where there is no terminal.
std::string marked(const Look& look) {
  const auto shares = sums_of_words(look.evidence->gradients.tokens, look.text.words);
  const double most = *std::ranges::max_element(shares);
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  std::string line;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (look.text.words[i].special) continue;
    const bool matters = shares[i] > 0 && 3 * shares[i] >= most;
    line += line.empty() ? "" : " ";
    line += !matters ? "" : terminal ? "\033[1;4m" : "*";
    line += look.text.words[i].text;
    line += !matters ? "" : terminal ? "\033[0m" : "*";
  }
  return line;
}

// Characters start to end of the text.
std::string characters(const std::string& text, std::int64_t start, std::int64_t end) {
  const auto first = Utf8View(text).begin();
  const std::size_t from = std::next(first, start)->offset, to = std::next(first, end)->offset;
  return text.substr(from, to - from);
}

void show(const LoadedModel& intents, const LoadedModel& slots, const SupportMessage& message) {
  const Look look = look_at(intents, message.text, {.maps = false, .labels = 1});
  const LabelScore& best = look.evidence->labels.front();
  fmt::print("  {}\n    {} ({:.0f} %){}\n", marked(look), best.label, 100 * static_cast<double>(best.score),
             best.label == message.intent ? "" : ", expected " + message.intent);
  const auto found = tag(slots, {message.text}, {.aggregation = "first"});
  for (const Entity& entity : found.front()) {
    fmt::print("    {}: {}\n", entity.label, characters(message.text, entity.start, entity.end));
  }
}

int demo(const std::string& output, std::int64_t epochs) {
  const fs::path folder = fresh_folder(output);
  const SupportData data = make_support_data(kSeed, kMessages);
  write_support_data(data, folder / "data");
  fmt::print(
      "{} messages to the support of a shop, made by a grammar. An encoder learns from scratch what each is about\n"
      "(one label) and which words are products, dates, amounts ... (one label per word); on {} threads, {}.\n\n",
      data.train.size(), current_threads(), kernels::target_name());
  TrainPrinter printer;
  Trainer(demo_config(folder, epochs), printer).run();

  const LoadedModel intents = load(folder / "model"), slots = load(folder / "model" / "slots");
  fmt::print("\nMessages that it has never seen, with the words that spoke for the intent marked:\n");
  for (std::size_t i = 0; i < 5; ++i) show(intents, slots, data.test[i * data.test.size() / 5]);
  const fs::path page = folder / "attention.html";
  write_page(look_at(intents, data.test[0].text), "the demo's model", page);
  const std::string heed = program_invocation_name, model = (folder / "model").string();
  fmt::print(
      "\nTry next:\n"
      "  open {page} in a browser: where the heads look\n"
      "  {heed} classify --model {model} \"my parcel is late\"\n"
      "  {heed} tag --model {model}/slots --aggregation first \"the kettle cost 30 euros\"\n"
      "  {heed} train --init classify: a config for data of your own\n",
      fmt::arg("page", page.string()), fmt::arg("heed", heed), fmt::arg("model", model));
  return 0;
}

}  // namespace

void add_demo(CLI::App& app, int& result) {
  CLI::App* verb =
      app.add_subcommand("demo", "train an encoder on built-in data, from scratch, and look inside (a minute)");
  struct Options {
    std::string output = "heed-demo";
    std::int64_t epochs = 8;
  };
  const auto options = std::make_shared<Options>();
  verb->add_option("--output", options->output, "folder for data, model and page")->capture_default_str();
  verb->add_option("--epochs", options->epochs, "number of passes over the data")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  verb->callback([options, &result] { result = demo(options->output, options->epochs); });
}

}  // namespace heed::cli
