#include "heed/text/letter_case.h"

#include <utf8proc.h>

#include <algorithm>
#include <unordered_map>

#include "heed/base/utf8.h"
#include "heed/text/unicode.h"

namespace heed::text {
namespace {

// Letters that become several: the letter, a space, its large form. From Unicode's SpecialCasing.
constexpr std::string_view kSeveral =
    "ß SS ŉ ʼN ǰ J̌ ΐ Ϊ́ ΰ Ϋ́ և ԵՒ ẖ H̱ ẗ T̈ ẘ W̊ ẙ Y̊ ẚ Aʾ ὐ Υ̓ ὒ Υ̓̀ ὔ Υ̓́ ὖ Υ̓͂ ᾀ ἈΙ ᾁ ἉΙ ᾂ ἊΙ ᾃ ἋΙ ᾄ ἌΙ "
    "ᾅ ἍΙ ᾆ ἎΙ ᾇ ἏΙ ᾈ ἈΙ ᾉ ἉΙ ᾊ ἊΙ ᾋ ἋΙ ᾌ ἌΙ ᾍ ἍΙ ᾎ ἎΙ ᾏ ἏΙ ᾐ ἨΙ ᾑ ἩΙ ᾒ ἪΙ ᾓ ἫΙ ᾔ ἬΙ ᾕ ἭΙ ᾖ ἮΙ ᾗ ἯΙ ᾘ ἨΙ ᾙ ἩΙ "
    "ᾚ ἪΙ ᾛ ἫΙ ᾜ ἬΙ ᾝ ἭΙ ᾞ ἮΙ ᾟ ἯΙ ᾠ ὨΙ ᾡ ὩΙ ᾢ ὪΙ ᾣ ὫΙ ᾤ ὬΙ ᾥ ὭΙ ᾦ ὮΙ ᾧ ὯΙ ᾨ ὨΙ ᾩ ὩΙ ᾪ ὪΙ ᾫ ὫΙ ᾬ ὬΙ ᾭ ὭΙ ᾮ ὮΙ "
    "ᾯ ὯΙ ᾲ ᾺΙ ᾳ ΑΙ ᾴ ΆΙ ᾶ Α͂ ᾷ Α͂Ι ᾼ ΑΙ ῂ ῊΙ ῃ ΗΙ ῄ ΉΙ ῆ Η͂ ῇ Η͂Ι ῌ ΗΙ ῒ Ϊ̀ ΐ Ϊ́ ῖ Ι͂ ῗ Ϊ͂ ῢ Ϋ̀ ΰ Ϋ́ "
    "ῤ Ρ̓ ῦ Υ͂ ῧ Ϋ͂ ῲ ῺΙ ῳ ΩΙ ῴ ΏΙ ῶ Ω͂ ῷ Ω͂Ι ῼ ΩΙ ﬀ FF ﬁ FI ﬂ FL ﬃ FFI ﬄ FFL ﬅ ST ﬆ ST ﬓ ՄՆ ﬔ ՄԵ ﬕ ՄԻ ﬖ ՎՆ "
    "ﬗ ՄԽ ";

const std::unordered_map<char32_t, std::string>& several() {
  static const auto table = [] {
    std::unordered_map<char32_t, std::string> map;
    for (std::size_t at = 0; at < kSeveral.size();) {
      const CodePoint letter = utf8_decode(kSeveral, at);
      const std::size_t begin = at + letter.length + 1, end = kSeveral.find(' ', begin);
      map.emplace(letter.value, kSeveral.substr(begin, end - begin));
      at = end + 1;
    }
    return map;
  }();
  return table;
}

utf8proc_category_t category(char32_t point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(point));
}

void append_upper(std::string& out, char32_t point) {
  const auto found = point < 0x80 ? several().end() : several().find(point);
  if (found != several().end()) {
    out += found->second;
  } else {
    utf8_append(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(point))));
  }
}

void append_title(std::string& out, char32_t point) {
  const auto simple = static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(point)));
  const auto found = point < 0x80 || simple != point ? several().end() : several().find(point);
  if (found != several().end()) {
    out += title(found->second);
  } else {
    utf8_append(out, simple);
  }
}

