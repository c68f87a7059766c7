// The tests of jinja2: value is defined, value is string ...
#pragma once

#include <string_view>

#include "heed/chat/object.h"

namespace heed::chat {

using Test = bool (*)(Evaluator& evaluator, const Value& value, Arguments& arguments);

// Null if there is none.
const Test* find_test(std::string_view name);

}  // namespace heed::chat
