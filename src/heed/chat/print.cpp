#include "heed/chat/print.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "heed/base/utf8.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/object.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

void append_escape(std::string& out, char32_t point) {
  std::array<char, 16> escape{};
  const char* form = point < 0x100 ? "\\x%02x" : point < 0x10000 ? "\\u%04x" : "\\U%08x";
  std::snprintf(escape.data(), escape.size(), form, static_cast<unsigned>(point));
  out += escape.data();
}

class Printer {
 public:
  explicit Printer(Evaluator& evaluator) : evaluator_(evaluator) {}

  void print(const Value& value) {
    evaluator_.budget().spend(1);
    if (const std::string* text = value.text()) {
      add(value.is_markup() ? "Markup(" + quoted_text(*text) + ")" : quoted_text(*text));
    } else if (value.sequence()) {
      print(*value.sequence());
    } else if (value.dict()) {
      print(*value.dict());
    } else if (value.is_undefined()) {
      add("Undefined");
    } else {
      add(to_text(evaluator_, value));
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void add(std::string_view text) {
    evaluator_.budget().spend_bytes(text.size());
    out_ += text;
  }

  void print_items(const Values& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) add(", ");
      print(items[i]);
    }
  }

  void print(const Sequence& sequence) {
    switch (sequence.kind) {
      case SequenceKind::kRange: return add(sequence.name);
      case SequenceKind::kIterator: return add("<iterator>");
      case SequenceKind::kList: add("["), print_items(sequence.items), add("]"); return;
      case SequenceKind::kView: add(sequence.name + "(["), print_items(sequence.items), add("])"); return;
      default: add("("), print_items(sequence.items), add(sequence.items.size() == 1 ? ",)" : ")");
    }
  }

  void print(const Dict& dict) {
    add("{");
    bool first = true;
    for (const auto& [key, value] : dict.entries()) {
      if (!first) add(", ");
      first = false;
      print(key);
      add(": ");
      print(value);
    }
    add("}");
  }

  Evaluator& evaluator_;
  std::string out_;
};

}  // namespace

std::string to_text(Evaluator& evaluator, const Value& value) {
  if (const std::string* text = value.text()) return *text;
  if (value.is_undefined()) return "";
  if (value.is_none()) return "None";
  if (const bool* flag = value.boolean()) return *flag ? "True" : "False";
  if (const std::int64_t* whole = value.integer()) return std::to_string(*whole);
  if (const double* real = value.real()) return float_text(*real);
  if (value.object()) return value.object()->print(evaluator);
  return repr(evaluator, value);
}

std::string repr(Evaluator& evaluator, const Value& value) {
  Printer printer(evaluator);
  printer.print(value);
  return printer.take();
}

std::string quoted_text(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const CodePoint& point : Utf8View(text)) {
    switch (point.value) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\\': out += "\\\\"; break;
      default:
        if (point.value == static_cast<char32_t>(quote)) {
          (out += '\\') += quote;
        } else if (is_printable(point.value)) {
          out += text.substr(point.offset, point.length);
        } else {
          append_escape(out, point.value);
        }
    }
  }
  return out += quote;
}

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer{};
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string scientific(buffer.data(), written.ptr);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  if (exponent < -4 || exponent >= 16) return scientific;
  const auto fixed = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  std::string text(buffer.data(), fixed.ptr);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

}  // namespace heed::chat
