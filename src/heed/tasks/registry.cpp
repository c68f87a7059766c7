#include "heed/tasks/registry.h"

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
#include "heed/tasks/summarize.h"
#include "heed/tasks/tag.h"
#include "heed/tasks/translate.h"
#include "heed/tasks/zero_shot.h"

namespace heed {
namespace {

std::vector<const Task*>& table() {
  static std::vector<const Task*> list = {&classify_task(), &tag_task(),    &mlm_task(),        &answer_task(),
                                          &embed_task(),    &rerank_task(), &similarity_task(), &zero_shot_task(),
                                          &generate_task(), &lm_task(),     &translate_task(),  &summarize_task()};
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

std::vector<std::string> trainable_tasks() {
  std::vector<std::string> names;
  for (const Task* task : table()) {
    if (task->trains()) names.push_back(task->name);
  }
  return names;
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

}  // namespace heed
