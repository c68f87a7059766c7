// The table of tasks: one line each.
#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/join.h"
#include "heed/tasks/answer.h"
#include "heed/tasks/classify.h"
#include "heed/tasks/embed.h"
#include "heed/tasks/fill_mask.h"
#include "heed/tasks/generate.h"
#include "heed/tasks/lm.h"
#include "heed/tasks/rerank.h"
#include "heed/tasks/similarity.h"
#include "heed/tasks/tag.h"
#include "heed/tasks/task.h"
#include "heed/tasks/zero_shot.h"

namespace heed {
namespace {

// "id, comment": what a request has, for error messages.
std::string names_of(const Json& request) {
  return request.empty() ? "nothing" : join(request.items(), ", ", [](const auto& item) { return item.key(); });
}

std::vector<const Task*>& table() {
  static std::vector<const Task*> list = {&classify_task(), &tag_task(),    &mlm_task(),        &answer_task(),
                                          &embed_task(),    &rerank_task(), &similarity_task(), &zero_shot_task(),
                                          &generate_task(), &lm_task()};
  return list;
}

}  // namespace

std::span<const Task* const> tasks() {
  return table();
}

void add_task(const Task& task) {
  HEED_CHECK(!find_task(task.name) && !find_task(task.verb), "[add_task] ", task.name, " is there already");
  table().push_back(&task);
}

const Task* find_task(std::string_view name) {
  const auto found =
      std::ranges::find_if(table(), [&](const Task* task) { return task->name == name || task->verb == name; });
  return found == table().end() ? nullptr : *found;
}

const Task& task_named(std::string_view name) {
  const Task* task = find_task(name);
  HEED_CHECK(task, "there is no task \"", name, "\"; there are ", join(table(), ", ", &Task::name));
  return *task;
}

std::string trainable_tasks() {
  std::vector<std::string> names;
  for (const Task* task : table()) {
    if (task->trains()) names.push_back(task->name);
  }
  return join(names, ", ");
}

std::string supported_verbs(const Model& model) {
  std::vector<std::string> verbs;
  for (const Task* task : table()) {
    if (task->supports(model)) verbs.push_back(task->verb);
  }
  return join(verbs, ", ");
}

const Task* usual_task(const Model& model) {
  const auto made_for = [&](const Task* task) { return task->trains() && task->head == model.head(); };
  if (const auto found = std::ranges::find_if(table(), made_for); found != table().end()) return *found;
  const auto works = [&](const Task* task) { return task->trains() && task->supports(model); };
  const auto found = std::ranges::find_if(table(), works);
  return found == table().end() ? nullptr : *found;
}

Row request_row(const Task& task, const Json& request, const std::string& where) {
  Row row{.file = where};
  bool any = false, has_text = false;
  for (const RequestField& field : task.request) {
    const Json* given = detail::json_find(request, field.name, where);
    if (!given || given->is_null()) {
      HEED_CHECK_AS(bad_format, field.optional, where, ": ", field.name, " is missing (", field.help, "); there is ",
                    names_of(request));
      continue;
    }
    any = true;
    const auto text = [&] { return json_as<std::string>(*given, field.name, where); };
    const auto list = [&] {
      return given->is_string() ? std::vector{text()} : json_as<std::vector<std::string>>(*given, field.name, where);
    };
    switch (field.row) {
      case RowField::text: {
        // A second text follows the first one.
        HEED_CHECK_AS(bad_format, !has_text || !row.pair, where, ": has too many texts, ", names_of(request),
                      "; leave one out");
        std::string& place = has_text ? row.pair.emplace() : row.text;
        place = text();
        has_text = true;
        break;
      }
      case RowField::pair: row.pair = text(); break;
      case RowField::texts: row.texts = list(); break;
      case RowField::words: row.words = list(); break;
      case RowField::messages: row.messages = given->dump(); break;
      default: fail(ErrorKind::internal, "[", task.name, "] requests have no ", field.name);
    }
  }
  HEED_CHECK_AS(bad_format, any, where, ": ", task.request.back().name, " is missing (", task.request.back().help,
                "); there is ", names_of(request));
  return row;
}

}  // namespace heed
