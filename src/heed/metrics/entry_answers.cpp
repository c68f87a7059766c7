// Answers to questions in the table of metrics: predictions {"id": "answer"} against a file as SQuAD has it.
#include <map>

#include "heed/base/error.h"
#include "heed/metrics/answers.h"
#include "heed/metrics/evaluation.h"
#include "heed/metrics/registry.h"

namespace heed {
namespace {

struct Options {
  std::int64_t digits = 3;
  Fields fields() {
    return {Field("digits", digits, "digits after the point of the numbers printed")
                .where([this] { return digits >= 0 && digits <= 12; }, "0 to 12")};
  }
};

struct Question {
  std::string id{};
  std::vector<std::string> answers{};
};

const Json& list_of(const Json& object, const std::string& key, const std::string& where) {
  const Json* value = detail::json_find(object, key, where);
  HEED_CHECK_AS(bad_format, value && value->is_array(), where, ": ", key, " is ",
                value ? detail::json_kind(*value) : std::string("missing"), ", expected a list");
  return *value;
}

std::vector<Question> questions_of(const MetricFile& file) {
  std::vector<Question> questions;
  const Json document = json_of(file);
  for (const Json& article : list_of(document, "data", file.name)) {
    for (const Json& paragraph : list_of(article, "paragraphs", file.name + ": data")) {
      for (const Json& each : list_of(paragraph, "qas", file.name + ": paragraphs")) {
        const std::string where = file.name + ": question " + std::to_string(questions.size() + 1);
        Question& question = questions.emplace_back();
        question.id = json_required<std::string>(each, "id", where);
        if (json_optional<bool>(each, "is_impossible", false, where)) continue;
        for (const Json& answer : list_of(each, "answers", where)) {
          question.answers.push_back(json_required<std::string>(answer, "text", where));
        }
      }
    }
  }
  HEED_CHECK_AS(bad_format, !questions.empty(), file.name, ": has no questions");
  return questions;
}

struct Answered {
  std::vector<std::string> found{};
  std::vector<std::vector<std::string>> right{};
  std::size_t questions = 0;  // with those that have no prediction
};

Answered answered(const MetricFiles& files) {
  const MetricFile& file = files.predictions[0];
  const Json predictions = json_of(file);
  HEED_CHECK_AS(bad_format, predictions.is_object(), file.name, ": is ", detail::json_kind(predictions),
                ", expected an object of answers by the ids of questions");
  Answered result;
  for (const Question& question : questions_of(files.references[0])) {
    ++result.questions;
    if (!predictions.contains(question.id)) continue;
    result.found.push_back(json_required<std::string>(predictions, question.id, file.name));
    result.right.push_back(question.answers);
  }
  HEED_CHECK_AS(bad_format, !result.found.empty(), file.name, ": answers none of the ", result.questions,
                " questions of ", files.references[0].name);
  return result;
}

MetricResult result_of(const std::map<std::string, double>& metrics, const std::map<std::string, std::size_t>& counts,
                       const Options& options) {
  const Evaluation evaluation{.metrics = metrics};
  MetricResult result{.json = to_json(evaluation), .text = text_of(evaluation, static_cast<int>(options.digits))};
  for (const auto& [name, count] : counts) {
    result.json[name] = count;
    result.text += name + " " + std::to_string(count) + "\n";
  }
  return result;
}

// As evaluate-v2.0.py: in percent, questions without a prediction left out.
MetricResult run_squad(const MetricFiles& files, const Json& given) {
  const Answered all = answered(files);
  const AnswerReport report = answer_report(all.found, all.right);
  std::map<std::string, double> metrics = {{"exact", 100 * report.exact}, {"f1", 100 * report.f1}};
  std::map<std::string, std::size_t> counts = {{"total", report.questions},
                                               {"missing", all.questions - report.questions}};
  if (report.without_answer < report.questions) {
    metrics.insert({{"HasAns_exact", 100 * report.answerable.exact}, {"HasAns_f1", 100 * report.answerable.f1}});
    counts["HasAns_total"] = report.questions - report.without_answer;
  }
  if (report.without_answer > 0) {
    metrics.insert({{"NoAns_exact", 100 * report.unanswerable.exact}, {"NoAns_f1", 100 * report.unanswerable.f1}});
    counts["NoAns_total"] = report.without_answer;
  }
  return result_of(metrics, counts, options_from<Options>(given));
}

// As cmrc2018_evaluate.py: in percent, questions without a prediction count as wrong.
MetricResult run_cmrc2018(const MetricFiles& files, const Json& given) {
  const Answered all = answered(files);
  const AnswerReport report = answer_report(all.found, all.right, AnswerRule::characters);
  const double share = 100 * static_cast<double>(report.questions) / static_cast<double>(all.questions);
  const double exact = report.exact * share, f1 = report.f1 * share;
  return result_of({{"EM", exact}, {"F1", f1}, {"AVERAGE", (exact + f1) / 2}},
                   {{"TOTAL", all.questions}, {"SKIP", all.questions - report.questions}},
                   options_from<Options>(given));
}

Metric entry(std::string name, std::string summary, MetricResult (*run)(const MetricFiles&, const Json&)) {
  std::string example = "heed metrics " + name + " --predictions answers.json --references dev.json";
  return {.name = std::move(name),
          .summary = std::move(summary),
          .predictions = "a JSON object of answers by the ids of questions",
          .references = "JSON as SQuAD has it",
          .example = std::move(example),
          .options = option_list<Options>(),
          .run = run};
}

}  // namespace

const Metric& squad_metric() {
  static const Metric metric =
      entry("squad", "exact match and F1 of answers to questions, as SQuAD 2.0's script computes them", run_squad);
  return metric;
}

const Metric& cmrc2018_metric() {
  static const Metric metric =
      entry("cmrc2018", "the same of Chinese answers, as cmrc2018's script computes them", run_cmrc2018);
  return metric;
}

}  // namespace heed
