// Steps that look at one character at a time; several normalizers share them.
#pragma once

#include "heed/text/normalized.h"
#include "heed/text/unicode.h"

namespace heed::text {

// Removes the characters that keep(point) refuses.
template <class Keep>
void filter_points(NormalizedString& string, const Keep& keep) {
  bool all = true;
  for_each_point(string.text(), [&](char32_t point, std::size_t) { all &= keep(point); });
  if (all) return;
  Rewriter rewriter(string);
  for_each_point(string.text(), [&](char32_t point, std::size_t) {
    if (keep(point)) {
      rewriter.emit(point, 0);
    } else {
      rewriter.skip(encoded_length(point));
    }
  });
  rewriter.commit(string);
}

// Replaces each character by map(point).
template <class Map>
void map_points(NormalizedString& string, const Map& map) {
  bool same = true;
  for_each_point(string.text(), [&](char32_t point, std::size_t) { same &= map(point) == point; });
  if (same) return;
  Rewriter rewriter(string);
  for_each_point(string.text(), [&](char32_t point, std::size_t) { rewriter.emit(map(point), 0); });
  rewriter.commit(string);
}

void lower_case(NormalizedString& string);

}  // namespace heed::text
