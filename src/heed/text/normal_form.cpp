#include "heed/text/normal_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "heed/text/unicode.h"

namespace heed::text {
namespace {

// A character with its change (see Rewriter) and canonical combining class.
struct Mark {
  char32_t point;
  int change;
  int combining;
};

class Composer {
 public:
  Composer(NormalizedString& string, NormalForm form)
      : rewriter_(string),
        compatible_(form == NormalForm::nfkc || form == NormalForm::nfkd),
        compose_(form == NormalForm::nfc || form == NormalForm::nfkc) {}

  // Decomposes one character; whenever a starter comes, the characters before it are complete.
  void take(char32_t point) {
    if (point < 0x80 || !table_.has(point, kIsDecomposed)) {
      push(point, 0);
      return;
    }
    // The longest decomposition is that of U+FDFA.
    std::array<utf8proc_int32_t, 32> parts;
    int boundary = 0;
    const int options = UTF8PROC_DECOMPOSE | (compatible_ ? UTF8PROC_COMPAT : 0);
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(point), parts.data(),
                                               static_cast<utf8proc_ssize_t>(parts.size()),
                                               static_cast<utf8proc_option_t>(options), &boundary);
    if (count <= 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) {
      push(point, 0);
      return;
    }
    for (int i = 0; i < count; ++i) push(static_cast<char32_t>(parts[static_cast<std::size_t>(i)]), i > 0 ? 1 : 0);
  }

  void finish(NormalizedString& string) {
    sort_marks();
    flush_segment();
    if (starter_open_) emit_open();
    rewriter_.commit(string);
  }

 private:
  int combining_class(char32_t point) const {
    if (point < 0x300 || !table_.has(point, kIsCombiningMark)) return 0;
    return utf8proc_get_property(static_cast<utf8proc_int32_t>(point))->combining_class;
  }

  void push(char32_t point, int change) {
    const int combining = combining_class(point);
    if (combining == 0) {
      sort_marks();
      flush_segment();
    }
    segment_.push_back({point, change, combining});
  }

  // Canonical order: the marks after the last starter by class, in their order within a class.
  void sort_marks() {
    const auto first_mark = std::find_if(segment_.begin(), segment_.end(), [](const Mark& m) { return m.combining; });
    std::stable_sort(first_mark, segment_.end(),
                     [](const Mark& a, const Mark& b) { return a.combining < b.combining; });
  }

  void flush_segment() {
    for (const Mark& mark : segment_) {
      if (compose_) {
        compose(mark);
      } else {
        rewriter_.emit(mark.point, mark.change);
      }
    }
    segment_.clear();
  }

  void emit_open() {
    rewriter_.emit(starter_.point, starter_.change);
    for (const Mark& mark : after_starter_) rewriter_.emit(mark.point, mark.change);
    after_starter_.clear();
  }

  void compose(const Mark& mark) {
    if (!starter_open_) {
      if (mark.combining != 0) {
        rewriter_.emit(mark.point, mark.change);
      } else {
        starter_ = mark;
        starter_open_ = true;
      }
      return;
    }
    // A mark is blocked from the starter by one of the same or a higher class between them.
    const bool blocked = !after_starter_.empty() && after_starter_.back().combining >= mark.combining;
    if (!blocked) {
      if (const char32_t composed = composition(starter_.point, mark.point)) {
        starter_.point = composed;
        starter_.change += mark.change - 1;
        return;
      }
    }
    if (mark.combining != 0) {
      after_starter_.push_back(mark);
      return;
    }
    emit_open();
    starter_ = mark;
  }

  // 0 when the two do not compose.
  char32_t composition(char32_t first, char32_t second) const {
    if (second < 0x300) return 0;
    std::array<utf8proc_int32_t, 3> pair = {static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second),
                                            0};
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (utf8proc_normalize_utf32(pair.data(), 2, options) != 1) return 0;
    const auto composed = static_cast<char32_t>(pair[0]);
    return table_.has(composed, kIsDecomposed) ? composed : 0;
  }

  PropertyTable table_;
  Rewriter rewriter_;
  bool compatible_, compose_;
  std::vector<Mark> segment_;  // decomposed, from the last starter on
  bool starter_open_ = false;
  Mark starter_{};
  std::vector<Mark> after_starter_;
};

}  // namespace

void normalize_form(NormalizedString& string, NormalForm form) {
  // Only what decomposes, marks and the parts of Korean syllables can change or move, and nothing below U+0300 under
  // NFC: that spares most texts.
  const char32_t untouched = form == NormalForm::nfc ? 0x300 : 0xA0;
  const PropertyTable table;
  bool may_change = false;
  for_each_point(string.text(), [&](char32_t point, std::size_t) {
    if (point < untouched) return;
    may_change |= table.has(point, kIsDecomposed | kIsCombiningMark) || (point >= 0x1100 && point <= 0x11FF);
  });
  if (!may_change) return;
  Composer composer(string, form);
  for_each_point(string.text(), [&](char32_t point, std::size_t) { composer.take(point); });
  composer.finish(string);
}

}  // namespace heed::text
