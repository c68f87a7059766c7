// Rows of input that are those of a table, CSV or TSV.
#pragma once

#include "input_rows.h"
#include "line_stream.h"

namespace heed::cli {

// `quoted`: CSV.
std::unique_ptr<InputRows> table_of_file(const std::string& path, bool quoted, const InputFormat& format);
std::unique_ptr<InputRows> table_of_stream(std::unique_ptr<LineStream> stream, bool quoted, const InputFormat& format);

}  // namespace heed::cli
