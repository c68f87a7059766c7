// The normalizer of BERT: clean, set Chinese characters apart, strip accents, lower-case.
#pragma once

#include "heed/text/normalizer.h"

namespace heed::text {

class BertNormalizer final : public Normalizer {
 public:
  BertNormalizer(bool clean_text, bool handle_chinese_chars, bool strip_accents, bool lowercase)
      : clean_(clean_text), chinese_(handle_chinese_chars), strip_(strip_accents), lower_(lowercase) {}
  void apply(NormalizedString& string) const override;

 private:
  bool clean_, chinese_, strip_, lower_;
};

}  // namespace heed::text
