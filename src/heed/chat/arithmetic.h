// Python's operators on values.
#pragma once

#include <string>

#include "heed/chat/value.h"

namespace heed::chat {

class Evaluator;

// + - * / // % **, also on texts and lists. Throws for types that do not go together, for a division by zero, and for
// integers that do not fit in 64 bits.
Value arithmetic(Evaluator& evaluator, const std::string& operation, const Value& a, const Value& b);
Value negative(const Value& value);
Value positive(const Value& value);
// < <= > >=
bool compare(Evaluator& evaluator, const std::string& operation, const Value& a, const Value& b);

}  // namespace heed::chat
