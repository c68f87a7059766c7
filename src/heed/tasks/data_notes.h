// What people should know about data before it is used: texts that are cut, rows that are skipped, labels that a model
// cannot give.
#pragma once

#include "heed/tasks/dataset.h"

namespace heed {

// Sentences about an indexed data set, which they call `name`; labels are those that `known_by` ("training", "the
// model") knows. Throws bad_format for rows that cannot be scored, and if not a single label is known.
std::vector<std::string> data_notes(Dataset& data, const TaskList& tasks, const std::string& name,
                                    const std::string& known_by);

// "2 malformed rows of train are skipped; the first: ..."; "" if there are none.
std::string bad_rows_note(const BadRows& bad, const std::string& name);

}  // namespace heed
