#include "heed/tasks/summarize.h"

#include "heed/tasks/extract_summary.h"
#include "heed/tasks/run_task.h"

namespace heed {
namespace {

std::unique_ptr<TaskRun> make_summarize(const TaskSetup& setup, const Json& options) {
  return make_extract_run(setup, options_from<SummarizeOptions>(options));
}

}  // namespace

Fields SummarizeOptions::fields() {
  Fields list;
  list.push_back(Field("method", method,
                       "which sentences: central (those most like the others, not like each other) or lead (the first)")
                     .one_of({"central", "lead"}));
  list.push_back(Field("sentences", sentences, "how many sentences; default: 3").at_least(1));
  list.push_back(Field("share", share, "how many as a share of the document's sentences, instead")
                     .where([this] { return !share || (*share > 0 && *share <= 1); }, "above 0 and at most 1"));
  return list;
}

std::vector<Summary> summarize(const LoadedModel& model, const std::vector<std::string>& documents,
                               const SummarizeOptions& options) {
  model.require(summarize_task());
  std::vector<Row> rows;
  for (const std::string& document : documents) rows.push_back({.text = document});
  const auto run = make_extract_run(model.setup(), options);
  return results_of(run_task(model, *run, std::move(rows)), &ExtractedSummary::summary);
}

const Task& summarize_task() {
  static const Task task{
      .name = "summarize",
      .verb = "summarize",
      .summary =
          "summarise documents by sentences of theirs: {\"summary\", \"sentences\": [{\"text\", \"start\", \"end\", "
          "\"score\"}, ...]} per line",
      .example = "heed summarize --model all-MiniLM-L6-v2 --sentences 2 --input documents.jsonl",
      .request = {{.name = "text", .row = RowField::text, .help = "documents to summarise"}},
      .supports = [](const Model& model) { return model.backbone()->encodes() != nullptr; },
      .options = option_list<SummarizeOptions>(),
      .make = make_summarize};
  return task;
}

}  // namespace heed
