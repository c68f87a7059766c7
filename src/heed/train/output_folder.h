// The folder of a run: what a new run may write over, and what it may not.
#pragma once

#include "heed/train/config.h"

namespace heed {

enum class RunStart { fresh, resume, overwrite };

// Makes config.output, and removes what an earlier run left there that would mislead this one. Throws invalid_argument
// for the folder that the run starts from, and, unless it is to be overwritten, for one that holds anything else than
// the beginning of a run; io for one that cannot be made.
void prepare_output(const TrainConfig& config, RunStart start);

// Whether there is anything of that name; what cannot be seen is not there.
bool is_there(const std::filesystem::path& path);
// The file, or the folder with all that is in it; nothing if there is none. Throws io.
void remove_left(const std::filesystem::path& path);

}  // namespace heed
