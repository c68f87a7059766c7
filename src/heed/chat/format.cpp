#include "heed/chat/format.h"

#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/numbers.h"
#include "heed/chat/print.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

// Hands out the values of "..." % values.
class PercentValues {
 public:
  explicit PercentValues(const Value& values) : values_(values) {}
  Value next() {
    const Sequence* tuple = values_.sequence();
    const std::size_t count = tuple && tuple->is_tuple() ? tuple->items.size() : 1;
    HEED_CHECK(used_ < count, "not enough arguments for format string");
    ++used_;
    return tuple && tuple->is_tuple() ? tuple->items[used_ - 1] : values_;
  }
  Value named(const std::string& name) {
    HEED_CHECK(values_.dict(), "format requires a mapping");
    is_named_ = true;
    const Value* found = values_.dict()->find(name);
    HEED_CHECK(found, "there is no '", name, "' for a format");
    return *found;
  }
  void done() const {
    const Sequence* tuple = values_.sequence();
    const bool all = tuple && tuple->is_tuple()
                         ? used_ == tuple->items.size()
                         : used_ == 1 || is_named_ || values_.dict() || (tuple && !tuple->is_tuple());
    HEED_CHECK(all, "not all arguments converted during string formatting");
  }

 private:
  const Value& values_;
  std::size_t used_ = 0;
  bool is_named_ = false;
};

// One %...: its flags and type as a specification of format().
class PercentField {
 public:
  PercentField(Evaluator& evaluator, PercentValues& values) : evaluator_(evaluator), values_(values) {}

  // `at` is after the %; moved past the field.
  std::string text(std::string_view format, std::size_t& at) {
    std::optional<std::string> name;
    if (at < format.size() && format[at] == '(') {
      const std::size_t close = format.find(')', at);
      HEED_CHECK(close != std::string_view::npos, "incomplete format key");
      name = format.substr(at + 1, close - at - 1);
      at = close + 1;
    }
    std::string flags, width, precision;
    while (at < format.size() && std::string_view("#0- +").find(format[at]) != std::string_view::npos)
      flags += format[at++];
    width = digits(format, at);
    if (at < format.size() && format[at] == '.') {
      ++at;
      precision = concat({".", digits(format, at)});
      if (precision == ".") precision = ".0";
    }
    HEED_CHECK(at < format.size(), "incomplete format");
    const char type = format[at++];
    if (type == '%') return "%";
    return converted(name ? values_.named(*name) : values_.next(), flags, width, precision, type);
  }

 private:
  std::string digits(std::string_view format, std::size_t& at) {
    if (at < format.size() && format[at] == '*') {
      ++at;
      return std::to_string(as_whole(values_.next(), "a width given as *"));
    }
    std::string out;
    while (at < format.size() && format[at] >= '0' && format[at] <= '9') out += format[at++];
    return out;
  }

  std::string converted(const Value& value, const std::string& flags, const std::string& width,
                        const std::string& precision, char type) {
    const auto has = [&](char flag) { return flags.find(flag) != std::string::npos; };
    if (type == 's' || type == 'r' || type == 'a') {
      const std::string text = type == 's' ? to_text(evaluator_, value) : repr(evaluator_, value);
      return format_value(evaluator_, text, concat({has('-') ? "<" : ">", width, precision}));
    }
    if (type == 'c' && value.text()) return format_value(evaluator_, value, concat({has('-') ? "<" : ">", width}));
    HEED_CHECK(std::string_view("diuxXoeEfFgG").find(type) != std::string_view::npos, "unsupported format character '",
               type, "'");
    value.check_defined();
    HEED_CHECK(value.number(), "%", type, " format: a real number is required, not ", value.type_name());
    std::string spec = has('-') ? "<" : has('0') ? "0=" : ">";
    spec += has('+') ? "+" : has(' ') ? " " : "";
    spec += has('#') ? "#" : "";
    spec += width;
    const bool is_whole = std::string_view("diuxXo").find(type) != std::string_view::npos;
    if (!is_whole) return format_value(evaluator_, *value.number(), spec + precision + type);
    HEED_CHECK(precision.empty(), "a precision of whole numbers is not supported");
    HEED_CHECK(value.whole() || std::string_view("diu").find(type) != std::string_view::npos, "%", type,
               " format: an integer is required, not float");
    const char kind = type == 'i' || type == 'u' ? 'd' : type;
    return format_value(evaluator_, value.whole() ? *value.whole() : truncated(*value.real()), spec + kind);
  }