// What may stand between the letters of a word (Unicode's Case_Ignorable).
bool is_passed_over(char32_t point) {
  switch (category(point)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default:
      return std::u32string_view(
                 U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A")
                 .find(point) != std::u32string_view::npos;
  }
}

// A sigma at the end of a word has a form of its own: a letter before it, none after it.
bool ends_word(std::string_view text, const CodePoint& sigma) {
  bool letter_before = false;
  for (std::size_t at = sigma.offset; at > 0;) {
    do --at;
    while (at > 0 && is_continuation(text[at]));
    const char32_t before = utf8_decode(text, at).value;
    if (is_passed_over(before)) continue;
    letter_before = is_cased(before);
    break;
  }
  if (!letter_before) return false;
  for (const CodePoint& next : Utf8View(text.substr(sigma.offset + sigma.length))) {
    if (!is_passed_over(next.value)) return !is_cased(next.value);
  }
  return true;
}

void append_lower(std::string& out, std::string_view text, const CodePoint& point) {
  constexpr char32_t kSigma = 0x3A3, kDottedI = 0x130;
  if (point.value == kSigma) {
    utf8_append(out, ends_word(text, point) ? 0x3C2 : 0x3C3);
  } else if (point.value == kDottedI) {
    out += "i\xCC\x87";
  } else {
    utf8_append(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point.value))));
  }
}

// Letter by letter, each by append(out, point, whether a letter stands before it).
template <class Append>
std::string by_letter(std::string_view text, const Append& append) {
  std::string out;
  out.reserve(text.size());
  bool after_letter = false;
  for (const CodePoint& point : Utf8View(text)) {
    append(out, point, after_letter);
    after_letter = is_cased(point.value);
  }
  return out;
}

}  // namespace

bool is_space(char32_t point) {
  if (point < 0x80) return (point >= 0x09 && point <= 0x0D) || (point >= 0x1C && point <= 0x20);
  return point == 0x85 || category(point) == UTF8PROC_CATEGORY_ZS || point == 0x2028 || point == 0x2029;
}

bool is_printable(char32_t point) {
  if (point < 0x80) return point >= 0x20 && point != 0x7F;
  switch (category(point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS: return false;
    default: return true;
  }
}

bool is_upper(char32_t point) {
  return category(point) == UTF8PROC_CATEGORY_LU;
}

bool is_lower(char32_t point) {
  return category(point) == UTF8PROC_CATEGORY_LL || point == 0xAA || point == 0xBA;
}

bool is_cased(char32_t point) {
  return is_upper(point) || is_lower(point) || category(point) == UTF8PROC_CATEGORY_LT;
}

bool is_letter(char32_t point) {
  const auto kind = category(point);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_number(char32_t point) {
  const auto kind = category(point);
  return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(char32_t point) {
  const auto kind = category(point);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_symbol(char32_t point) {
  const auto kind = category(point);
  return kind >= UTF8PROC_CATEGORY_SM && kind <= UTF8PROC_CATEGORY_SO;
}

bool is_digit(char32_t point) {
  return category(point) == UTF8PROC_CATEGORY_ND || point == 0xB2 || point == 0xB3 || point == 0xB9 ||
         point == 0x2070 || (point >= 0x2074 && point <= 0x2079) || (point >= 0x2080 && point <= 0x2089);
}

std::string upper(std::string_view text) {
  return by_letter(text, [](std::string& out, const CodePoint& point, bool) { append_upper(out, point.value); });
}

std::string lower(std::string_view text) {
  if (is_ascii(text)) {
    std::string out(text);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    return out;
  }
  return by_letter(text, [&](std::string& out, const CodePoint& point, bool) { append_lower(out, text, point); });
}

std::string capitalize(std::string_view text) {
  return by_letter(text, [&](std::string& out, const CodePoint& point, bool) {
    point.offset == 0 ? append_title(out, point.value) : append_lower(out, text, point);
  });
}

std::string title(std::string_view text) {
  return by_letter(text, [&](std::string& out, const CodePoint& point, bool after_letter) {
    after_letter ? append_lower(out, text, point) : append_title(out, point.value);
  });
}

std::string swap_case(std::string_view text) {
  return by_letter(text, [&](std::string& out, const CodePoint& point, bool) {
    is_upper(point.value) ? append_lower(out, text, point) : append_upper(out, point.value);
  });
}

}  // namespace heed::text
