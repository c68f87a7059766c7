#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "heed/base/utf8.h"
#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/print.h"

namespace heed::chat {
namespace {

std::string json_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return float_text(value);
}

class JsonWriter {
 public:
  JsonWriter(Evaluator& evaluator, const JsonStyle& style) : evaluator_(evaluator), style_(style) {}

  void write(const Value& value) {
    evaluator_.budget().spend(1);
    if (const std::string* text = value.text()) {
      write_text(*text);
    } else if (value.dict()) {
      write_dict(*value.dict());
    } else if (value.sequence()) {
      write_list(value);
    } else {
      add(plain(value));
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void add(std::string_view text) {
    evaluator_.budget().spend_bytes(text.size());
    out_ += text;
  }

  // What is no text and holds no other values; also the text of a key.
  static std::string plain(const Value& value) {
    if (value.is_none()) return "null";
    if (const bool* flag = value.boolean()) return *flag ? "true" : "false";
    if (const auto whole = value.whole()) return std::to_string(*whole);
    HEED_CHECK(value.real(), "Object of type ", value.type_name(), " is not JSON serializable");
    return json_float(*value.real());
  }

  void add_unit(char32_t unit) {
    std::array<char, 16> escape{};
    std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(unit));
    out_ += escape.data();
  }

  void write_text(std::string_view text) {
    evaluator_.budget().spend_bytes(text.size());
    out_ += '"';
    for (const CodePoint& point : Utf8View(text)) {
      switch (point.value) {
        case '"': out_ += "\\\""; break;
        case '\\': out_ += "\\\\"; break;
        case '\n': out_ += "\\n"; break;
        case '\r': out_ += "\\r"; break;
        case '\t': out_ += "\\t"; break;
        case '\f': out_ += "\\f"; break;
        case '\b': out_ += "\\b"; break;
        default: write_character(text.substr(point.offset, point.length), point.value);
      }
    }
    out_ += '"';
  }

  void write_character(std::string_view bytes, char32_t point) {
    const bool is_escaped = point < 0x20 || (style_.ascii && point >= 0x7F);
    if (!is_escaped || point == 0x7F) {
      out_ += bytes;
    } else if (point < 0x10000) {
      add_unit(point);
    } else {
      add_unit(0xD800 + ((point - 0x10000) >> 10));
      add_unit(0xDC00 + ((point - 0x10000) & 0x3FF));
    }
  }

  void new_line() {
    if (!style_.indent) return;
    evaluator_.budget().spend_bytes(static_cast<std::size_t>(level_), style_.indent->size() + 1);
    out_ += '\n';
    for (int i = 0; i < level_; ++i) out_ += *style_.indent;
  }

  // Calls write_item(i) for each of `count` items between the brackets.
  template <class WriteItem>
  void write_between(std::string_view brackets, std::size_t count, const WriteItem& write_item) {
    out_ += brackets[0];
    ++level_;
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) add(style_.item_separator);
      new_line();
      write_item(i);
    }
    --level_;
    if (count > 0) new_line();
    out_ += brackets[1];
  }

  void write_list(const Value& value) {
    const Sequence& list = *value.sequence();
    HEED_CHECK(list.kind == SequenceKind::kList || list.is_tuple(), "Object of type ", value.type_name(),
               " is not JSON serializable");
    write_between("[]", list.items.size(), [&](std::size_t i) { write(list.items[i]); });
  }

  void write_dict(const Dict& dict) {
    std::vector<Dict::Entry> entries = dict.entries();
    evaluator_.budget().spend(entries.size());
    if (style_.sort_keys) {
      std::ranges::stable_sort(
          entries, [&](const Dict::Entry& a, const Dict::Entry& b) { return is_less(evaluator_, a.first, b.first); });
    }
    write_between("{}", entries.size(), [&](std::size_t i) {
      const Value& key = entries[i].first;
      key.text() ? write_text(*key.text()) : write_text(plain(key));
      add(style_.key_separator);
      write(entries[i].second);
    });
  }

  Evaluator& evaluator_;
  const JsonStyle& style_;
  std::string out_;
  int level_ = 0;
};

}  // namespace

std::string to_json(Evaluator& evaluator, const Value& value, const JsonStyle& style) {
  JsonWriter writer(evaluator, style);
  writer.write(value);
  return writer.take();
}

}  // namespace heed::chat
