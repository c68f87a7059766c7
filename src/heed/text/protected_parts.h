// What a translation must not change: placeholders, addresses and numbers. They stay in the text for the model to see;
// afterwards those that it lost or altered are put where they belong.
#pragma once

#include <string_view>
#include <vector>

#include "heed/text/aligned_text.h"

namespace heed::text {

struct ProtectedPart {
  // placeholder: {name}, {{name}}, ${name}, %s, %1$d, %(name)s, and entities such as &eacute;
  // number: digits with what separates them, 1,234.5 or 10:30, without sign, currency or unit, which may be translated
  enum class Kind { placeholder, url, email, number } kind = Kind::placeholder;
  ByteRange bytes{};
  bool operator==(const ProtectedPart&) const = default;
};

// In their order, without overlap. Of any bytes, in linear time.
std::vector<ProtectedPart> protected_parts(std::string_view text);

// The same with every protected part of the source in the target, as often as there: parts must be the same to the
// byte, numbers in their digits (1,234.5 is 1.234,5). One that is missing replaces the target words that are linked to
// it and to nothing else, or comes after those of the words before it. Links and words of the result are those of its
// target. Throws what AlignedText::check() throws.
AlignedText keep_protected(AlignedText words);

}  // namespace heed::text
