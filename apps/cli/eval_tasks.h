// What heed eval computes, a class a task: rows in, metrics out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/data/readers.h"
#include "heed/engine/load.h"
#include "heed/tasks/evaluation.h"

namespace heed::cli {

struct EvalOptions {
  int digits = 4;
  TagScheme scheme = TagScheme::conll;
  AnswerRule answers = AnswerRule::words;
  bool null_answer = false;
};

class TaskEval {
 public:
  virtual ~TaskEval() = default;
  virtual void add(const TextPipeline& model, const std::vector<Row>& rows) = 0;
  virtual Evaluation result() const = 0;
};

// classify, tag, answer, embed or mlm: by the model's head.
std::string usual_task(const TextModel& model);
std::unique_ptr<TaskEval> make_eval(const std::string& task, const TextModel& model, const EvalOptions& options);

}  // namespace heed::cli
