// One verb for each task of the table: heed classify, tag, embed ... Flags, help and the shape of requests are the
// task's own.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "answer_file.h"
#include "heed/base/error.h"
#include "heed/base/grouped.h"
#include "heed/base/join.h"
#include "heed/tasks/registry.h"
#include "heed/tasks/run_task.h"
#include "model_options.h"
#include "notes.h"
#include "option_flags.h"
#include "texts.h"
#include "verbs.h"

namespace heed::cli {
namespace {

struct Options : TextOptions {
  Json beside = Json::object();  // fields of requests that flags give
  Json task = Json::object();    // options of the task
};

// Splits a line at its tabs.
std::vector<std::string> parts_of(const std::string& line) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    parts.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The first field that a request must have beside the last one; null if there is none.
const RequestField* required_field(const Task& task) {
  for (std::size_t i = 0; i + 1 < task.request.size(); ++i) {
    if (!task.request[i].optional) return &task.request[i];
  }
  return nullptr;
}

// A line as a request: the fields of JSON, or the text; where a request has two parts, those before and after a tab.
Json request_of(const Task& task, const InputLine& line, const Json& beside) {
  Json request = beside;
  if (!line.fields.is_null()) {
    HEED_CHECK_AS(bad_format, line.fields.is_object(), line.where, ": is ", detail::json_kind(line.fields),
                  ", expected an object");
    request.update(line.carried);  // so that errors tell what there is
    request.update(line.fields);
    return request;
  }
  const RequestField& last = task.request.back();
  const RequestField* first = required_field(task);
  if (!first || (beside.contains(first->name) && !last.is_list())) {
    request[last.name] = line.text;
    return request;
  }
  const std::vector<std::string> parts = parts_of(line.text);
  HEED_CHECK_AS(bad_format, last.is_list() ? parts.size() > 1 : parts.size() == 2, line.where, ": has ",
                parts.size() - 1, " tabs, expected ", first->name, ", a tab and ", last.name);
  request[first->name] = parts[0];
  if (last.is_list()) {
    request[last.name] = std::vector(parts.begin() + 1, parts.end());
  } else {
    request[last.name] = parts[1];
  }
  return request;
}

// What was given on the command line: a request per text, or one with all of them.
std::vector<InputLine> given_requests(const Task& task, const Options& options) {
  if (options.texts.empty()) return {};
  const std::string where = "the command line";
  const RequestField* first = required_field(task);
  const RequestField& last = task.request.back();
  Json fields = options.beside;
  std::vector<std::string> texts = options.texts;
  if (first && first->first_text) {
    if (texts.size() < 2) throw CLI::RequiredError("a second TEXT");
    fields[first->name] = texts.front();
    texts.erase(texts.begin());
  } else if (first && !fields.contains(first->name)) {
    throw CLI::RequiredError(first->flag.empty() ? flag_of(first->name) : first->flag);
  }
  std::vector<InputLine> lines;
  if (last.is_list()) {
    fields[last.name] = texts;
    lines.push_back({.fields = fields, .where = where});
  } else {
    for (const std::string& text : texts) {
      fields[last.name] = text;
      lines.push_back({.fields = fields, .where = where});
    }
  }
  return lines;
}

std::string lines_help(const Task& task) {
  const RequestField* first = required_field(task);
  return first ? first->name + ", a tab and " + task.request.back().name : std::string("one text");
}

// Of several texts the last is the one that --text names, as in files of lines. A flag of the request's own, --pair,
// gives the second text of plain lines and the column of others.
std::vector<InputField> input_fields(const Task& task) {
  std::vector<InputField> fields;
  const auto is_text = [](const RequestField& field) { return field.row == RowField::text; };
  const auto last_text = std::ranges::find_if(task.request.rbegin(), task.request.rend(), is_text);
  for (const RequestField& field : task.request) {
    const bool text = last_text != task.request.rend() && &field == &*last_text;
    const bool pair = field.row == RowField::pair && field.flag.empty();
    fields.push_back({.name = field.name,
                      .flag = text   ? "--text"
                              : pair ? "--pair"
                                     : "",
                      .optional = field.optional,
                      .first = text});
  }
  return fields;
}

// Lines as rows of the task.
std::vector<Row> rows_of(const Task& task, const std::vector<InputLine>& lines, const Json& beside) {
  std::vector<Row> rows;
  rows.reserve(lines.size());
  for (const InputLine& line : lines) rows.push_back(request_row(task, request_of(task, line, beside), line.where));
  return rows;
}

// The answers to requests that are written at the same time, a line each, in the order of the requests. Of the first
// request that is not done the first answer comes piece by piece; of several, each is numbered and the others follow
// it. What later requests have by then waits.
class AnswerWriter {
 public:
  AnswerWriter(AnswerFile& out, std::size_t requests) : out_(out), requests_(requests) {}
  void add(const TextPiece& piece) {
    Request& request = requests_.at(piece.row);
    request.answers.resize(piece.answers);
    request.answers[piece.answer] += piece.text;
    if (piece.row == first_) write_piece(request);
  }
  void finish(std::size_t row) {
    for (requests_.at(row).done = true; first_ < requests_.size() && requests_[first_].done; ++first_) {
      Request& request = requests_[first_];
      write_piece(request);
      std::string rest = "\n";
      for (std::size_t i = 1; i < request.answers.size(); ++i) rest += label(i) + request.answers[i] + "\n";
      out_.write(rest);
      request = {};
    }
    if (first_ < requests_.size()) write_piece(requests_[first_]);
  }

