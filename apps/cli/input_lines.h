// Rows of input that are lines: one text, or one JSON value, per line.
#pragma once

#include "input_rows.h"
#include "line_stream.h"

namespace heed::cli {

std::unique_ptr<InputRows> lines_of_file(const std::string& path, const InputFormat& format);
std::unique_ptr<InputRows> lines_of_stream(std::unique_ptr<LineStream> stream, const InputFormat& format);

}  // namespace heed::cli
