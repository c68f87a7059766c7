// The run of the task summarize that takes sentences out of the document.
#pragma once

#include <memory>

#include "heed/tasks/summarize.h"
#include "heed/tasks/task.h"

namespace heed {

class ExtractedSummary : public Finding {
 public:
  Json json() const override;
  Summary summary{};
};

// Its findings are ExtractedSummary.
std::unique_ptr<TaskRun> make_extract_run(const TaskSetup& setup, const SummarizeOptions& options);

}  // namespace heed
