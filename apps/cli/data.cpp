// heed data: makes data to try things with, and looks at data before it is used.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "answer_file.h"
#include "data_options.h"
#include "heed/base/file.h"
#include "heed/base/join.h"
#include "heed/base/utf8.h"
#include "heed/data/data_check.h"
#include "heed/engine/load.h"
#include "heed/tasks/word_places.h"
#include "heed/train/head_plan.h"
#include "notes.h"
#include "progress.h"
#include "support_data.h"
#include "verbs.h"

namespace heed::cli {
namespace {

constexpr int kNotClean = 1;  // the exit code; errors have others
constexpr std::size_t kBarWidth = 40, kLabelsShown = 30, kLengthRows = 12;

std::string bar(std::size_t count, std::size_t most) {
  std::string blocks;
  const double share = most == 0 ? 0 : static_cast<double>(count) / static_cast<double>(most);
  const auto eighths = static_cast<std::size_t>(std::lround(share * kBarWidth * 8));
  for (std::size_t i = 0; i < eighths / 8; ++i) blocks += "█";
  constexpr const char* kParts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  return blocks + kParts[eighths % 8];
}

void print_labels(const FileCheck& file) {
  std::vector<std::pair<std::string, std::size_t>> labels(file.labels.begin(), file.labels.end());
  std::ranges::stable_sort(labels, std::greater(), &std::pair<std::string, std::size_t>::second);
  if (labels.empty()) return;
  fmt::print("  {} labels\n", labels.size());
  std::size_t width = 0;
  for (std::size_t i = 0; i < std::min(labels.size(), kLabelsShown); ++i) {
    width = std::max(width, utf8_length(labels[i].first));
  }
  for (std::size_t i = 0; i < std::min(labels.size(), kLabelsShown); ++i) {
    const auto& [label, count] = labels[i];
    fmt::print("    {}{} {:>8}  {}\n", label, std::string(width - utf8_length(label), ' '), count,
               bar(count, labels[0].second));
  }
  if (labels.size() > kLabelsShown) fmt::print("    ... and {} rarer ones\n", labels.size() - kLabelsShown);
}

void print_lengths(const FileCheck& file, const std::string& unit, std::size_t max_length) {
  if (file.rows == 0) return;
  const std::size_t longest = file.length_quantile(1), step = longest / kLengthRows + 1;
  fmt::print("  {} per row: mean {:.1f}, median {}, 99 % have at most {}, longest {}\n", unit, file.mean_length(),
             file.length_quantile(0.5), file.length_quantile(0.99), longest);
  std::vector<std::size_t> counts(longest / step + 1);
  for (const auto& [length, count] : file.lengths) counts[length / step] += count;
  const std::size_t most = std::ranges::max(counts);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    fmt::print("    {:>6} - {:<6} {:>8}  {}\n", i * step, (i + 1) * step - 1, counts[i], bar(counts[i], most));
  }
  if (max_length > 0) fmt::print("  longer than the model's {} tokens: {}\n", max_length, file.too_long);
}

void print_findings(const std::string& what, std::size_t count, const std::vector<std::string>& examples) {
  if (count == 0) return;
  fmt::print("  {}: {}\n", what, count);
  for (const std::string& example : examples) fmt::print("    {}\n", example);
}

void print_check(const DataCheck& check, const std::string& unit, std::size_t max_length) {
  for (const FileCheck& file : check.files) {
    fmt::print("{}: {} rows\n", file.file, file.rows);
    print_labels(file);
    print_lengths(file, unit, max_length);
    print_findings("malformed rows", file.bad_rows.count, file.bad_rows.messages);
    print_findings("rows without text", file.empty.count, file.empty.examples);
    print_findings("duplicates", file.duplicates.count, file.duplicates.examples);
    print_findings("duplicates with other labels", file.contradictions.count, file.contradictions.examples);
    print_findings("labels that the first file does not have", file.new_labels.size(), file.new_labels);
    fmt::print("\n");
  }
  if (check.one_label) {
    fmt::print("{} has a single label, {}: there is nothing to tell apart\n", check.files[0].file,
               check.files[0].labels.begin()->first);
  }
  for (const SharedRows& shared : check.shared) {
    fmt::print("{} has rows of {}\n", shared.file, shared.earlier);
    print_findings("rows", shared.rows.count, shared.rows.examples);
  }
}

// "2 malformed rows, 1 row without text": why DataCheck::clean() is false.
std::string faults_of(const DataCheck& check) {
  std::size_t malformed = 0, empty = 0, contradictory = 0, shared = 0;
  for (const FileCheck& file : check.files) {
    malformed += file.bad_rows.count;
    empty += file.empty.count;
    contradictory += file.contradictions.count;
  }
  for (const SharedRows& each : check.shared) shared += each.rows.count;
  std::vector<std::string> list;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) list.push_back(fmt::format("{} {}", count, what));
  };
  add(malformed, "malformed");
  add(empty, "without text");
  add(contradictory, "with labels that contradict each other");
  add(shared, "in two files");
  if (check.one_label) list.emplace_back("a single label");
  return join(list, ", ");
}

