#include "heed/chat/compare.h"

#include <algorithm>

#include "heed/base/utf8.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/object.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

bool is_number(const Value& value) {
  return value.whole() || value.real();
}

// An int64 and a double both fit in it.
long double exact(const Value& value) {
  const auto whole = value.whole();
  return whole ? static_cast<long double>(*whole) : static_cast<long double>(*value.real());
}

bool are_equal_dicts(Evaluator& evaluator, const Dict& a, const Dict& b) {
  if (a.entries().size() != b.entries().size()) return false;
  return std::ranges::all_of(a.entries(), [&](const Dict::Entry& entry) {
    const Value* other = b.find(entry.first);
    return other && is_equal(evaluator, entry.second, *other);
  });
}

// Lists compare with lists, tuples with tuples, ranges with ranges.
bool are_of_one_kind(const Sequence& a, const Sequence& b) {
  return a.kind == b.kind || (a.is_tuple() && b.is_tuple());
}

bool are_equal_sequences(Evaluator& evaluator, const Sequence& a, const Sequence& b) {
  if (&a == &b) return true;
  if (!are_of_one_kind(a, b) || a.kind == SequenceKind::kIterator || a.items.size() != b.items.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!is_equal(evaluator, a.items[i], b.items[i])) return false;
  }
  return true;
}

[[noreturn]] void refuse_order(const Value& a, const Value& b) {
  a.check_defined();
  b.check_defined();
  fail(ErrorKind::invalid_argument, "'<' not supported between instances of '", a.type_name(), "' and '", b.type_name(),
       "'");
}

}  // namespace

bool is_true(const Value& value) {
  if (value.is_none() || value.is_undefined()) return false;
  if (const auto whole = value.whole()) return *whole != 0;
  if (const double* real = value.real()) return *real != 0;
  const auto length = length_of(value);
  return !length || *length > 0;
}

bool is_equal(Evaluator& evaluator, const Value& a, const Value& b) {
  evaluator.budget().spend(1);
  if (is_number(a) && is_number(b)) return exact(a) == exact(b);
  if (a.text() && b.text()) {
    evaluator.budget().spend_bytes(a.text()->size());
    return *a.text() == *b.text();
  }
  if (a.is_none() || a.is_undefined()) return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
  if (a.dict() && b.dict()) return are_equal_dicts(evaluator, *a.dict(), *b.dict());
  if (a.sequence() && b.sequence()) return are_equal_sequences(evaluator, *a.sequence(), *b.sequence());
  return a.object() && a.object() == b.object();
}

bool is_less(Evaluator& evaluator, const Value& a, const Value& b) {
  evaluator.budget().spend(1);
  if (is_number(a) && is_number(b)) return exact(a) < exact(b);
  // The order of UTF-8's bytes is that of the code points.
  if (a.text() && b.text()) {
    evaluator.budget().spend_bytes(a.text()->size());
    return *a.text() < *b.text();
  }
  const Sequence *left = a.sequence(), *right = b.sequence();
  const bool have_order =
      left && right && are_of_one_kind(*left, *right) && (left->kind == SequenceKind::kList || left->is_tuple());
  if (!have_order) refuse_order(a, b);
  const std::size_t common = std::min(left->items.size(), right->items.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (!is_equal(evaluator, left->items[i], right->items[i])) {
      return is_less(evaluator, left->items[i], right->items[i]);
    }
  }
  return left->items.size() < right->items.size();
}

bool contains(Evaluator& evaluator, const Value& container, const Value& item) {
  if (const std::string* text = container.text()) {
    evaluator.budget().spend_bytes(text->size());
    HEED_CHECK(item.text(), "'in <string>' requires string as left operand, not ", item.type_name());
    return find_part(*text, *item.text()).has_value();
  }
  if (container.dict()) return container.dict()->find(item) != nullptr;
  HEED_CHECK(is_iterable(container), "argument of type '", container.type_name(), "' is not iterable");
  return std::ranges::any_of(items_of(evaluator, container),
                             [&](const Value& each) { return each.is_same(item) || is_equal(evaluator, each, item); });
}

std::optional<std::size_t> length_of(const Value& value) {
  if (value.is_undefined()) return 0;
  if (const std::string* text = value.text()) return utf8_length(*text);
  if (value.dict()) return value.dict()->entries().size();
  if (value.object()) return value.object()->length();
  if (!value.sequence() || value.sequence()->kind == SequenceKind::kIterator) return std::nullopt;
  return value.sequence()->items.size();
}

bool is_iterable(const Value& value) {
  return value.is_undefined() || value.text() || value.dict() || value.sequence();
}

Values items_of(Evaluator& evaluator, const Value& value) {
  HEED_CHECK(is_iterable(value), "'", value.type_name(), "' object is not iterable");
  Values items;
  if (const std::string* text = value.text()) {
    evaluator.budget().spend(text->size() * 4);  // a value each
    for (std::string& point : code_points(*text)) items.emplace_back(std::move(point));
  } else if (const Dict* dict = value.dict()) {
    evaluator.budget().spend(dict->entries().size());
    for (const auto& entry : dict->entries()) items.push_back(entry.first);
  } else if (const Sequence* sequence = value.sequence()) {
    evaluator.budget().spend(sequence->items.size() - sequence->used);
    items.assign(sequence->items.begin() + static_cast<std::ptrdiff_t>(sequence->used), sequence->items.end());
    if (sequence->kind == SequenceKind::kIterator) sequence->used = sequence->items.size();
  }
  return items;
}

}  // namespace heed::chat
