// What Python asks of values: truth, equality, order, membership, items.
#pragma once

#include <optional>

#include "heed/chat/value.h"

namespace heed::chat {

class Evaluator;

bool is_true(const Value& value);
bool is_equal(Evaluator& evaluator, const Value& a, const Value& b);
// Throws for values that have no order, such as a number and a text.
bool is_less(Evaluator& evaluator, const Value& a, const Value& b);
// `item in container`
bool contains(Evaluator& evaluator, const Value& container, const Value& item);

// len(); nothing for what has none.
std::optional<std::size_t> length_of(const Value& value);
bool is_iterable(const Value& value);
// list(value): items, characters, keys. What an iterator had is gone then. Throws for what is not iterable.
Values items_of(Evaluator& evaluator, const Value& value);

}  // namespace heed::chat