struct CheckOptions : DataOptions {
  std::vector<std::string> files;
  std::string model, json;
};

// Whether the file is a config of `heed train` and not data.
bool is_train_config(const std::string& file) {
  constexpr std::uintmax_t kMostBytes = 1 << 20;
  std::error_code absent;
  const std::uintmax_t size = std::filesystem::file_size(file, absent);
  if (!file.ends_with(".json") || absent || size > kMostBytes) return false;
  return read_file(file, kMostBytes).find("\"task\"") != std::string::npos;
}

struct ToCheck {
  std::vector<DataSource> sources{};
  std::string model{};
  std::size_t max_tokens = 0;  // 0: the model's
  bool learns_labels = true;
};

ToCheck files_of_config(const std::string& file) {
  const TrainConfig config = read_train_config(file);
  ToCheck all{.model = config.model.from, .max_tokens = static_cast<std::size_t>(config.model.max_tokens)};
  const HeadPlan plan = head_plans(config)[0];
  all.learns_labels =
      plan.task->head == HeadKind::sequence_classification || plan.task->head == HeadKind::token_classification;
  for (const auto* files : {&config.data.train, &config.data.dev, &config.data.test}) {
    for (const auto& heads : data_sources(config, {plan}, *files)) all.sources.push_back(heads[0]);
  }
  return all;
}

int check(const CheckOptions& options) {
  ToCheck all{.model = options.model};
  if (options.files.size() == 1 && is_train_config(options.files[0])) {
    all = files_of_config(options.files[0]);
  } else {
    for (const std::string& file : options.files) all.sources.push_back(options.source_of(file));
  }
  DataCheckOptions checks{.learns_labels = all.learns_labels};
  std::optional<LoadedModel> model;
  if (!all.model.empty()) {
    model = load(all.model);
    checks.max_length = all.max_tokens > 0 ? all.max_tokens : model->max_tokens();
    checks.length = [&model](const Row& row) {
      const std::string text = row.words.empty() ? row.text : join_words(row.words);
      const text::Tokenizer& tokenizer = model->tokenizer();
      return row.pair ? tokenizer.encode(text, *row.pair).size() : tokenizer.encode(text).size();
    };
  }
  DataCheck found;
  {
    ShareProgress progress("reading ");
    checks.progress = [&](double share) { progress.show(share); };
    found = check_data(all.sources, checks);
  }
  print_check(found, model ? "tokens" : "words", checks.max_length);
  if (!options.json.empty()) replace_file(options.json, to_json(found).dump(1) + "\n");
  if (found.clean()) return 0;
  fmt::print(stderr, "heed: the data is not clean: {}\n", faults_of(found));
  return kNotClean;
}

void add_check(CLI::App& data, int& result) {
  CLI::App* verb =
      data.add_subcommand("check", "check data files: labels, lengths, malformed rows, duplicates, rows in two files");
  const auto options = std::make_shared<CheckOptions>();
  verb->add_option("FILE", options->files, "files to check, training data first; or the config of a training run")
      ->required();
  add_data_options(*verb, *options);
  verb->add_option("--model", options->model,
                   "count the tokens of this model (a folder, or owner/name) instead of words");
  verb->add_option("--json", options->json, "file to write the findings to, as JSON");
  verb->footer(
      "Exit code 1 if there are malformed rows, rows without text, contradictions, rows in two files or "
      "a single label.\n"
      "heed data check train.csv test.csv --label category --model all-MiniLM-L6-v2\nheed data check my_config.json");
  verb->callback([options, &result] { result = check(*options); });
}

void add_make_support(CLI::App& make, int& result) {
  CLI::App* verb = make.add_subcommand(
      "support",
      "write messages to a shop's support: 16 intents, 8 kinds of slots, train.jsonl, dev.jsonl and test.jsonl");
  struct Options {
    std::string output;
    std::uint64_t seed = 1;
    std::size_t size = 6000;
    bool overwrite = false;
  };
  const auto options = std::make_shared<Options>();
  verb->add_option("--output", options->output, "folder for the files")->required();
  verb->add_option("--seed", options->seed, "seed of the random choices: another seed, other messages")
      ->capture_default_str();
  verb->add_option("--size", options->size, "number of messages in all; dev and test get a tenth each")
      ->capture_default_str();
  verb->add_flag("--overwrite", options->overwrite, "replace files that are there already");
  verb->callback([options, &result] {
    for (const char* name : kSupportFiles) {
      check_replaces(std::filesystem::path(options->output) / name, options->overwrite);
    }
    write_support_data(make_support_data(options->seed, options->size), options->output);
    note(options->output + ": train.jsonl, dev.jsonl, test.jsonl");
    result = 0;
  });
}

}  // namespace

void add_data(CLI::App& app, int& result) {
  CLI::App* data = app.add_subcommand("data", "make and check training data");
  data->require_subcommand(1);
  add_check(*data, result);
  CLI::App* make = data->add_subcommand("make", "make data to try things with");
  make->require_subcommand(1);
  add_make_support(*make, result);
}

}  // namespace heed::cli
