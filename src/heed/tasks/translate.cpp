#include "heed/tasks/translate.h"

#include "heed/tasks/run_task.h"
#include "heed/tasks/text_to_text.h"

namespace heed {

std::vector<std::vector<Translation>> translate(const LoadedModel& model, const std::vector<std::string>& texts,
                                                std::string_view options) {
  std::vector<Row> rows;
  for (const std::string& text : texts) rows.push_back({.text = text});
  const auto task = make_task(model, translate_task(), parse_json(options, "options"));
  std::vector<std::vector<Translation>> translations;
  for (const auto& written : results_of(run_task(model, *task, std::move(rows)), &WrittenTarget::texts)) {
    auto& list = translations.emplace_back();
    for (const TargetText& each : written) list.push_back({each.text, each.score});
  }
  return translations;
}

const Task& translate_task() {
  static const Task task{
      .name = "translate",
      .verb = "translate",
      .summary = "translate texts; with --output {\"translation_text\", \"score\", \"alternatives\": [...]} per line",
      .example = "heed translate --model opus-mt-de-en \"Guten Morgen!\" --num-beams 4",
      .request = {{.name = "text", .row = RowField::text, .help = "texts to translate"}},
      .supports = writes_about_sources,
      .options = text_to_text_options(),
      .make = [](const TaskSetup& setup, const Json& options) -> std::unique_ptr<TaskRun> {
        return std::make_unique<TextToTextRun>(setup, options);
      },
      .rows = {RowField::text, RowField::pair},
      .sample_data = ".tsv",
      .head = HeadKind::seq2seq_lm,
      .writes = true,
      .keeps_blank_lines = true};
  return task;
}

}  // namespace heed
