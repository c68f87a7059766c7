// Python's two ways to put values into a text.
#pragma once

#include <string>
#include <string_view>

#include "heed/chat/object.h"

namespace heed::chat {

// "%s is %.2f" % values; the values are a tuple, a dict for %(name)s, or one value.
std::string percent_format(Evaluator& evaluator, std::string_view text, const Value& values);
// "{} is {name:>5}".format(...)
std::string brace_format(Evaluator& evaluator, std::string_view text, const Arguments& arguments);
// format(value, ">8.3f")
std::string format_value(Evaluator& evaluator, const Value& value, std::string_view spec);

}  // namespace heed::chat