  Evaluator& evaluator_;
  PercentValues& values_;
};

// The fields of "...".format(...).
class BraceFormatter {
 public:
  BraceFormatter(Evaluator& evaluator, const Arguments& arguments) : evaluator_(evaluator), arguments_(arguments) {}

  std::string format(std::string_view text, int level) {
    HEED_CHECK(level < 3, "Max string recursion exceeded");
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const char c = text[at];
      if (c != '{' && c != '}') {
        out += c;
        ++at;
      } else if (at + 1 < text.size() && text[at + 1] == c) {
        out += c;
        at += 2;
      } else {
        HEED_CHECK(c == '{', "Single '}' encountered in format string");
        const std::size_t end = field_end(text, at);
        out += field(text.substr(at + 1, end - at - 1), level);
        at = end + 1;
      }
    }
    return out;
  }

 private:
  static std::size_t field_end(std::string_view text, std::size_t at) {
    int open = 0;
    for (; at < text.size(); ++at) {
      if (text[at] == '{') ++open;
      if (text[at] == '}' && --open == 0) return at;
    }
    fail(ErrorKind::invalid_argument, "expected '}' before end of string");
  }

  std::string field(std::string_view text, int level) {
    const std::size_t name_end = std::min(text.find_first_of(":!"), text.size());
    Value value = looked_up(text.substr(0, name_end));
    text.remove_prefix(name_end);
    if (text.starts_with('!')) {
      HEED_CHECK(text.size() >= 2 && (text[1] == 's' || text[1] == 'r'), "a format may have !s or !r");
      value = text[1] == 'r' ? repr(evaluator_, value) : to_text(evaluator_, value);
      text.remove_prefix(2);
      HEED_CHECK(text.empty() || text[0] == ':', "expected ':' after conversion specifier");
    }
    const std::string spec = text.empty() ? "" : format(text.substr(1), level + 1);
    std::string out = format_value(evaluator_, value, spec);
    evaluator_.budget().spend_bytes(out.size());
    return out;
  }

  // "", "0", "name", "0.attribute", "name[key]"
  Value looked_up(std::string_view name) {
    std::size_t end = std::min(name.find_first_of(".["), name.size());
    Value value = argument(std::string(name.substr(0, end)));
    while (end < name.size()) {
      const bool is_item = name[end] == '[';
      const std::size_t begin = end + 1;
      const std::size_t stop = is_item ? name.find(']', begin) : std::min(name.find_first_of(".[", begin), name.size());
      HEED_CHECK(stop != std::string_view::npos && stop > begin, "Empty attribute in format string");
      const std::string part(name.substr(begin, stop - begin));
      value = !is_item          ? evaluator_.attribute(value, part)
              : is_number(part) ? evaluator_.item(value, std::stoi(part))
                                : evaluator_.item(value, part);
      end = is_item ? stop + 1 : stop;
    }
    return value;
  }

  static bool is_number(const std::string& text) {
    return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
  }

  Value argument(const std::string& name) {
    if (!name.empty() && !is_number(name)) {
      for (const auto& [key, value] : arguments_.named) {
        if (key == name) return value;
      }
      fail(ErrorKind::invalid_argument, "there is no '", name, "' for a format");
    }
    HEED_CHECK(is_automatic_.value_or(name.empty()) == name.empty(),
               "cannot switch between manual field specification and automatic field numbering");
    is_automatic_ = name.empty();
    const std::size_t index = name.empty() ? next_++ : std::stoul(name);
    HEED_CHECK(index < arguments_.positional.size(), "Replacement index ", index, " out of range for positional args");
    return arguments_.positional[index];
  }

  Evaluator& evaluator_;
  const Arguments& arguments_;
  std::optional<bool> is_automatic_;
  std::size_t next_ = 0;
};

}  // namespace

std::string percent_format(Evaluator& evaluator, std::string_view text, const Value& given) {
  PercentValues values(given);
  PercentField field(evaluator, values);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '%') {
      ++at;
      const std::string part = field.text(text, at);
      evaluator.budget().spend_bytes(part.size());
      out += part;
    } else {
      out += text[at++];
    }
  }
  values.done();
  return out;
}

std::string brace_format(Evaluator& evaluator, std::string_view text, const Arguments& arguments) {
  return BraceFormatter(evaluator, arguments).format(text, 0);
}

}  // namespace heed::chat
