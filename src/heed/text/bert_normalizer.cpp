#include "heed/text/bert_normalizer.h"

#include <algorithm>

#include "heed/text/character_steps.h"
#include "heed/text/normal_form.h"

namespace heed::text {
namespace {

bool is_ascii_control(char byte) {
  return (static_cast<unsigned char>(byte) < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
}

void clean(NormalizedString& string) {
  const PropertyTable table;
  filter_points(string, [&](char32_t point) { return point != 0 && point != 0xFFFD && !table.has(point, kIsControl); });
  map_points(string, [&](char32_t point) { return table.has(point, kIsWhitespace) ? U' ' : point; });
}

void separate_chinese(NormalizedString& string) {
  bool any = false;
  for_each_point(string.text(), [&](char32_t point, std::size_t) { any |= is_chinese(point); });
  if (!any) return;
  Rewriter rewriter(string);
  for_each_point(string.text(), [&](char32_t point, std::size_t) {
    if (!is_chinese(point)) {
      rewriter.emit(point, 0);
      return;
    }
    rewriter.emit(' ', 0);
    rewriter.emit(point, 1);
    rewriter.emit(' ', 1);
  });
  rewriter.commit(string);
}

}  // namespace

void BertNormalizer::apply(NormalizedString& string) const {
  // ASCII without control characters: nothing moves, and only clean and lower-case do anything.
  const std::string_view text = string.text();
  if (is_ascii(text) && !(clean_ && std::any_of(text.begin(), text.end(), is_ascii_control))) {
    for (char& byte : string.edit_in_place()) {
      if (clean_ && (byte == '\t' || byte == '\n' || byte == '\r')) byte = ' ';
      if (lower_ && byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte + 32);
    }
    return;
  }
  if (clean_) clean(string);
  if (chinese_) separate_chinese(string);
  if (strip_) {
    normalize_form(string, NormalForm::nfd);
    const PropertyTable table;
    filter_points(string, [&](char32_t point) { return !table.has(point, kIsNonspacingMark); });
  }
  if (lower_) lower_case(string);
}

}  // namespace heed::text
