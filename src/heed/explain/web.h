// The files of web/, embedded by cmake/EmbedWeb.cmake.
#pragma once

#include <string_view>

namespace heed {

extern const std::string_view kWebPage, kWebStyle, kWebScript;

}  // namespace heed
