// The table of tasks: a task is a file and a line of registry.cpp. Verbs, configs, help and routes walk it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/tasks/task.h"

namespace heed {

// The table, and what tests and users add to it before they use it.
std::span<const Task* const> tasks();
void add_task(const Task& task);               // must outlive all use
const Task* find_task(std::string_view name);  // by name or verb; null if there is none
// Throws invalid_argument with the known names.
const Task& task_named(std::string_view name);

// Names of those that can be trained and scored.
std::vector<std::string> trainable_tasks();
// "embed, similarity": the verbs of what can be asked of this model.
std::string supported_verbs(const Model& model);
// Of models with this head; null if there is none.
const Task* usual_task(const Model& model);

}  // namespace heed
