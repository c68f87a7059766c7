// heed eval: a model folder against a file of right answers.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "data_options.h"
#include "eval_tasks.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/train/task.h"
#include "progress.h"
#include "verbs.h"

namespace heed::cli {
namespace {

// Enough for full batches of like lengths.
constexpr std::size_t kPortion = 512;

struct Options : DataOptions {
  std::string model, data, task, output, scheme = "conll", answers = "words";
  int threads = 0;
  EvalOptions eval;
};

std::string lines_of(const std::map<std::string, double>& metrics, int digits) {
  std::size_t width = 0;
  for (const auto& [name, value] : metrics) width = std::max(width, name.size());
  std::string lines;
  for (const auto& [name, value] : metrics) lines += fmt::format("{:<{}} {:.{}f}\n", name, width, value, digits);
  return lines;
}

int evaluate(Options options) {
  std::optional<ThreadLimit> limit;
  if (options.threads > 0) limit.emplace(options.threads);
  options.eval.scheme = tag_scheme_named(options.scheme);
  options.eval.answers = options.answers == "words" ? AnswerRule::words : AnswerRule::characters;
  const TextPipeline model = load(options.model);
  const std::string task = options.task.empty() ? usual_task(model.model()) : options.task;
  const auto eval = make_eval(task, model.model(), options.eval);
  DataSource source = options.source_of(options.data);
  if (source.needs.empty()) source.needs = needs_of(task);
  const auto reader = open_reader(source);

  std::size_t rows = 0;
  {
    ShareProgress progress(options.data + " ");
    std::vector<Row> portion;
    for (bool more = true; more;) {
      Row row;
      more = reader->next(row);
      if (more) portion.push_back(std::move(row));
      if (portion.empty() || (more && portion.size() < kPortion)) continue;
      eval->add(model, portion);
      rows += portion.size();
      portion.clear();
      progress.show(static_cast<double>(reader->position()) / static_cast<double>(reader->end()));
    }
  }
  HEED_CHECK_AS(bad_format, rows > 0, options.data, ": has no rows");
  const Evaluation evaluation = eval->result();
  fmt::print("{}", evaluation.report.empty() ? lines_of(evaluation.metrics, options.eval.digits) : evaluation.report);
  if (const std::size_t bad = reader->bad_rows().count) fmt::print("{} malformed rows were passed over\n", bad);
  if (!options.output.empty()) {
    const Json result = {{"task", task},
                         {"model", options.model},
                         {"data", options.data},
                         {"rows", rows},
                         {"bad_rows", reader->bad_rows().count},
                         {"metrics", to_json(evaluation)}};
    replace_file(options.output, result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  return 0;
}

}  // namespace

void add_eval(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("eval", "how well a model does on a file of right answers");
  const auto options = std::make_shared<Options>();
  verb->add_option("--model", options->model, "folder of a HuggingFace model")->required();
  verb->add_option("--data", options->data, "file of right answers (docs/data.md)")->required();
  verb->add_option("--task", options->task, "classify, tag, answer, embed or mlm; default: by the model's head")
      ->check(CLI::IsMember({"classify", "tag", "answer", "embed", "mlm"}));
  add_data_options(*verb, *options);
  verb->add_option("--max-bad-rows", options->source.max_bad_rows, "malformed rows to pass over")
      ->capture_default_str();
  verb->add_option("--scheme", options->scheme,
                   "tag: conll (lenient), or strictly iob1, iob2, ioe1, ioe2, iobes or bilou")
      ->capture_default_str();
  verb->add_option("--answers", options->answers, "answer: compare words (SQuAD) or characters (Chinese, cmrc2018)")
      ->check(CLI::IsMember({"words", "characters"}))
      ->capture_default_str();
  verb->add_flag("--null", options->eval.null_answer, "answer: there may be none");
  verb->add_option("--digits", options->eval.digits, "of the numbers printed")
      ->check(CLI::Range(1, 12))
      ->capture_default_str();
  verb->add_option("--output", options->output, "file for the metrics as JSON");
  verb->add_option("--threads", options->threads, "default: what this machine has")->check(CLI::Range(1, 1024));
  verb->footer("heed eval --model all-MiniLM-L6-v2 --data sts.csv --no-header --pair 1 --score 2");
  verb->callback([options, &result] { result = evaluate(*options); });
}

}  // namespace heed::cli
