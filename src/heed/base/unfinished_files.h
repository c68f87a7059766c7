// What a writer that was killed leaves behind.
#pragma once

#include <filesystem>

namespace heed {

// Removes the temporary files of AtomicFile (base/file.h) from the folder, so that killed runs do not fill the disk.
// Only for folders that nobody writes to at this moment. Files that cannot be removed stay.
void remove_unfinished_files(const std::filesystem::path& folder);

}  // namespace heed