 private:
  struct Request {
    std::vector<std::string> answers{};  // by their numbers, without what was written
    bool begun = false, done = false;
  };
  static std::string label(std::size_t answer) { return "[" + std::to_string(answer + 1) + "] "; }
  void write_piece(Request& request) {
    if (request.answers.empty()) return;
    if (!request.begun && request.answers.size() > 1) out_.write(label(0));
    request.begun = true;
    out_.write(request.answers[0]);
    request.answers[0].clear();
  }

  AnswerFile& out_;
  std::vector<Request> requests_;
  std::size_t first_ = 0;  // that is not written whole
};

void note_unfinished(std::size_t texts) {
  if (texts == 0) return;
  note(fmt::format("{} text{} ended before following the constraint; --max-new-tokens gives more room", grouped(texts),
                   texts == 1 ? "" : "s"));
}

// Texts for people.
void write_texts(const Task& task, const TaskRun& task_run, const LoadedModel& model, const Options& options,
                 const std::vector<InputLine>& given) {
  AnswerFile out("");
  std::size_t unfinished = 0;
  run_texts(options, given, [&](const std::vector<InputLine>& lines, const StopToken& stop, CutRows& cut) {
    AnswerWriter answers(out, lines.size());
    static_cast<void>(task_run.run(model, rows_of(task, lines, options.beside),
                                   {.stop = stop,
                                    .cut = &cut,
                                    .unfinished = &unfinished,
                                    .on_text = [&](const TextPiece& piece) { answers.add(piece); },
                                    .on_done = [&](std::size_t row) { answers.finish(row); }}));
    return std::vector<std::unique_ptr<Finding>>();  // nothing that is not written yet
  });
  note_unfinished(unfinished);
}

void run(const Task& task, Options options) {
  for (InputField& field : options.input.fields) {
    field.optional = field.optional || options.beside.contains(field.name);
  }
  const std::vector<InputLine> given = given_requests(task, options);
  if (options.input.files.empty() && given.empty()) throw CLI::RequiredError("TEXT or --input");
  const auto limit = limit_threads(options.threads);
  const LoadedModel model = load(options.model);
  const auto task_run = make_task(model, task, options.task);
  if (task.writes && options.output.empty()) return write_texts(task, *task_run, model, options, given);
  std::size_t unfinished = 0;
  const auto find = [&](const std::vector<InputLine>& lines, const StopToken& stop, CutRows& cut) {
    return task_run->run(model, rows_of(task, lines, options.beside),
                         {.stop = stop, .cut = &cut, .unfinished = &unfinished});
  };
  run_texts(options, given, find);
  note_unfinished(unfinished);
}

void add_task_verb(CLI::App& app, const Task& task, int& result) {
  CLI::App* verb = app.add_subcommand(task.verb, task.summary);
  const auto options = std::make_shared<Options>();
  options->input.fields = input_fields(task);
  options->input.keeps_blank = task.keeps_blank_lines;
  add_text_options(*verb, *options, task.request.back().help, lines_help(task));
  for (std::size_t i = 0; i + 1 < task.request.size(); ++i) {
    const RequestField& field = task.request[i];
    if (field.first_text || (field.is_list() && field.optional)) continue;
    const std::string flag = field.flag.empty() ? flag_of(field.name) : field.flag;
    if (field.is_list()) {
      verb->add_option_function<std::vector<std::string>>(
              flag,
              [options, name = field.name](const std::vector<std::string>& list) { options->beside[name] = list; },
              field.help)
          ->delimiter(',')
          ->allow_extra_args(false);
      continue;
    }
    const bool column = flag == "--pair";
    verb->add_option_function<std::string>(
        flag,
        [options, column, i](const std::string& text) {
          InputField& given = options->input.fields[i];
          options->beside[given.name] = text;
          if (column) given.column = text;
        },
        field.help + (column ? kPairColumnHelp : ""));
  }
  add_option_flags(*verb, task.options.list(), kForPredict, options->task);
  verb->footer(task.example);
  verb->callback([options, &task, &result] {
    run(task, *options);
    result = 0;
  });
}

}  // namespace

void add_tasks(CLI::App& app, int& result) {
  for (const Task* task : tasks()) add_task_verb(app, *task, result);
}

}  // namespace heed::cli
