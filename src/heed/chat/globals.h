// Functions that every template has: range, dict, namespace, joiner, cycler, raise_exception, strftime_now.
#pragma once

#include <string>

#include "heed/chat/value.h"

namespace heed::chat {

// Null if there is none.
const Value* find_global(const std::string& name);

}  // namespace heed::chat
