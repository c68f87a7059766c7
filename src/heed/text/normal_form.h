// The four Unicode normal forms with the origin of each character kept, on utf8proc's data cut down to the code points
// that HuggingFace's tables (Unicode 9) know.
#pragma once

#include "heed/text/normalized.h"

namespace heed::text {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

void normalize_form(NormalizedString& string, NormalForm form);

}  // namespace heed::text
